// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package gitops

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hookonce/hookonce/test/story"
)

// The provider's secrets, in the order in which they come.
var secrets = struct{ a, b, c, d, e, f, g, h, edited string }{
	"whsec_test_gitops_alpha", "whsec_test_gitops_bravo", "whsec_test_gitops_charlie",
	"whsec_test_gitops_delta", "whsec_test_gitops_echo", "whsec_test_gitops_foxtrot",
	"whsec_test_gitops_golf", "whsec_test_gitops_hotel", "whsec_test_gitops_by_hand",
}

// TestGitOps is one history of one repository, under a provider that never stops and is never refused.
func TestGitOps(t *testing.T) {
	s := &shop{}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan struct{})
	if !t.Run("FirstCommit", func(t *testing.T) { firstCommit(t, s) }) {
		return
	}
	go func() {
		defer close(ended)
		s.provider.run(ctx)
	}()
	for _, step := range []struct {
		name string
		play func(*testing.T, *shop)
	}{
		{"LineOfTheEndpoint", lineOfTheEndpoint},
		{"ChangedBytes", changedBytes},
		{"RevertedBytes", revertedBytes},
		{"AddedRotation", addedRotation},
		{"PrunedSecret", prunedSecret},
		{"RevertedReference", revertedReference},
		{"EditedSecret", editedSecret},
		{"EditedEndpoint", editedEndpoint},
		{"DeletedRotation", deletedRotation},
		{"RevokedSecret", revokedSecret},
		{"JointCommit", jointCommit},
		{"JointEmergency", jointEmergency},
	} {
		if !t.Run(step.name, func(t *testing.T) { step.play(t, s) }) {
			break
		}
		sent, refused, problems := s.provider.counts()
		t.Logf("%s: %d deliveries so far, %d refused", step.name, sent, refused)
		if refused > 0 {
			t.Errorf("refused: %s", strings.Join(problems, "\n"))
			break
		}
	}
	stop()
	<-ended
	sent, refused, problems := s.provider.counts()
	t.Logf("%d deliveries, %d refused", sent, refused)
	if refused > 0 {
		t.Errorf("refused: %s", strings.Join(problems, "\n"))
	}
	if !t.Failed() {
		t.Run("NobodyFights", func(t *testing.T) { nobodyFights(t, s) })
	}
}

