// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package webhookendpoint_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/render"
)

func TestDamagedKeyringIsNotReplaced(t *testing.T) {
	b, _ := serving(t)
	ring := &corev1.Secret{}
	b.update(ring, render.NamesOf("payments").Keyring, func() { ring.Data[keyring.FileName] = []byte(`{"version": 1}`) })
	before := ring.ResourceVersion
	b.settle("payments")
	endpoint := b.endpoint("payments")
	expect(t, endpoint, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonKeyringDamaged, "payments-keyring")
	if endpoint.Status.CurrentSecret == nil {
		t.Error("the status forgot the secret that is live")
	}
	b.get(ring, ring.Name)
	if ring.ResourceVersion != before {
		t.Error("a keyring that could not be read was overwritten")
	}

	if err := b.admin.Delete(t.Context(), ring); err != nil {
		t.Fatal(err)
	}
	b.settle("payments")
	if revision := b.ring("payments").Revision; revision != 1 {
		t.Errorf("revision %d, want a new keyring", revision)
	}
	b.announced("KeyringLost")
}

// TestKeyringOfAnotherReleaseIsLeftAlone goes back to a release that does not know the keyring's version: nobody must be told
// to delete it.
func TestKeyringOfAnotherReleaseIsLeftAlone(t *testing.T) {
	b, _ := serving(t)
	ring := &corev1.Secret{}
	b.update(ring, render.NamesOf("payments").Keyring, func() { ring.Data[keyring.FileName] = []byte(`{"version": 9}`) })
	b.settle("payments")
	endpoint := b.endpoint("payments")
	expect(t, endpoint, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonKeyringVersion, "payments-keyring", "run that release")
	for _, condition := range endpoint.Status.Conditions {
		if strings.Contains(condition.Message, "delete") {
			t.Errorf("%s tells to delete what would be lost: %s", condition.Type, condition.Message)
		}
	}
}

func TestKeyringThatIsBeingDeletedIsWaitedFor(t *testing.T) {
	b, _ := serving(t)
	ring := &corev1.Secret{}
	b.update(ring, render.NamesOf("payments").Keyring, func() { ring.Finalizers = []string{"example.com/backup"} })
	if err := b.admin.Delete(t.Context(), ring); err != nil {
		t.Fatal(err)
	}
	b.pass("payments")
	expect(t, b.endpoint("payments"), v1alpha1.ConditionReconciling, metav1.ConditionTrue, v1alpha1.ReasonProgressing, "payments-keyring")
	b.update(ring, ring.Name, func() { ring.Finalizers = nil })
	b.settle("payments")
	former := ring.UID
	if b.get(ring, ring.Name); ring.UID == former {
		t.Error("the keyring was not made anew")
	}
}

// announced fails the test unless an event with the text was recorded.
func (b *bench) announced(text string) {
	b.t.Helper()
	for {
		select {
		case event := <-b.recorder.Events:
			if strings.Contains(event, text) {
				return
			}
		default:
			b.t.Errorf("there is no event with %q", text)
			return
		}
	}
}
