// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package gitops

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/test/story"
)

// shop is the endpoint under Flux, as the steps leave it one after the other.
type shop struct {
	provider *provider
	// keyring is the UID that the keyring had first: nothing may have replaced it.
	keyring string
}

// endpoints are those of the shop and the one under Flux.
const endpoints = 4

// eventually waits for check, and returns how long that took.
func eventually(t *testing.T, limit time.Duration, check func(context.Context) error) time.Duration {
	t.Helper()
	began := time.Now()
	if err := story.Eventually(t.Context(), limit, time.Second, check); err != nil {
		t.Fatal(err)
	}
	return time.Since(began)
}

// follow waits until Flux has applied a commit and everything is healthy.
func follow(t *testing.T, what, commit string) {
	t.Helper()
	took := eventually(t, readyLimit, func(ctx context.Context) error { return syncer.applied(ctx, commit) })
	t.Logf("%s: the Kustomization is Ready after %.0f s", what, took.Seconds())
	healthy(t)
}

// commit commits files and waits until Flux has applied them and everything is healthy.
func commit(t *testing.T, what string, files map[string]string) {
	t.Helper()
	id, err := repo.commit(t.Context(), what, files)
	if err != nil {
		t.Fatal(err)
	}
	follow(t, what, id)
}

// items returns objects of the shop's namespace.
func items(ctx context.Context, args ...string) ([]unstructured.Unstructured, error) {
	out, err := world.Kubectl(ctx, append([]string{"get", "-n", story.Namespace, "-o", "json"}, args...)...)
	if err != nil {
		return nil, err
	}
	list := &unstructured.UnstructuredList{}
	if err := list.UnmarshalJSON([]byte(out)); err != nil {
		return nil, fmt.Errorf("read %v: %w", args, err)
	}
	return list.Items, nil
}

// ours says whether an object is the endpoint, a rotation of it, or something that the operator made for it.
func ours(object unstructured.Unstructured) bool {
	of, _, _ := unstructured.NestedString(object.Object, "spec", "endpointRef", "name")
	isEndpoint := object.GetKind() == "WebhookEndpoint" && object.GetName() == endpointName
	return isEndpoint || of == endpointName || object.GetLabels()["webhooks.hookonce.dev/endpoint"] == endpointName
}

// healthy waits until kstatus, by which Flux judges, calls the endpoint and every rotation of it Current.
func healthy(t *testing.T) {
	t.Helper()
	eventually(t, readyLimit, func(ctx context.Context) error {
		objects, err := items(ctx, "webhookendpoints,secretrotations")
		if err != nil {
			return err
		}
		for _, object := range objects {
			if !ours(object) {
				continue
			}
			result, err := status.Compute(&object)
			if err != nil {
				return fmt.Errorf("judge %s %s: %w", object.GetKind(), object.GetName(), err)
			}
			if result.Status != status.CurrentStatus {
				return fmt.Errorf("kstatus says %s of %s %s: %s", result.Status, object.GetKind(), object.GetName(), result.Message)
			}
		}
		return nil
	})
}

// ring reads the keyring and its UID.
func ring(ctx context.Context) (*keyring.Keyring, string, error) {
	out, err := world.Kubectl(ctx, "get", "secret", endpointName+"-keyring", "-n", story.Namespace, "-o", "json")
	if err != nil {
		return nil, "", err
	}
	secret := &corev1.Secret{}
	if err := json.Unmarshal([]byte(out), secret); err != nil {
		return nil, "", fmt.Errorf("read the keyring's Secret: %w", err)
	}
	document, err := keyring.Parse(secret.Data[keyring.FileName])
	if err != nil {
		return nil, "", fmt.Errorf("read the keyring: %w", err)
	}
	return document, string(secret.UID), nil
}

