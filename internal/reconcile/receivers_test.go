// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package reconcile_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/receiverstatus"
	"github.com/hookonce/hookonce/internal/reconcile"
)

// podReader lists the pods that it holds; Poll asks a reader for nothing else.
type podReader struct {
	client.Reader
	pods []corev1.Pod
}

func (r podReader) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	pods, ok := list.(*corev1.PodList)
	if !ok {
		return fmt.Errorf("unexpected list %T", list)
	}
	pods.Items = r.pods
	return nil
}

// pod is a receiver at the address of a test's server.
func pod(t *testing.T, name, url string, ready bool) corev1.Pod {
	t.Helper()
	host, port, err := net.SplitHostPort(strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.ParseInt(port, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	out := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Ports: []corev1.ContainerPort{{Name: "public", ContainerPort: 1}, {Name: receiverstatus.PrivatePort, ContainerPort: int32(number)}},
		}}},
		Status: corev1.PodStatus{
			PodIP:             host,
			ContainerStatuses: []corev1.ContainerStatus{{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}},
		},
	}
	if ready {
		out.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}
	return out
}

// serve answers every request with the given handler.
func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

func answer(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, request *http.Request) {
		if request.URL.Path != receiverstatus.Path {
			http.NotFound(w, request)
			return
		}
		_, _ = io.WriteString(w, text)
	}
}

func poll(t *testing.T, pods ...corev1.Pod) reconcile.Receivers {
	t.Helper()
	all, out, err := reconcile.NewPoller(podReader{pods: pods}).Poll(t.Context(), "shop", map[string]string{"a": "b"})
	if err != nil {
		t.Fatal(err)
	}
	sorted := slices.IsSortedFunc(all, func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	if len(all) != len(pods) || !sorted {
		t.Errorf("%d of %d pods are returned, sorted by name: %t", len(all), len(pods), sorted)
	}
	return out
}

func TestPoll(t *testing.T) {
	good := serve(t, answer(`{"keyring": {"revision": 3}}`))
	leaving := pod(t, "d-leaving", good, true)
	leaving.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
	pending := pod(t, "e-pending", good, false)
	pending.Status.ContainerStatuses = nil
	portless := pod(t, "f-portless", good, true)
	portless.Spec.Containers = nil

	all := poll(t, portless, pod(t, "b-starting", good, false), leaving, pending, pod(t, "a-ready", good, true))
	var names []string
	for _, one := range all {
		names = append(names, one.Pod)
	}
	if got := strings.Join(names, " "); got != "a-ready b-starting f-portless" {
		t.Errorf("asked %s", got)
	}
	if len(all.Ready()) != 2 || len(all.Answered()) != 2 || len(all.Ready().Answered()) != 1 {
		t.Errorf("ready %d, answered %d", len(all.Ready()), len(all.Answered()))
	}
	if now, next := all.Updated(ring(3, "a")), all.Updated(ring(4, "a")); now != 1 || next != 0 {
		t.Errorf("updated to revision 3: %d, to 4: %d", now, next)
	}
}

// ring is a keyring as far as receivers are compared with it.
func ring(revision int64, current string) *keyring.Keyring {
	return &keyring.Keyring{Revision: revision, Current: keyring.Entry{Fingerprint: current}}
}

// TestUpdatedKnowsALostKeyring makes a keyring anew: its revisions begin again, and a receiver that still has the former one
// is ahead of them.
func TestUpdatedKnowsALostKeyring(t *testing.T) {
	for text, want := range map[string]int32{
		`{"keyring": {"revision": 7}, "secrets": [{"fingerprint": "old"}]}`: 0,
		`{"keyring": {"revision": 1}, "secrets": [{"fingerprint": "new"}]}`: 1,
	} {
		if got := poll(t, pod(t, "a", serve(t, answer(text)), true)).Updated(ring(1, "new")); got != want {
			t.Errorf("%s: %d updated, want %d", text, got, want)
		}
	}
}

func TestPollBelievesNobody(t *testing.T) {
	other := serve(t, answer(`{"keyring": {"revision": 9}}`))
	for name, handler := range map[string]http.HandlerFunc{
		"Status": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"Redirect": func(w http.ResponseWriter, request *http.Request) {
			http.Redirect(w, request, other+"/status", http.StatusFound)
		},
		"NoJSON":  answer("hello"),
		"Endless": answer(`{"version": "` + strings.Repeat("x", 2<<20) + `"}`),
	} {
		t.Run(name, func(t *testing.T) {
			all := poll(t, pod(t, "a", serve(t, handler), true))
			if len(all) != 1 || all[0].Err == nil || all[0].Status.Keyring.Revision != 0 {
				t.Errorf("%+v, want an error and nothing else", all)
			}
		})
	}
}

func TestPollDoesNotWaitForEver(t *testing.T) {
	hanging := serve(t, func(_ http.ResponseWriter, request *http.Request) { <-request.Context().Done() })
	good := serve(t, answer(`{}`))
	began := time.Now()
	all := poll(t, pod(t, "a", hanging, true), pod(t, "b", good, true))
	if all[0].Err == nil || all[1].Err != nil {
		t.Errorf("the hanging receiver %v, the other %v", all[0].Err, all[1].Err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
}

func TestPollAsksAFewAtATime(t *testing.T) {
	var now, most atomic.Int64
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		n := now.Add(1)
		defer now.Add(-1)
		for {
			seen := most.Load()
			if n <= seen || most.CompareAndSwap(seen, n) {
				break
			}
		}
		_, _ = io.WriteString(w, "{}")
	})
	var pods []corev1.Pod
	for i := range 64 {
		pods = append(pods, pod(t, fmt.Sprintf("%02d", i), url, true))
	}
	if all := poll(t, pods...); len(all.Answered()) != 64 {
		t.Errorf("%d of 64 answered", len(all.Answered()))
	}
	if most.Load() > 8 {
		t.Errorf("%d at once, want 8 at most", most.Load())
	}
}
