// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package secretrotation_test

import (
	"crypto/rand"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/controlplane"
	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/receiverstatus"
	"github.com/hookonce/hookonce/internal/render"
	"github.com/hookonce/hookonce/internal/rotation"
)

// The signing secrets of the tests. None of them may be seen in a status or an event.
const (
	alpha = "whsec_test_alpha_5f1d0c2ab7e94c6d8a3e6b90"
	beta  = "whsec_test_beta_c83e7f6410d94b0fa2b5796e"
	gamma = "whsec_test_gamma_09b6e2d5f8714c3a96d0417b"
)

// shop is a namespace with the endpoint payments, whose secret is alpha, and two receivers that have loaded it.
type shop struct {
	*testing.T
	*WithT
	client    client.Client
	namespace string
	clock     *clock
	endpoint  *v1alpha1.WebhookEndpoint
	receivers []*receiver
}

func newShop(t *testing.T) *shop {
	t.Helper()
	c := controlplane.Client(t, server)
	s := &shop{T: t, WithT: NewWithT(t), client: c, namespace: controlplane.Namespace(t, c, nil), clock: &clock{}}
	s.SetDefaultEventuallyTimeout(20 * time.Second)
	s.SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	s.secret("first", alpha)
	s.endpoint = s.makeEndpoint()
	s.adopt()
	for range 2 {
		s.receivers = append(s.receivers, s.receiver())
	}
	s.load(s.receivers...)
	return s
}

func (s *shop) create(object client.Object) {
	s.Helper()
	if err := s.client.Create(s.Context(), object); err != nil {
		s.Fatal(err)
	}
}

// secret makes a Secret, or changes what it holds.
func (s *shop) secret(name, text string) {
	s.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: s.namespace}}
	_, err := controllerutil.CreateOrUpdate(s.Context(), s.client, secret, func() error {
		secret.Data = map[string][]byte{"secret": []byte(text)}
		return nil
	})
	if err != nil {
		s.Fatal(err)
	}
}

func (s *shop) makeEndpoint() *v1alpha1.WebhookEndpoint {
	s.Helper()
	endpoint := &v1alpha1.WebhookEndpoint{
		ObjectMeta: metav1.ObjectMeta{Name: "payments", Namespace: s.namespace},
		Spec: v1alpha1.WebhookEndpointSpec{
			Verification: v1alpha1.Verification{
				Scheme: v1alpha1.SchemePaymos, SecretRef: v1alpha1.SecretKeyReference{Name: "first", Key: "secret"},
			},
			Database: v1alpha1.Database{SecretRef: v1alpha1.SecretKeyReference{Name: "database", Key: "uri"}},
		},
	}
	s.create(endpoint)
	return endpoint
}

// adopt makes the keyring, as the endpoint's controller does.
func (s *shop) adopt() {
	s.Helper()
	ring, err := keyring.Adopt(rand.Reader, keyring.Candidate{
		Key: []byte(alpha), Secret: []byte(alpha), Source: keyring.Source{Name: "first", Key: "secret"},
	}, s.clock.now())
	if err != nil {
		s.Fatal(err)
	}
	document, err := ring.Encode()
	if err != nil {
		s.Fatal(err)
	}
	secret := render.KeyringSecret(s.endpoint, document)
	if err := controllerutil.SetControllerReference(s.endpoint, secret, s.client.Scheme()); err != nil {
		s.Fatal(err)
	}
	s.create(secret)
}

// ring is the keyring as it is in the cluster.
func (s *shop) ring() *keyring.Keyring {
	s.Helper()
	ring, err := keyring.Parse(s.ringSecret().Data[keyring.FileName])
	if err != nil {
		s.Fatal(err)
	}
	return ring
}

func (s *shop) ringSecret() *corev1.Secret {
	s.Helper()
	secret := &corev1.Secret{}
	s.get(render.NamesOf("payments").Keyring, secret)
	return secret
}

func (s *shop) get(name string, object client.Object) {
	s.Helper()
	if err := s.client.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, object); err != nil {
		s.Fatal(err)
	}
}

