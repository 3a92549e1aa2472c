// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package webhookendpoint_test

import (
	"context"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/controllers"
	"github.com/hookonce/hookonce/controllers/webhookendpoint"
	"github.com/hookonce/hookonce/internal/controlplane"
	"github.com/hookonce/hookonce/internal/render"
)

var restConfig *rest.Config

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(controlplane.Main(m, func(config *rest.Config) { restConfig = config }))
}

// secretText is a signing secret that Paymos could have issued.
const secretText = "whsec_0123456789abcdef0123456789abcdef"

// bench is one namespace, and a reconciler that sees it as the operator does: through its caches, and through a transport
// that counts the writes. Passes are made by the test, one after the other.
type bench struct {
	t          *testing.T
	admin      client.Client
	cached     client.Client
	reconciler *webhookendpoint.Reconciler
	recorder   *events.FakeRecorder
	namespace  string
	writes     *atomic.Int64
	// intercept is asked before a request of the reconciler is sent; it is not, if there is an answer.
	intercept *atomic.Pointer[intercept]
	clock     *clock
}

type intercept func(*http.Request) *http.Response

// clock is moved by the test.
type clock struct{ offset atomic.Int64 }

func (c *clock) now() time.Time           { return time.Now().Add(time.Duration(c.offset.Load())) }
func (c *clock) forward(by time.Duration) { c.offset.Add(int64(by)) }

// settings are what the operator of these tests renders with.
var settings = render.Settings{Image: "hookonce:test", OperatorNamespace: "hookonce-system"}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{
		t:        t,
		admin:    controlplane.Client(t, restConfig),
		recorder: events.NewFakeRecorder(1000),
		writes:   &atomic.Int64{},

		intercept: &atomic.Pointer[intercept]{},
		clock:     &clock{},
	}
	b.namespace = controlplane.Namespace(t, b.admin, nil)

	config := rest.CopyConfig(restConfig)
	config.QPS, config.Burst = 1000, 1000
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return watchedTransport{next, b.writes, b.intercept} })
	scheme, err := controllers.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	seen, err := cluster.New(config, func(options *cluster.Options) {
		options.Scheme = scheme
		options.Cache = controllers.CacheOptions([]string{b.namespace})
		options.Client = controllers.ClientOptions()
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range append(children(), &v1alpha1.WebhookEndpoint{}, &v1alpha1.SecretRotation{}, &corev1.Pod{}) {
		if _, err := seen.GetCache().GetInformer(t.Context(), kind); err != nil {
			t.Fatal(err)
		}
	}
	started := make(chan error, 1)
	go func() { started <- seen.Start(t.Context()) }()
	if !seen.GetCache().WaitForCacheSync(t.Context()) {
		t.Fatalf("the caches did not fill: %v", <-started)
	}
	b.cached = seen.GetClient()
	b.reconciler = webhookendpoint.New(b.cached, seen.GetAPIReader(), b.recorder, b.clock.now, webhookendpoint.Options{
		Render: settings, StatusInterval: 10 * time.Second, SecretInterval: 30 * time.Second, Concurrency: 1,
	})
	return b
}

// watchedTransport counts the requests that change something, and lets a test come in between.
type watchedTransport struct {
	next      http.RoundTripper
	writes    *atomic.Int64
	intercept *atomic.Pointer[intercept]
}

func (w watchedTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method != http.MethodGet && request.Method != http.MethodHead {
		w.writes.Add(1)
	}
	if intercept := w.intercept.Load(); intercept != nil {
		if answer := (*intercept)(request); answer != nil {
			return answer, nil
		}
	}
	return w.next.RoundTrip(request)
}

// children are the kinds that are applied for an endpoint.
func children() []client.Object {
	return []client.Object{
		&corev1.ConfigMap{}, &corev1.Service{}, &appsv1.Deployment{}, &batchv1.CronJob{},
		&networkingv1.NetworkPolicy{}, &policyv1.PodDisruptionBudget{},
	}
}

// pass makes one pass, and fails the test on an error.
func (b *bench) pass(name string) ctrl.Result {
	b.t.Helper()
	result, err := b.reconciler.Reconcile(b.t.Context(), ctrl.Request{NamespacedName: b.key(name)})
	if err != nil {
		b.t.Fatalf("pass over %s: %v", name, err)
	}
	return result
}

// settle makes passes until one writes nothing and the caches show what was written.
func (b *bench) settle(name string) {
	b.t.Helper()
	b.eventually("settle", func() string {
		before := b.writes.Load()
		b.pass(name)
		if b.writes.Load() != before {
			return "passes go on writing"
		}
		return b.lag(name)
	})
}

// lag says what the caches do not show yet.
func (b *bench) lag(name string) string {
	live, seen := &v1alpha1.WebhookEndpoint{}, &v1alpha1.WebhookEndpoint{}
	b.get(live, name)
	if err := b.cached.Get(b.t.Context(), b.key(name), seen); err != nil || seen.ResourceVersion != live.ResourceVersion {
		return "the cache is behind"
	}
	return ""
}

// eventually repeats check until it returns an empty text, for ten seconds at most.
func (b *bench) eventually(what string, check func() string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 10*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		problem := check()
		if problem == "" {
			return
		}
		select {
		case <-ctx.Done():
			b.t.Fatalf("%s: %s", what, problem)
		case <-tick.C:
		}
	}
}

