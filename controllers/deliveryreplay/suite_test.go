// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package deliveryreplay_test

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/controllers/deliveryreplay"
	"github.com/hookonce/hookonce/internal/controlplane"
	"github.com/hookonce/hookonce/internal/receiverstatus"
	"github.com/hookonce/hookonce/internal/render"
	"github.com/hookonce/hookonce/internal/replayrequest"
)

var restConfig *rest.Config

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(controlplane.Main(m, func(config *rest.Config) { restConfig = config }))
}

// bench is a namespace with an endpoint that has one receiver, whose status the test decides. Passes are made by the test.
type bench struct {
	t          *testing.T
	admin      client.Client
	namespace  string
	reconciler *deliveryreplay.Reconciler
	recorder   *events.FakeRecorder
	now        time.Time

	mu      sync.Mutex
	replays []receiverstatus.Replay
	away    bool
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, admin: controlplane.Client(t, restConfig), recorder: events.NewFakeRecorder(100), now: time.Now()}
	b.namespace = controlplane.Namespace(t, b.admin, nil)
	b.reconciler = deliveryreplay.New(b.admin, b.admin, b.recorder, func() time.Time { return b.now }, deliveryreplay.Options{
		Render: render.Settings{Image: "hookonce:test", OperatorNamespace: "hookonce-system"},
	})
	b.create(&v1alpha1.WebhookEndpoint{
		ObjectMeta: metav1.ObjectMeta{Name: "payments"},
		Spec: v1alpha1.WebhookEndpointSpec{
			Verification: v1alpha1.Verification{Scheme: v1alpha1.SchemePaymos, SecretRef: v1alpha1.SecretKeyReference{Name: "signing", Key: "secret"}},
			Database:     v1alpha1.Database{SecretRef: v1alpha1.SecretKeyReference{Name: "database", Key: "uri"}},
		},
	})
	b.receiver()
	return b
}

func (b *bench) create(object client.Object) {
	b.t.Helper()
	object.SetNamespace(b.namespace)
	if err := b.admin.Create(b.t.Context(), object); err != nil {
		b.t.Fatal(err)
	}
}

// receiver is a pod whose private port is a server of this test.
func (b *bench) receiver() {
	b.t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.away {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_ = json.NewEncoder(w).Encode(receiverstatus.Status{Replays: b.replays})
	}))
	b.t.Cleanup(server.Close)
	at, ok := server.Listener.Addr().(*net.TCPAddr)
	if !ok {
		b.t.Fatalf("address %v", server.Listener.Addr())
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "payments-0", Labels: render.Labels("payments", render.NameReceiver)},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: render.ContainerReceiver, Image: "hookonce:test",
			Ports: []corev1.ContainerPort{{Name: receiverstatus.PrivatePort, ContainerPort: int32(at.Port)}},
		}}},
	}
	b.create(pod)
	pod.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, PodIP: at.IP.String(), PodIPs: []corev1.PodIP{{IP: at.IP.String()}},
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}},
	}
	if err := b.admin.Status().Update(b.t.Context(), pod); err != nil {
		b.t.Fatal(err)
	}
}

// knows is what the receiver says of a replay from here on.
func (b *bench) knows(replay *v1alpha1.DeliveryReplay, progress receiverstatus.Replay) {
	b.mu.Lock()
	defer b.mu.Unlock()
	progress.ID = string(replay.UID)
	b.replays = []receiverstatus.Replay{progress, {ID: "another", Matched: 99}}
}

// pass looks at a replay once, 10 s after the last time, and returns it as it is then.
func (b *bench) pass(name string) *v1alpha1.DeliveryReplay {
	b.t.Helper()
	b.now = b.now.Add(10 * time.Second)
	key := client.ObjectKey{Namespace: b.namespace, Name: name}
	if _, err := b.reconciler.Reconcile(b.t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
		b.t.Fatal(err)
	}
	replay := &v1alpha1.DeliveryReplay{}
	if err := b.admin.Get(b.t.Context(), key, replay); err != nil {
		b.t.Fatal(err)
	}
	return replay
}

// job returns the Job of a replay and what it is asked to do, or nil.
func (b *bench) job(replay string, send bool) (*batchv1.Job, *replayrequest.Request) {
	b.t.Helper()
	job := &batchv1.Job{}
	err := b.admin.Get(b.t.Context(), client.ObjectKey{Namespace: b.namespace, Name: render.ReplayJobName(replay, send)}, job)
	if client.IgnoreNotFound(err) != nil {
		b.t.Fatal(err)
	}
	if err != nil {
		return nil, nil
	}
	for _, arg := range job.Spec.Template.Spec.Containers[0].Args {
		if document, ok := strings.CutPrefix(arg, "--request="); ok {
			request, err := replayrequest.Parse([]byte(document))
			if err != nil {
				b.t.Fatal(err)
			}
			return job, request
		}
	}
	b.t.Fatalf("the Job has no request: %v", job.Spec.Template.Spec.Containers[0].Args)
	return nil, nil
}

// expect compares a condition.
func expect(t *testing.T, replay *v1alpha1.DeliveryReplay, kind string, status metav1.ConditionStatus, reason, text string) {
	t.Helper()
	got := meta.FindStatusCondition(replay.Status.Conditions, kind)
	if got == nil || got.Status != status || got.Reason != reason || !strings.Contains(got.Message, text) {
		t.Errorf("%s is %+v, want %s/%s with %q", kind, got, status, reason, text)
	}
}
