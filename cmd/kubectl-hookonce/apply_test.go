// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/plugin"
)

// TestManifestsAreValid lets the API server judge what is printed: it admits each, knows every field, and changes none.
func TestManifestsAreValid(t *testing.T) {
	s := newShop(t)
	files, err := filepath.Glob(filepath.Join("..", "..", "internal", "plugin", "testdata", "*.yaml"))
	if err != nil || len(files) < 6 {
		t.Fatalf("%d manifests: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			object := &unstructured.Unstructured{}
			if err := yaml.UnmarshalStrict(content, &object.Object); err != nil {
				t.Fatal(err)
			}
			object.SetNamespace(s.namespace)
			strict := client.WithFieldValidation(s.admin, metav1.FieldValidationStrict)
			if err := strict.Create(t.Context(), object, client.DryRunAll); err != nil {
				t.Error(err)
			}
		})
	}
}

func (s *shop) find(name string) *v1alpha1.SecretRotation {
	s.Helper()
	object := &v1alpha1.SecretRotation{}
	if err := s.admin.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, object); err != nil {
		s.Fatal(err)
	}
	return object
}

func TestApply(t *testing.T) {
	s := newShop(t)
	s.put(s.adopted())
	s.secret("next", beta)
	args := []string{"rotate", "payments", "--secret", "next", "--overlap", "12h", "--reason", "yearly", "--apply"}
	got := s.run(args...)
	s.expect(got, plugin.ExitOK, "Next:", "If the cluster is made from Git")
	if got.out != "secretrotation.webhooks.hookonce.dev/payments-next serverside-applied\n" {
		t.Errorf("the output is %q", got.out)
	}
	made := s.find("payments-next")
	if made.Spec.Overlap != "12h" || made.Spec.Revocation != v1alpha1.RevocationAfterOverlap ||
		made.Annotations[v1alpha1.AnnotationReason] != "yearly" {
		t.Errorf("it is %+v, %v", made.Spec, made.Annotations)
	}
	if fields := made.ManagedFields; len(fields) != 1 || fields[0].Manager != "hookonce-cli" || fields[0].Operation != metav1.ManagedFieldsOperationApply {
		t.Errorf("managed fields %+v", fields)
	}

	s.expect(s.run(args...), plugin.ExitOK, "is there already")
	again := s.find("payments-next")
	// The API server stores the default of the status with the first change, which is no change that anybody sees.
	again.ResourceVersion = made.ResourceVersion
	if diff := cmp.Diff(made, again); diff != "" {
		t.Errorf("the same command has changed something the second time:\n%s", diff)
	}

	// The same Secret, in an emergency: the rotation becomes a revocation.
	s.expect(s.run("revoke", "payments", "--secret", "next", "--apply"), plugin.ExitOK)
	if made = s.find("payments-next"); made.Spec.Revocation != v1alpha1.RevocationImmediate || made.Spec.Overlap != "12h" {
		t.Errorf("it is %+v", made.Spec)
	}
	s.expect(s.run(args...), plugin.ExitFailed, "cannot be taken back", "--name")
}

// TestApplyOverAnother has a rotation that somebody else has applied with another overlap.
func TestApplyOverAnother(t *testing.T) {
	s := newShop(t)
	s.put(s.adopted())
	s.secret("next", beta)
	s.rotation("payments-next", "next", func(r *v1alpha1.SecretRotation) {
		r.Spec.Overlap, r.Spec.Revocation = "48h", v1alpha1.RevocationAfterOverlap
	})
	args := []string{"rotate", "payments", "--secret", "next", "--apply"}
	s.expect(s.run(args...), plugin.ExitFailed, "somebody else owns that", "--force-conflicts", "spec.overlap")
	if got := s.find("payments-next").Spec.Overlap; got != "48h" {
		t.Errorf("overlap %s after a conflict", got)
	}
	s.expect(s.run("revoke", "payments", "--secret", "next", "--apply"), plugin.ExitOK)
	if got := s.find("payments-next").Spec; got.Revocation != v1alpha1.RevocationImmediate || got.Overlap != "48h" {
		t.Errorf("it is %+v", got)
	}
}

func TestForceConflicts(t *testing.T) {
	s := newShop(t)
	s.put(s.adopted())
	s.secret("next", beta)
	s.rotation("payments-next", "next", func(r *v1alpha1.SecretRotation) { r.Spec.Overlap = "48h" })
	s.expect(s.run("rotate", "payments", "--secret", "next", "--apply", "--force-conflicts"), plugin.ExitOK)
	if got := s.find("payments-next").Spec.Overlap; got != "24h" {
		t.Errorf("overlap %s, want 24h", got)
	}
}

// play answers as the operator does: each answer is given when the command has shown the one before.
func (s *shop) play(name string, said *text, answers ...func(*v1alpha1.SecretRotation)) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	object := &v1alpha1.SecretRotation{}
	for i := 0; i < len(answers); {
		select {
		case <-ctx.Done():
			s.Errorf("answer %d was never asked for; it was said: %s", i, said)
			return
		case <-tick.C:
		}
		shown := i == 0 || strings.Contains(said.String(), answered(i-1))
		if err := s.admin.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: name}, object); err != nil || !shown {
			continue
		}
		answers[i](object)
		s.say(object, "Propagating", answered(i))
		i++
	}
}

