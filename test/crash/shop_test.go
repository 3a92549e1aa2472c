// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package crash

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/controlplane"
	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/render"
)

// payments is the name of the endpoint.
const payments = "payments"

// key names an object within a namespace.
type key struct{ resource, name string }

// version is one version of an object, or its removal.
type version struct {
	key
	object  *unstructured.Unstructured
	removed bool
	// at is the clock when it was seen, and loaded the revision of the keyring that every receiver had told the operator of.
	at     time.Time
	loaded int64
}

// shop is a namespace with one endpoint, and what the test knows of it.
type shop struct {
	t         *testing.T
	admin     client.Client
	namespace string
	clock     *clock
	injector  *injector
	receivers []*receiver
	// asked counts how often receivers were asked, and versions what was seen.
	asked, versions atomic.Int64
	mu              sync.Mutex
	objects         map[key]*unstructured.Unstructured
	history         []version
	// created and deleted count by object, since the step began.
	created, deleted map[key]int
	// names are the names of all objects that ever were, by UID, and salts those of all keyrings.
	names map[string]string
	salts [][]byte
	// pictured are objects as they are compared, for as long as they stay as they are.
	pictured map[key]pictured
	// ready is what the endpoint's condition Ready last was, and turned counts how often it became so, by reason: each time
	// may be told once.
	ready  string
	turned map[string]int
	// gone is when, by the machine's clock, the endpoint was last deleted, or receivers were last asked, askedBefore times.
	gone        time.Time
	askedBefore int64
	ring        *keyring.Keyring
}

func newShop(t *testing.T, w *world) *shop {
	t.Helper()
	admin := controlplane.Client(t, server)
	s := &shop{
		t: t, admin: admin, namespace: controlplane.Namespace(t, admin, nil),
		clock: &clock{at: epoch}, injector: &injector{},
		objects: map[key]*unstructured.Unstructured{}, names: map[string]string{},
		pictured: map[key]pictured{}, turned: map[string]int{},
	}
	s.injector.onFault = func() { s.clock.pass(outage) }
	for range 2 {
		s.receivers = append(s.receivers, newReceiver(s))
	}
	w.add(s)
	return s
}

// see notes one version of an object.
func (s *shop) see(resource string, kind watch.EventType, object *unstructured.Unstructured) {
	at, loaded := s.clock.now(), s.loaded()
	s.mu.Lock()
	defer s.mu.Unlock()
	k := key{resource, object.GetName()}
	s.names[string(object.GetUID())] = object.GetKind() + "/" + object.GetName()
	if resource != events {
		s.history = append(s.history, version{k, object, kind == watch.Deleted, at, loaded})
	}
	// Events are counted by what they tell.
	counted := resource != events
	switch {
	case kind == watch.Added && counted:
		s.created[k]++
		s.objects[k] = object
	case kind == watch.Deleted:
		s.deleted[k]++
		delete(s.objects, k)
		if resource == endpoints {
			s.gone, s.ready = time.Now(), ""
		}
	default:
		s.objects[k] = object
	}
	if k == keyringKey {
		s.follow(kind, object)
	}
	if status, reason := readyOf(object); resource == endpoints && reason != "" && status+reason != s.ready {
		s.ready = status + reason
		s.turned[reason]++
	}
	s.versions.Add(1)
}

// readyOf is status and reason of the condition Ready.
func readyOf(object *unstructured.Unstructured) (status, reason string) {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, condition := range conditions {
		fields, ok := condition.(map[string]any)
		if ok && fields["type"] == v1alpha1.ConditionReady {
			return fmt.Sprint(fields["status"]), fmt.Sprint(fields["reason"])
		}
	}
	return "", ""
}

var keyringKey = key{secrets, render.NamesOf(payments).Keyring}