// accepted waits until the keyring has a current secret and accepts another one too, and every ready receiver knows.
func accepted(t *testing.T, current, former string) {
	t.Helper()
	eventually(t, readyLimit, func(ctx context.Context) error {
		document, _, err := ring(ctx)
		if err != nil {
			return err
		}
		if string(document.Current.Secret) != current {
			return errors.New("another secret is current")
		}
		if !slices.ContainsFunc(document.Previous, func(e keyring.Entry) bool {
			return string(e.Secret) == former && e.Final && time.Until(e.NotAfter) > 23*time.Hour
		}) {
			return errors.New("the former secret is not accepted for a day")
		}
		endpoint, err := world.Endpoint(ctx, endpointName)
		if err != nil {
			return err
		}
		if s := endpoint.Status.CurrentSecret; s == nil || s.Fingerprint != keyring.Short(document.Current.Fingerprint) {
			return errors.New("the endpoint shows another secret")
		}
		return errors.Join(story.Ready(endpoint),
			story.Condition(endpoint.Status.Conditions, v1alpha1.ConditionOverlapActive, metav1.ConditionTrue, ""))
	})
	healthy(t)
}

// rotations returns the endpoint's rotations by name.
func rotations(t *testing.T) map[string]v1alpha1.SecretRotation {
	t.Helper()
	out, err := world.Kubectl(t.Context(), "get", "secretrotations", "-n", story.Namespace, "-o", "json")
	if err != nil {
		t.Fatal(err)
	}
	list := &v1alpha1.SecretRotationList{}
	if err := json.Unmarshal([]byte(out), list); err != nil {
		t.Fatal(err)
	}
	found := map[string]v1alpha1.SecretRotation{}
	for _, rotation := range list.Items {
		if rotation.Spec.EndpointRef.Name == endpointName {
			found[rotation.Name] = rotation
		}
	}
	return found
}

// record is what a rotation changes: the keyring's revision and the rotations that there are.
type record struct {
	revision  int64
	rotations []string
}

func recorded(t *testing.T) record {
	t.Helper()
	document, _, err := ring(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for name := range rotations(t) {
		names = append(names, name)
	}
	slices.Sort(names)
	return record{revision: document.Revision, rotations: names}
}

// unrotated fails the test if anything has rotated since before.
func unrotated(t *testing.T, before record) {
	t.Helper()
	again(t)
	after := recorded(t)
	if after.revision != before.revision || !slices.Equal(after.rotations, before.rotations) {
		t.Fatalf("something rotated: before %+v, after %+v", before, after)
	}
}

// again has Flux apply the shop three times more, with passes of the operator over every endpoint in between.
func again(t *testing.T) {
	t.Helper()
	for range 3 {
		passes, err := world.Reconciles(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, readyLimit, func(ctx context.Context) error {
			now, err := world.Reconciles(ctx)
			if err == nil && now < passes+endpoints {
				err = errors.New("the operator has not looked again")
			}
			return err
		})
		err = syncer.again(t.Context(), func(check func(context.Context) error) error {
			return story.Eventually(t.Context(), readyLimit, 500*time.Millisecond, check)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// brought fails the test unless exactly one rotation has come since before, and returns it: one that the operator made if
// that is what is wanted.
func brought(t *testing.T, before record, owned bool) v1alpha1.SecretRotation {
	t.Helper()
	var fresh []v1alpha1.SecretRotation
	for name, rotation := range rotations(t) {
		if !slices.Contains(before.rotations, name) {
			fresh = append(fresh, rotation)
		}
	}
	if len(fresh) != 1 {
		t.Fatalf("%d rotations came instead of one", len(fresh))
	}
	rotation := fresh[0]
	if isOwned := metav1.GetControllerOf(&rotation) != nil; isOwned != owned {
		t.Errorf("rotation %s has the operator as its owner: %t", rotation.Name, isOwned)
	}
	if !meta.IsStatusConditionTrue(rotation.Status.Conditions, v1alpha1.ConditionPropagated) {
		t.Errorf("rotation %s is not Propagated", rotation.Name)
	}
	return rotation
}

// diverged fails the test unless the endpoint shows the line to change in Git, or none.
func diverged(t *testing.T, line string) {
	t.Helper()
	eventually(t, readyLimit, func(ctx context.Context) error {
		endpoint, err := world.Endpoint(ctx, endpointName)
		if err != nil {
			return err
		}
		shown := ""
		if c := meta.FindStatusCondition(endpoint.Status.Conditions, v1alpha1.ConditionSourceDiverged); c != nil {
			shown = c.Message
		}
		want := ""
		if line != "" {
			want = "A SecretRotation made another secret current: set spec.verification.secretRef to " + line
		}
		if shown != want {
			return fmt.Errorf("SourceDiverged says %q instead of %q", shown, want)
		}
		return nil
	})
}