func answered(i int) string { return "Answer " + string(rune('A'+i)) }

// waited runs a command that waits while the operator answers.
func (s *shop) waited(answers []func(*v1alpha1.SecretRotation), args ...string) outcome {
	s.Helper()
	var out, err text
	done := make(chan int, 1)
	args = append(args, "--apply", "--wait", "--timeout", "30s", "--kubeconfig", s.kubeconfig)
	go func() {
		done <- plugin.Run(s.Context(), args, plugin.Environment{Out: &out, Err: &err, Version: "test", Now: func() time.Time { return now }})
	}()
	s.play("payments-next", &err, answers...)
	return outcome{<-done, out.String(), err.String()}
}

// condition answers with a condition that is True.
func condition(kind string) func(*v1alpha1.SecretRotation) {
	return func(r *v1alpha1.SecretRotation) {
		r.Status.Conditions = append(r.Status.Conditions, metav1.Condition{
			Type: kind, Status: metav1.ConditionTrue, Reason: "Said", Message: "It is so", LastTransitionTime: metav1.Now(),
		})
	}
}

func nothing(*v1alpha1.SecretRotation) {}

func TestWait(t *testing.T) {
	over := func(r *v1alpha1.SecretRotation) { at := metav1.NewTime(now); r.Status.CompletionTime = &at }
	for name, test := range map[string]struct {
		command string
		answers []func(*v1alpha1.SecretRotation)
		code    int
		texts   []string
		not     string
	}{
		"Rotate": {
			"rotate",
			[]func(*v1alpha1.SecretRotation){nothing, condition(v1alpha1.ConditionPropagated)},
			plugin.ExitOK,
			[]string{"Propagating: Answer A", "Propagating: Answer B", "Propagated is True", "Let the provider sign"},
			"--for=condition=Propagated",
		},
		"Revoke": {
			"revoke",
			[]func(*v1alpha1.SecretRotation){
				condition(v1alpha1.ConditionPropagated), condition(v1alpha1.ConditionPreviousRetired),
			},
			plugin.ExitOK,
			[]string{"Propagating: Answer A", "PreviousRetired is True", "Let the provider sign with the new secret at once"},
			"kubectl wait",
		},
		"Stalled": {
			"rotate",
			[]func(*v1alpha1.SecretRotation){condition(v1alpha1.ConditionStalled)},
			plugin.ExitFailed,
			[]string{"SecretRotation payments-next is Said: It is so"},
			"Next:",
		},
		"Superseded": {
			"rotate", []func(*v1alpha1.SecretRotation){over}, plugin.ExitFailed, []string{"ended as Propagating without Propagated: Answer A"}, "Next:",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t)
			s.put(s.adopted())
			s.secret("next", beta)
			got := s.waited(test.answers, test.command, "payments", "--secret", "next")
			s.expect(got, test.code, test.texts...)
			if strings.Contains(got.err, test.not) {
				t.Errorf("%q is said:\n%s", test.not, got.err)
			}
		})
	}
}

// TestWaitOfAnOldSpec has a rotation that is Propagated, and whose status is not about the changed spec yet.
func TestWaitOfAnOldSpec(t *testing.T) {
	s := newShop(t)
	s.put(s.adopted())
	s.secret("next", beta)
	by := s.rotation("payments-next", "next", func(r *v1alpha1.SecretRotation) { r.Spec.Overlap = "48h" })
	s.say(by, "OverlapActive", "Answer before", v1alpha1.ConditionPropagated)
	got := s.run("rotate", "payments", "--secret", "next", "--apply", "--force-conflicts", "--wait", "--timeout", "1500ms")
	s.expect(got, plugin.ExitTimeout, "the time is over", "--timeout", "kubectl describe srot/payments-next -n "+s.namespace)
}

func TestWaitForWhatIsDeleted(t *testing.T) {
	s := newShop(t)
	s.put(s.adopted())
	s.secret("next", beta)
	got := s.waited([]func(*v1alpha1.SecretRotation){nothing, func(r *v1alpha1.SecretRotation) {
		if err := s.admin.Delete(s.Context(), r.DeepCopy()); err != nil {
			s.Error(err)
		}
		s.rotation("payments-next", "next").DeepCopyInto(r)
	}}, "rotate", "payments", "--secret", "next")
	s.expect(got, plugin.ExitFailed, "was deleted while it was waited for")
}

func TestInterrupt(t *testing.T) {
	s := newShop(t)
	s.put(s.adopted())
	s.secret("next", beta)
	ctx, interrupt := context.WithCancel(t.Context())
	var out, err text
	done := make(chan int, 1)
	go func() {
		args := []string{"rotate", "payments", "--secret", "next", "--apply", "--wait", "--timeout", "30s", "--kubeconfig", s.kubeconfig}
		done <- plugin.Run(ctx, args, plugin.Environment{Out: &out, Err: &err, Now: func() time.Time { return now }})
	}()
	s.play("payments-next", &err, nothing, func(*v1alpha1.SecretRotation) { interrupt() })
	s.expect(outcome{<-done, out.String(), err.String()}, plugin.ExitFailed, "interrupted: it goes on by itself")
}