// follow keeps the keyring for the receivers, which have it mounted. A damaged one is found by the judge.
func (s *shop) follow(kind watch.EventType, object *unstructured.Unstructured) {
	ring, err := ringOf(object)
	if s.ring = ring; err != nil || kind == watch.Deleted {
		s.ring = nil
		return
	}
	if len(s.salts) == 0 || string(s.salts[len(s.salts)-1]) != string(ring.Salt) {
		s.salts = append(s.salts, ring.Salt)
	}
}

// mounted is the keyring that receivers have.
func (s *shop) mounted() *keyring.Keyring {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ring
}

// begin begins a step: the time is that of its plan, and nothing has been created or deleted.
func (s *shop) begin(at time.Time, fault *point) {
	s.mu.Lock()
	s.created, s.deleted, s.history = map[key]int{}, map[key]int{}, s.history[:0:0]
	s.mu.Unlock()
	s.clock.set(at)
	s.injector.begin(fault)
}

// find returns an object as it was last seen; nil if it is not there.
func (s *shop) find(resource, name string) *unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects[key{resource, name}]
}

// as reads an object as it was last seen into its own type; false if it is not there.
func (s *shop) as(resource, name string, into client.Object) bool {
	object := s.find(resource, name)
	if object == nil {
		return false
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into); err != nil {
		s.t.Errorf("read %s %s: %v", resource, name, err)
		return false
	}
	return true
}

func (s *shop) create(objects ...client.Object) {
	s.t.Helper()
	for _, object := range objects {
		object.SetNamespace(s.namespace)
		if err := s.admin.Create(s.t.Context(), object, client.FieldOwner("kubectl")); err != nil {
			s.t.Fatal(err)
		}
	}
}

// patch changes an object as people do, whatever the operator writes meanwhile.
func patch[T client.Object](s *shop, name string, object T, edit func(T)) {
	s.t.Helper()
	if err := s.admin.Get(s.t.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, object); err != nil {
		s.t.Fatal(err)
	}
	before := object.DeepCopyObject().(client.Object)
	edit(object)
	if err := s.admin.Patch(s.t.Context(), object, client.MergeFrom(before), client.FieldOwner("kubectl")); err != nil {
		s.t.Fatal(err)
	}
}

// signing is a user's Secret with a signing secret.
func signing(name, word string) *corev1.Secret { return secret(name, "secret", texts[word]) }

// put changes the bytes of a user's Secret.
func (s *shop) put(name, word string) {
	s.t.Helper()
	patch(s, name, &corev1.Secret{}, func(secret *corev1.Secret) { secret.Data["secret"] = []byte(texts[word]) })
}

// name changes which Secret the spec names.
func (s *shop) name(source string) {
	s.t.Helper()
	patch(s, payments, &v1alpha1.WebhookEndpoint{}, func(endpoint *v1alpha1.WebhookEndpoint) {
		endpoint.Spec.Verification.SecretRef.Name = source
	})
}

func (s *shop) delete(object client.Object) {
	s.t.Helper()
	object.SetNamespace(s.namespace)
	if err := s.admin.Delete(s.t.Context(), object); err != nil {
		s.t.Fatal(err)
	}
}

// secret is a Secret with one key.
func secret(name, key, text string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string][]byte{key: []byte(text)}}
}

func endpoint(source string) *v1alpha1.WebhookEndpoint {
	out := &v1alpha1.WebhookEndpoint{ObjectMeta: metav1.ObjectMeta{Name: payments}}
	out.Spec.Verification.Scheme = v1alpha1.SchemePaymos
	out.Spec.Verification.SecretRef = v1alpha1.SecretKeyReference{Name: source, Key: "secret"}
	out.Spec.Database.SecretRef = v1alpha1.SecretKeyReference{Name: "database", Key: "uri"}
	return out
}

func rotationTo(name, source string) *v1alpha1.SecretRotation {
	return &v1alpha1.SecretRotation{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1alpha1.SecretRotationSpec{
			EndpointRef: v1alpha1.EndpointReference{Name: payments},
			SecretRef:   v1alpha1.SecretKeyReference{Name: source, Key: "secret"},
		},
	}
}