// rotate applies a SecretRotation to the secret in a Secret.
func (s *shop) rotate(name, secret string, edits ...func(*v1alpha1.SecretRotation)) *v1alpha1.SecretRotation {
	s.Helper()
	object := &v1alpha1.SecretRotation{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: s.namespace},
		Spec: v1alpha1.SecretRotationSpec{
			EndpointRef: v1alpha1.EndpointReference{Name: "payments"},
			SecretRef:   v1alpha1.SecretKeyReference{Name: secret, Key: "secret"},
		},
	}
	for _, edit := range edits {
		edit(object)
	}
	s.create(object)
	return object
}

func (s *shop) rotation(name string) *v1alpha1.SecretRotation {
	s.Helper()
	object := &v1alpha1.SecretRotation{}
	s.get(name, object)
	return object
}

// state is the reason of Ready, which is the column STATE.
func (s *shop) state(name string) rotation.State {
	s.Helper()
	return rotation.State(s.reason(name, v1alpha1.ConditionReady))
}

// reason is that of a condition; empty if there is none.
func (s *shop) reason(name, kind string) string {
	s.Helper()
	if condition := meta.FindStatusCondition(s.rotation(name).Status.Conditions, kind); condition != nil {
		return condition.Reason
	}
	return ""
}

// reach waits until a rotation is in a state, and returns it.
func (s *shop) reach(name string, state rotation.State) *v1alpha1.SecretRotation {
	s.Helper()
	s.Eventually(func() rotation.State { return s.state(name) }).Should(Equal(state), "state of %s", name)
	return s.rotation(name)
}

// is says whether a rotation has a condition with the status.
func is(object *v1alpha1.SecretRotation, kind string, status metav1.ConditionStatus) bool {
	return meta.IsStatusConditionPresentAndEqual(object.Status.Conditions, kind, status)
}

// receiver is a receiver pod: its status is real HTTP, its pod an object that no kubelet runs.
type receiver struct {
	pod   *corev1.Pod
	polls atomic.Int64

	mu     sync.Mutex
	status receiverstatus.Status
}

func (s *shop) receiver() *receiver {
	s.Helper()
	r := &receiver{}
	private := httptest.NewServer(r)
	s.Cleanup(private.Close)
	address, ok := private.Listener.Addr().(*net.TCPAddr)
	if !ok {
		s.Fatal("the receiver does not listen on TCP")
	}
	r.pod = &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "payments-receiver-" + strconv.Itoa(address.Port), Namespace: s.namespace, Labels: render.ReceiverSelector("payments"),
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "receiver", Image: "hookonce",
			Ports: []corev1.ContainerPort{{Name: receiverstatus.PrivatePort, ContainerPort: int32(address.Port)}},
		}}},
	}
	s.create(r.pod)
	r.pod.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, PodIP: "127.0.0.1", PodIPs: []corev1.PodIP{{IP: "127.0.0.1"}},
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
	}
	if err := s.client.Status().Update(s.Context(), r.pod); err != nil {
		s.Fatal(err)
	}
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if request.URL.Path != receiverstatus.Path {
		http.NotFound(w, request)
		return
	}
	r.polls.Add(1)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := json.NewEncoder(w).Encode(r.status); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// load lets receivers see the keyring as it is, as the kubelet does in its own time.
func (s *shop) load(receivers ...*receiver) {
	s.Helper()
	ring := s.ring()
	for _, r := range receivers {
		r.mu.Lock()
		r.status.Keyring = receiverstatus.Keyring{Revision: ring.Revision, Loaded: s.clock.now()}
		r.status.Secrets = nil
		for _, e := range ring.Accepted(s.clock.now()) {
			r.status.Secrets = append(r.status.Secrets, receiverstatus.Secret{Fingerprint: e.Fingerprint, NotAfter: e.NotAfter})
		}
		r.mu.Unlock()
	}
}

// use lets a delivery verify with a secret.
func (r *receiver) use(fingerprint string, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.status.Secrets {
		if r.status.Secrets[i].Fingerprint == fingerprint {
			r.status.Secrets[i].Uses++
			r.status.Secrets[i].LastUsed = at
		}
	}
}

// looks waits until the operator has looked at the receivers a few more times.
func (s *shop) looks() {
	s.Helper()
	from := s.receivers[0].polls.Load()
	s.Eventually(func() int64 { return s.receivers[0].polls.Load() - from }).Should(BeNumerically(">=", 5))
}