// firstCommit brings an endpoint and, in the same commit, a rotation of its secret.
func firstCommit(t *testing.T, s *shop) {
	uri, err := databaseURI(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	id, err := repo.commit(t.Context(), "endpoint, and a rotation", map[string]string{
		"database.yaml": databaseManifest(uri), "endpoint.yaml": endpointManifest("gitops-a"),
		"secret-a.yaml": secretManifest("gitops-a", secrets.a), "secret-b.yaml": secretManifest("gitops-b", secrets.b),
		"rotation-b.yaml": rotationManifest("gitops-to-b", "gitops-b"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := syncer.sync(t.Context(), repo.URL); err != nil {
		t.Fatal(err)
	}
	follow(t, "first commit", id)
	accepted(t, secrets.b, secrets.a)
	diverged(t, "{name: gitops-b, key: secret}")
	url, err := world.URL(t.Context(), endpointName)
	if err != nil {
		t.Fatal(err)
	}
	if _, s.keyring, err = ring(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.provider, err = newProvider(url, world.Event); err != nil {
		t.Fatal(err)
	}
	s.sign(t, secrets.a, secrets.b)
	key, err := s.provider.scheme.SigningKey().Decode([]byte(secrets.edited))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.provider.deliver(t.Context(), world.Event("gitops-forged"), key); err != nil || got != http.StatusUnauthorized {
		t.Errorf("a delivery signed with a secret that nobody has got %d, %v, want 401", got, err)
	}
}

// sign has the provider sign with each of these secrets in turn.
func (s *shop) sign(t *testing.T, with ...string) {
	t.Helper()
	if err := s.provider.sign(with...); err != nil {
		t.Fatal(err)
	}
}

// databaseURI is the URI of the shop's database for pods.
func databaseURI(ctx context.Context) (string, error) {
	out, err := world.Kubectl(ctx, "get", "secret", "shop-db", "-n", story.Namespace, "-o", "jsonpath={.data.uri}")
	if err != nil {
		return "", err
	}
	uri, err := base64.StdEncoding.DecodeString(out)
	if err != nil {
		return "", fmt.Errorf("read the shop's database Secret: %w", err)
	}
	return string(uri), nil
}

// lineOfTheEndpoint commits what SourceDiverged asks for, which rotates nothing.
func lineOfTheEndpoint(t *testing.T, _ *shop) {
	before := recorded(t)
	commit(t, "the endpoint names the new Secret", map[string]string{"endpoint.yaml": endpointManifest("gitops-b")})
	diverged(t, "")
	unrotated(t, before)
	accepted(t, secrets.b, secrets.a)
}

// changedBytes commits other bytes in the Secret that the endpoint names.
func changedBytes(t *testing.T, s *shop) {
	before := recorded(t)
	commit(t, "other bytes in the Secret", map[string]string{"secret-b.yaml": secretManifest("gitops-b", secrets.c)})
	accepted(t, secrets.c, secrets.b)
	if r := brought(t, before, true); r.Status.Trigger != "SecretChange" {
		t.Errorf("the rotation's trigger is %s", r.Status.Trigger)
	}
	s.sign(t, secrets.b, secrets.c)
	diverged(t, "")
}

// revertedBytes reverts that commit: the former secret is current again, and the one that was taken back stays accepted.
func revertedBytes(t *testing.T, s *shop) {
	reverted(t, s, "revert of the bytes", secrets.b, secrets.c)
}

// reverted reverts the last commit, which makes the secret that it replaced current again, and goes on signing with both.
func reverted(t *testing.T, s *shop, what, current, takenBack string) {
	before := recorded(t)
	id, err := repo.revert(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	follow(t, what, id)
	accepted(t, current, takenBack)
	brought(t, before, true)
	s.sign(t, takenBack, current)
	diverged(t, "")
}

// addedRotation commits a SecretRotation with a Secret of its own, and then the line that the endpoint asks for.
func addedRotation(t *testing.T, s *shop) {
	before := recorded(t)
	commit(t, "a rotation with a new Secret", map[string]string{
		"secret-d.yaml": secretManifest("gitops-d", secrets.d), "rotation-d.yaml": rotationManifest("gitops-to-d", "gitops-d"),
	})
	accepted(t, secrets.d, secrets.b)
	brought(t, before, false)
	s.sign(t, secrets.b, secrets.d)
	diverged(t, "{name: gitops-d, key: secret}")
	before = recorded(t)
	commit(t, "the endpoint names the new Secret", map[string]string{"endpoint.yaml": endpointManifest("gitops-d")})
	diverged(t, "")
	unrotated(t, before)
	accepted(t, secrets.d, secrets.b)
}

// prunedSecret commits a new Secret and the reference to it, and removes the old Secret, which Flux prunes.
func prunedSecret(t *testing.T, s *shop) {
	before := recorded(t)
	commit(t, "a new Secret in place of the old", map[string]string{
		"secret-e.yaml": secretManifest("gitops-e", secrets.e), "secret-d.yaml": "", "endpoint.yaml": endpointManifest("gitops-e"),
	})
	accepted(t, secrets.e, secrets.d)
	brought(t, before, true)
	eventually(t, readyLimit, func(ctx context.Context) error {
		out, err := world.Kubectl(ctx, "get", "secret", "gitops-d", "-n", story.Namespace, "--ignore-not-found", "-o", "name")
		if err == nil && out != "" {
			err = errors.New("Flux has not pruned the old Secret")
		}
		return err
	})
	s.sign(t, secrets.d, secrets.e)
	diverged(t, "")
	healthy(t)
}

// revertedReference reverts that commit: the Secret that was pruned is there again, the new one is pruned, and the secret
// that Git names is current again.
func revertedReference(t *testing.T, s *shop) {
	reverted(t, s, "revert of the reference", secrets.d, secrets.e)
}

// editedSecret changes the bytes in the cluster alone. Until Flux undoes it the operator may have made them current; the
// provider's secrets stay accepted, and the one in Git is current in the end.
func editedSecret(t *testing.T, _ *shop) {
	patch := fmt.Sprintf(`{"stringData":{"secret":%q}}`, secrets.edited)
	if _, err := world.Kubectl(t.Context(), "patch", "secret", "gitops-d", "-n", story.Namespace, "-p", patch); err != nil {
		t.Fatal(err)
	}
	took := eventually(t, readyLimit, func(ctx context.Context) error {
		out, err := world.Kubectl(ctx, "get", "secret", "gitops-d", "-n", story.Namespace, "-o", "jsonpath={.data.secret}")
		if err == nil && out != base64.StdEncoding.EncodeToString([]byte(secrets.d)) {
			err = errors.New("Flux has not undone the edit")
		}
		return err
	})
	again(t)
	accepted(t, secrets.d, secrets.e)
	t.Logf("Flux undid the edit after %.0f s; revision and rotations: %+v", took.Seconds(), recorded(t))
	diverged(t, "")
}

// editedEndpoint changes the endpoint in the cluster alone, which rotates nothing.
func editedEndpoint(t *testing.T, _ *shop) {
	before := recorded(t)
	const patch = `{"spec":{"verification":{"overlap":"1h"},"receiver":{"replicas":3}}}`
	_, err := world.Kubectl(t.Context(), "patch", "webhookendpoint", endpointName, "-n", story.Namespace, "--type=merge", "-p", patch)
	if err != nil {
		t.Fatal(err)
	}
	again(t)
	eventually(t, readyLimit, func(ctx context.Context) error {
		endpoint, err := world.Endpoint(ctx, endpointName)
		if err != nil {
			return err
		}
		if overlap := endpoint.Spec.Verification.Overlap; overlap != "24h" {
			return fmt.Errorf("Flux has not undone the edit: the overlap is %s", overlap)
		}
		return story.Ready(endpoint)
	})
	diverged(t, "")
	unrotated(t, before)
	accepted(t, secrets.d, secrets.e)
}

// deletedRotation deletes the latest rotation that Git has: Flux applies it anew, and there is nothing to rotate.
func deletedRotation(t *testing.T, _ *shop) {
	before := recorded(t)
	was := rotations(t)["gitops-to-d"].UID
	if _, err := world.Kubectl(t.Context(), "delete", "secretrotation", "gitops-to-d", "-n", story.Namespace); err != nil {
		t.Fatal(err)
	}
	eventually(t, readyLimit, func(context.Context) error {
		if now := rotations(t)["gitops-to-d"].UID; now == "" || now == was {
			return errors.New("Flux has not applied the rotation again")
		}
		return nil
	})
	healthy(t)
	unrotated(t, before)
	accepted(t, secrets.d, secrets.e)
}

// written are the kinds that the operator writes.
const written = "webhookendpoints,secretrotations,secrets,configmaps,deployments,services,poddisruptionbudgets,networkpolicies,cronjobs"

// nobodyFights looks for marks of Flux on what the operator made, and waits until three rounds of Flux write nothing.
func nobodyFights(t *testing.T, s *shop) {
	objects, err := items(t.Context(), written)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, object := range objects {
		// What is in Git is Flux's. The operator's have its label.
		if object.GetKind() == "WebhookEndpoint" || !ours(object) || object.GetLabels()["webhooks.hookonce.dev/endpoint"] == "" {
			continue
		}
		seen++
		text, err := object.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "toolkit.fluxcd.io") || strings.Contains(string(text), "kustomize-controller") {
			t.Errorf("%s %s has a mark of Flux", object.GetKind(), object.GetName())
		}
	}
	if seen < 5 {
		t.Errorf("only %d objects of the operator were found", seen)
	}
	if _, uid, err := ring(t.Context()); err != nil || uid != s.keyring {
		t.Errorf("the keyring is another one: %s instead of %s, %v", uid, s.keyring, err)
	}
	took := eventually(t, 8*time.Minute, func(ctx context.Context) error {
		before, err := versions(ctx)
		if err != nil {
			return err
		}
		again(t)
		after, err := versions(ctx)
		if err == nil && before != after {
			err = fmt.Errorf("something is written again and again:\n%s\n%s", before, after)
		}
		return err
	})
	t.Logf("%d objects of the operator have no mark of Flux; nothing is written any more after %.0f s", seen, took.Seconds())
}

// versions lists the versions of everything in the shop's namespace that is the endpoint's.
func versions(ctx context.Context) (string, error) {
	objects, err := items(ctx, written)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, object := range objects {
		if ours(object) || strings.HasPrefix(object.GetName(), endpointName) {
			fmt.Fprintln(&text, describe(object))
		}
	}
	return text.String(), nil
}

func describe(object unstructured.Unstructured) string {
	return fmt.Sprintf("%s/%s %d %s", object.GetKind(), object.GetName(), object.GetGeneration(), object.GetResourceVersion())
}