func (b *bench) key(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: b.namespace, Name: name}
}

func (b *bench) get(object client.Object, name string) {
	b.t.Helper()
	if err := b.admin.Get(b.t.Context(), b.key(name), object); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) endpoint(name string) *v1alpha1.WebhookEndpoint {
	b.t.Helper()
	endpoint := &v1alpha1.WebhookEndpoint{}
	b.get(endpoint, name)
	return endpoint
}

func (b *bench) create(objects ...client.Object) {
	b.t.Helper()
	for _, object := range objects {
		object.SetNamespace(b.namespace)
		if err := b.admin.Create(b.t.Context(), object, client.FieldOwner("kubectl")); err != nil {
			b.t.Fatal(err)
		}
		b.shown(object)
	}
}

// shown waits until the cache shows an object that passes read from it.
func (b *bench) shown(object client.Object) {
	b.t.Helper()
	var seen client.Object
	switch object.(type) {
	case *v1alpha1.WebhookEndpoint:
		seen = &v1alpha1.WebhookEndpoint{}
	case *v1alpha1.SecretRotation:
		seen = &v1alpha1.SecretRotation{}
	case *corev1.Pod:
		seen = &corev1.Pod{}
	case *batchv1.CronJob:
		seen = &batchv1.CronJob{}
	case *appsv1.Deployment:
		seen = &appsv1.Deployment{}
	default:
		return
	}
	b.eventually("the cache shows "+object.GetName(), func() string {
		if err := b.cached.Get(b.t.Context(), b.key(object.GetName()), seen); err != nil {
			return err.Error()
		}
		if seen.GetResourceVersion() != object.GetResourceVersion() {
			return "the cache is behind"
		}
		return ""
	})
}

// update changes an object as somebody else.
func (b *bench) update(object client.Object, name string, edit func()) {
	b.t.Helper()
	b.get(object, name)
	edit()
	if err := b.admin.Update(b.t.Context(), object, client.FieldOwner("kubectl-edit")); err != nil {
		b.t.Fatal(err)
	}
	b.shown(object)
}

// paymos is a small endpoint, and the Secrets that it names.
func paymos(name string) *v1alpha1.WebhookEndpoint {
	endpoint := &v1alpha1.WebhookEndpoint{ObjectMeta: metav1.ObjectMeta{Name: name}}
	endpoint.Spec.Verification.Scheme = v1alpha1.SchemePaymos
	endpoint.Spec.Verification.SecretRef = v1alpha1.SecretKeyReference{Name: "signing", Key: "secret"}
	endpoint.Spec.Database.SecretRef = v1alpha1.SecretKeyReference{Name: "database", Key: "uri"}
	return endpoint
}

func secret(name, key, value string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string][]byte{key: []byte(value)}}
}

func database() *corev1.Secret { return secret("database", "uri", "postgres://shop:hunter2@db/shop") }

func signing() *corev1.Secret { return secret("signing", "secret", secretText) }

// expect fails the test unless a condition has a status and reason, and a message with each of the texts.
func expect(t *testing.T, endpoint *v1alpha1.WebhookEndpoint, kind string, status metav1.ConditionStatus, reason string, texts ...string) {
	t.Helper()
	for _, condition := range endpoint.Status.Conditions {
		if m := condition.Message; m == "" || (m[0] >= 'a' && m[0] <= 'z') || strings.HasSuffix(m, ".") {
			t.Errorf("%s says %q: messages begin in upper case and end without a period", condition.Type, m)
		}
		if condition.Type != kind {
			continue
		}
		if condition.Status != status || condition.Reason != reason {
			t.Errorf("%s is %s/%s (%s), want %s/%s", kind, condition.Status, condition.Reason, condition.Message, status, reason)
		}
		for _, text := range texts {
			if !strings.Contains(condition.Message, text) {
				t.Errorf("the message of %s does not say %q: %s", kind, text, condition.Message)
			}
		}
		return
	}
	t.Errorf("there is no condition %s, want %s/%s", kind, status, reason)
}

// absent fails the test if a condition is there.
func absent(t *testing.T, endpoint *v1alpha1.WebhookEndpoint, kind string) {
	t.Helper()
	for _, condition := range endpoint.Status.Conditions {
		if condition.Type == kind {
			t.Errorf("%s is %s/%s (%s), want none", kind, condition.Status, condition.Reason, condition.Message)
		}
	}
}
