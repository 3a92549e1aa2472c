// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package rotation

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/render"
)

// projection is the longest time after which the kubelet shows a changed Secret: two minutes.
const projection = 2 * minute

// volume is one mounted folder, as the kubelet writes it: files are links into ..data, which is a link to a folder that is
// replaced as a whole.
type volume struct {
	folder string
	turn   int
	files  map[string][]byte
}

// project shows the files, and says whether they are others than before.
func (v *volume) project(files map[string][]byte) (bool, error) {
	if v.turn > 0 && maps.EqualFunc(v.files, files, bytes.Equal) {
		return false, nil
	}
	v.turn++
	data := fmt.Sprintf("..turn_%d", v.turn)
	if err := os.MkdirAll(filepath.Join(v.folder, data), 0o755); err != nil {
		return false, fmt.Errorf("project a volume: %w", err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(v.folder, data, name), content, 0o600); err != nil {
			return false, fmt.Errorf("project a volume: %w", err)
		}
	}
	temporary := filepath.Join(v.folder, "..data_tmp")
	if err := os.Symlink(data, temporary); err != nil {
		return false, fmt.Errorf("project a volume: %w", err)
	}
	if err := os.Rename(temporary, filepath.Join(v.folder, "..data")); err != nil {
		return false, fmt.Errorf("project a volume: %w", err)
	}
	for name := range files {
		if _, known := v.files[name]; known {
			continue
		}
		if err := os.Symlink(filepath.Join("..data", name), filepath.Join(v.folder, name)); err != nil && !os.IsExist(err) {
			return false, fmt.Errorf("project a volume: %w", err)
		}
	}
	v.files = files
	return true, os.RemoveAll(filepath.Join(v.folder, fmt.Sprintf("..turn_%d", v.turn-1)))
}

// kubelet projects the Secrets of one endpoint into the folders of one receiver, each on its own and at random moments:
// what has changed is seen after up to two scaled minutes, and the keyring before or after the user's Secret.
type kubelet struct {
	api             client.Client
	namespace, name string
	keyring, source volume

	mu sync.Mutex
	// shown tells when each secret was first projected as the current one.
	shown map[string]time.Time
}

// run syncs both volumes until ctx is done, and returns what went wrong.
func (k *kubelet) run(ctx context.Context, seed uint64) error {
	failed := make(chan error, 2)
	for i, sync := range []func(context.Context) error{k.syncKeyring, k.syncSource} {
		random := dice(seed, uint64(i))
		go func() {
			for pause(ctx, time.Duration(random.Int64N(int64(projection)))) {
				if err := sync(ctx); err != nil && ctx.Err() == nil {
					failed <- err
					return
				}
			}
			failed <- nil
		}()
	}
	first, second := <-failed, <-failed
	if first != nil {
		return first
	}
	return second
}

func (k *kubelet) syncKeyring(ctx context.Context) error {
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: k.namespace, Name: render.NamesOf(k.name).Keyring}
	if err := k.api.Get(ctx, key, secret); err != nil {
		return fmt.Errorf("read the keyring: %w", err)
	}
	ring, err := keyring.Parse(secret.Data[keyring.FileName])
	if err != nil {
		return fmt.Errorf("read the keyring: %w", err)
	}
	k.show(string(ring.Current.Secret))
	_, err = k.keyring.project(secret.Data)
	return err
}

// show notes that a secret is projected as the current one from now on. It comes before the receiver can have it: the
// operator and the test may know of that before the projection has returned.
func (k *kubelet) show(secret string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.shown[secret].IsZero() {
		k.shown[secret] = time.Now()
	}
}

// syncSource shows the Secret that the endpoint names now. A real change of the name is a rollout; here the receiver goes on.
func (k *kubelet) syncSource(ctx context.Context) error {
	endpoint := &v1alpha1.WebhookEndpoint{}
	if err := k.api.Get(ctx, client.ObjectKey{Namespace: k.namespace, Name: k.name}, endpoint); err != nil {
		return fmt.Errorf("read the endpoint: %w", err)
	}
	ref := endpoint.Spec.Verification.SecretRef
	secret := &corev1.Secret{}
	if err := k.api.Get(ctx, client.ObjectKey{Namespace: k.namespace, Name: ref.Name}, secret); err != nil {
		return fmt.Errorf("read the endpoint's Secret: %w", err)
	}
	_, err := k.source.project(map[string][]byte{"secret": secret.Data[ref.Key]})
	return err
}

// showed returns when a secret was first projected as the current one; zero if it was not.
func (k *kubelet) showed(secret string) time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.shown[secret]
}
