// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hookonce/hookonce/hack/cluster/processnode/internal/objects"
)

var (
	ring     = objects.Key{Kind: objects.Secret, Namespace: "shop", Name: "ring"}
	optional = objects.Key{Kind: objects.ConfigMap, Namespace: "shop", Name: "optional"}
)

func state(version, value string) objects.Content {
	return objects.Content{Version: version, Data: map[string][]byte{"v": []byte(value)}}
}

// loaded is the content of a pod that shows the Secret ring (version 10) and an optional
// ConfigMap, and draws the delays given one after another.
func loaded(t *testing.T, delays ...time.Duration) (*content, *int) {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop"},
		Spec: corev1.PodSpec{Volumes: []corev1.Volume{
			{VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "ring"}}},
			{VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: "optional"}, Optional: new(true),
			}}},
		}},
	}
	visible := 0
	next := func() time.Duration {
		delay := delays[0]
		delays = delays[1:]
		return delay
	}
	c := newContent(pod, next, func() { visible++ })
	err := c.load(t.Context(), func(_ context.Context, key objects.Key) (objects.Content, error) {
		if key == ring {
			return state("10", "first"), nil
		}
		return objects.Content{}, apierrors.NewNotFound(corev1.Resource("configmaps"), key.Name)
	})
	if err != nil {
		t.Fatal(err)
	}
	return c, &visible
}

// shows lets so much time pass and compares; "-" stands for no object.
func shows(t *testing.T, c *content, after time.Duration, key objects.Key, want string) {
	t.Helper()
	<-time.After(after)
	synctest.Wait()
	got := "-"
	if object, ok := c.get(key); ok {
		got = string(object.Data["v"])
	}
	if got != want {
		t.Errorf("%s shows %q, want %q", key, got, want)
	}
}

func TestContentIsDelayed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, visible := loaded(t, 30*time.Second)
		c.change(ring, state("11", "second"), false)
		shows(t, c, 29*time.Second, ring, "first")
		shows(t, c, 2*time.Second, ring, "second")
		if *visible != 1 {
			t.Errorf("told of %d visible changes, want 1", *visible)
		}
	})
}

func TestContentKeepsTheOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := loaded(t, 100*time.Second, 10*time.Second)
		c.change(ring, state("11", "second"), false)
		c.change(ring, state("12", "third"), false)
		shows(t, c, 11*time.Second, ring, "third")
		shows(t, c, 100*time.Second, ring, "third")
	})
}

func TestContentEachChangeHasItsDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := loaded(t, 10*time.Second, 10*time.Second)
		c.change(ring, state("11", "second"), false)
		shows(t, c, 9*time.Second, ring, "first")
		c.change(ring, state("12", "third"), false)
		shows(t, c, 2*time.Second, ring, "second")
		shows(t, c, 9*time.Second, ring, "third")
	})
}

func TestContentIgnores(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, visible := loaded(t)
		c.change(ring, state("9", "older than what was read"), false)
		c.change(ring, state("10", "first"), false)
		c.change(ring, state("11", ""), true)
		c.change(objects.Key{Kind: objects.Secret, Namespace: "shop", Name: "other"}, state("11", "x"), false)
		shows(t, c, time.Hour, ring, "first")
		if *visible != 0 {
			t.Errorf("told of %d visible changes, want none", *visible)
		}
	})
}

func TestContentOptionalObjectComesAndGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := loaded(t, time.Second, time.Second)
		shows(t, c, 0, optional, "-")
		c.change(optional, state("11", "here"), false)
		shows(t, c, 2*time.Second, optional, "here")
		c.change(optional, state("12", ""), true)
		shows(t, c, 2*time.Second, optional, "-")
	})
}

func TestContentRequiredObjectIsMissing(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{Volumes: []corev1.Volume{
		{VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "ring"}}},
	}}}
	c := newContent(pod, nil, nil)
	err := c.load(t.Context(), func(_ context.Context, key objects.Key) (objects.Content, error) {
		return objects.Content{}, apierrors.NewNotFound(corev1.Resource("secrets"), key.Name)
	})
	if !apierrors.IsNotFound(err) {
		t.Errorf("error is %v, want NotFound", err)
	}
}
