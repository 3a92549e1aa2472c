// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/test/canary"
	"github.com/hookonce/hookonce/test/story"
)

const (
	// patience is for the kubelet to show a Secret twice: the new one, and that the former is revoked.
	patience = 5 * time.Minute
	// twoRotations is an overlap in which the kubelet shows another change.
	twoRotations = "150s"
)

// TestThreeRotations rotates from a to b, to c while a is still accepted, and to d in an emergency that revokes c, while a
// provider sends 20 deliveries a second to every receiver and goes over step by step. None is refused and no receiver
// restarts; every receiver refuses a from its deadline on, and c once it is revoked. No secret can be read anywhere.
func TestThreeRotations(t *testing.T) {
	t.Parallel()
	const name = "three"
	secrets := map[string]string{}
	for _, letter := range []string{"a", "b", "c", "d"} {
		secrets[letter] = fmt.Sprintf("whsec_canary_%s_%s_of_three_rotations", world.Event(letter), letter)
	}
	apply(t, secretManifest("three-a", secrets["a"]))
	apply(t, strings.ReplaceAll(endpointManifest(name, "three-a"), "replicas: 1", "replicas: 2"))
	waitEndpoint(t, name, story.Ready)
	begin := restarts(t, name)
	urls, err := world.ReceiverURLs(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	provider, err := newFleet(name, urls, secrets["a"])
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	stop := provider.start(t.Context())
	defer stop()

	endOfA := overlapEnd(t, rotateTo(t, "three-b", secrets["b"], ""))
	a := signature{[]string{secrets["a"]}, endOfA}
	provider.sign(signature{secrets: []string{secrets["b"]}}, a)
	endOfB := overlapEnd(t, rotateTo(t, "three-c", secrets["c"], ""))
	if left := time.Until(endOfA); left < margin {
		t.Errorf("the second rotation came %s after the end of the first one's overlap", -left)
	}
	provider.every(t, "a-inside", secrets["a"], http.StatusOK)
	provider.sign(signature{secrets: []string{secrets["c"]}}, a, signature{[]string{secrets["b"]}, endOfB})
	showsRotations(t, map[string]row{
		"three-b": {"READY": "True", "STATE": "Superseded", "PREVIOUS-UNTIL": endOfA.Format(time.RFC3339)},
		"three-c": {"READY": "True", "STATE": "OverlapActive", "PREVIOUS-UNTIL": endOfB.Format(time.RFC3339), "RECEIVERS": "2/2"},
	})

	// Who revokes signs with both until the new one is everywhere.
	provider.sign(signature{secrets: []string{secrets["c"], secrets["d"]}}, a, signature{[]string{secrets["b"]}, endOfB})
	rotateTo(t, "three-d", secrets["d"], v1alpha1.RevocationImmediate)
	waitRotation(t, "three-d", v1alpha1.ConditionPreviousRetired)
	provider.every(t, "c-revoked", secrets["c"], http.StatusUnauthorized)
	waitUntil(t, endOfA)
	provider.every(t, "a-ended", secrets["a"], http.StatusUnauthorized)
	waitUntil(t, endOfB)
	provider.every(t, "b-ended", secrets["b"], http.StatusUnauthorized)
	provider.every(t, "d-current", secrets["d"], http.StatusOK)
	stop()
	provider.judge(t, time.Since(began))
	if now := restarts(t, name); begin != now {
		t.Errorf("the rotations changed the receivers: before %s, after %s", begin, now)
	}
	showsRotations(t, map[string]row{"three-d": {"READY": "True", "STATE": "Revoked", "RECEIVERS": "2/2"}})
	nowhere(t, name, secrets)
	if _, err := world.Kubectl(t.Context(), "delete", "whe", name, "-n", story.Namespace); err != nil {
		t.Error(err)
	}
}

// rotateTo applies a rotation of the endpoint to a new secret, and waits until every receiver has it.
func rotateTo(t *testing.T, name, secret string, revocation v1alpha1.Revocation) *v1alpha1.SecretRotation {
	t.Helper()
	apply(t, secretManifest(name, secret)+`---
apiVersion: `+v1alpha1.GroupVersion.String()+`
kind: SecretRotation
metadata: {name: `+name+`, namespace: shop}
spec:
  endpointRef: {name: three}
  secretRef: {name: `+name+`, key: secret}
  overlap: `+twoRotations+`
  revocation: `+string(cmp.Or(revocation, v1alpha1.RevocationAfterOverlap))+`
`)
	return waitRotation(t, name, v1alpha1.ConditionPropagated)
}

// waitRotation waits until a condition of a rotation is True.
func waitRotation(t *testing.T, name, condition string) *v1alpha1.SecretRotation {
	t.Helper()
	var rotation *v1alpha1.SecretRotation
	err := story.Eventually(t.Context(), patience, time.Second, func(ctx context.Context) (err error) {
		if rotation, err = world.Rotation(ctx, name); err != nil {
			return err
		}
		return story.Condition(rotation.Status.Conditions, condition, metav1.ConditionTrue, "")
	})
	if err != nil {
		t.Fatalf("rotation %s: %v", name, err)
	}
	return rotation
}

// overlapEnd is until when a rotation's former secret is accepted.
func overlapEnd(t *testing.T, rotation *v1alpha1.SecretRotation) time.Time {
	t.Helper()
	end, err := time.Parse(time.RFC3339, rotation.Status.OverlapEndTime)
	if err != nil {
		t.Fatalf("rotation %s has no end: %v", rotation.Name, err)
	}
	return end
}

// waitUntil waits until a moment.
func waitUntil(t *testing.T, moment time.Time) {
	t.Helper()
	select {
	case <-time.After(time.Until(moment)):
	case <-t.Context().Done():
		t.Fatal(t.Context().Err())
	}
}

func restarts(t *testing.T, endpoint string) string {
	t.Helper()
	text, err := world.Restarts(t.Context(), endpoint)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// row is what kubectl shows of one object, by column.
type row map[string]string

// showsRotations waits until `kubectl get srot -o wide` shows what is wanted of each rotation, and something in every column.
func showsRotations(t *testing.T, want map[string]row) {
	t.Helper()
	var out string
	err := story.Eventually(t.Context(), time.Minute, 2*time.Second, func(ctx context.Context) (err error) {
		if out, err = world.Kubectl(ctx, "get", "srot", "-n", story.Namespace, "-o", "wide"); err != nil {
			return err
		}
		shown := table(out)
		for name, columns := range want {
			for _, column := range []string{
				"ENDPOINT", "READY", "STATE", "PREVIOUS-UNTIL", "LAST-OLD-USE", "AGE", "TRIGGER", "RECEIVERS", "NEW", "PREVIOUS", "MESSAGE",
			} {
				got := shown[name][column]
				if got == "" || got == "<none>" {
					return fmt.Errorf("%s of %s is empty", column, name)
				}
				if wanted := columns[column]; wanted != "" && got != wanted {
					return fmt.Errorf("%s of %s is %s, want %s", column, name, got, wanted)
				}
			}
		}
		return nil
	})
	t.Logf("kubectl get srot -o wide\n%s", out)
	if err != nil {
		t.Error(err)
	}
}

// table reads what kubectl prints, by the names of objects. Each column begins below the first letter of its header.
func table(out string) map[string]row {
	header, lines, _ := strings.Cut(out, "\n")
	names := strings.Fields(header)
	rows := map[string]row{}
	for line := range strings.Lines(lines) {
		line = strings.TrimRight(line, "\n")
		r := row{}
		for i, name := range names {
			// With a space, NEW is not found in another header.
			begin, end := strings.Index(header+" ", " "+name+" ")+1, len(line)
			if i+1 < len(names) {
				end = strings.Index(header+" ", " "+names[i+1]+" ") + 1
			}
			r[name] = strings.TrimSpace(line[min(begin, len(line)):min(end, len(line))])
		}
		rows[r["NAME"]] = r
	}
	return rows
}

// nowhere fails the test if one of the secrets can be read outside of Secrets.
func nowhere(t *testing.T, endpoint string, secrets map[string]string) {
	t.Helper()
	places, err := world.Places(t.Context(), endpoint)
	if err != nil {
		t.Fatal(err)
	}
	values := slices.Collect(maps.Values(secrets))
	for _, found := range canary.Find(places, values) {
		t.Error(found)
	}
	// The same search finds them where they are.
	keyring, err := world.Kubectl(t.Context(), "get", "secret", endpoint+"-keyring", "-n", story.Namespace, "-o", "yaml")
	if err != nil {
		t.Fatal(err)
	}
	if len(canary.Find([]canary.Place{{Name: "the keyring", Text: keyring}}, values)) == 0 {
		t.Error("the search does not find the current secret in the keyring")
	}
	t.Logf("looked for %d secrets in %d places", len(values), len(places))
}
