// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/controlplane"
	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/plugin"
	"github.com/hookonce/hookonce/internal/render"
)

var restConfig *rest.Config

func TestMain(m *testing.M) {
	os.Exit(controlplane.Main(m, func(config *rest.Config) { restConfig = config }))
}

// The signing secrets of the tests. Nothing that a command says may contain one.
const (
	alpha = "whsec_test_alpha_5f1d0c2ab7e94c6d8a3e6b90"
	beta  = "whsec_test_beta_c83e7f6410d94b0fa2b5796e"
	gamma = "whsec_test_gamma_09b6e2d5f8714c3a96d0417b"
)

// now is what the plugin's clock says, unless a test says something else.
var now = time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC)

// shop is a namespace with the endpoint payments, whose secret is alpha, and a kubeconfig that leads to it.
type shop struct {
	*testing.T

	admin      client.Client
	namespace  string
	kubeconfig string
	endpoint   *v1alpha1.WebhookEndpoint
	// now is the plugin's clock.
	now func() time.Time
}

func newShop(t *testing.T) *shop {
	t.Helper()
	s := &shop{T: t, admin: controlplane.Client(t, restConfig), kubeconfig: filepath.Join(t.TempDir(), "config")}
	s.now = func() time.Time { return now }
	s.namespace = controlplane.Namespace(t, s.admin, nil)
	s.writeConfig()
	s.endpoint = &v1alpha1.WebhookEndpoint{ObjectMeta: metav1.ObjectMeta{Name: "payments"}}
	s.endpoint.Spec.Verification.Scheme = v1alpha1.SchemePaymos
	s.endpoint.Spec.Verification.SecretRef = v1alpha1.SecretKeyReference{Name: "first", Key: "secret"}
	s.endpoint.Spec.Database.SecretRef = v1alpha1.SecretKeyReference{Name: "database", Key: "uri"}
	s.create(s.endpoint)
	s.secret("first", alpha)
	return s
}

// writeConfig writes a kubeconfig whose current context leads to the namespace, as the administrator.
func (s *shop) writeConfig() {
	s.Helper()
	config := clientcmdapi.NewConfig()
	config.Clusters["test"] = &clientcmdapi.Cluster{Server: restConfig.Host, CertificateAuthorityData: restConfig.CAData}
	config.AuthInfos["admin"] = &clientcmdapi.AuthInfo{
		ClientCertificateData: restConfig.CertData, ClientKeyData: restConfig.KeyData, Token: restConfig.BearerToken,
	}
	config.Contexts["shop"] = &clientcmdapi.Context{Cluster: "test", AuthInfo: "admin", Namespace: s.namespace}
	config.Contexts["elsewhere"] = &clientcmdapi.Context{Cluster: "test", AuthInfo: "admin", Namespace: "default"}
	config.CurrentContext = "shop"
	if err := clientcmd.WriteToFile(*config, s.kubeconfig); err != nil {
		s.Fatal(err)
	}
}

func (s *shop) create(object client.Object) {
	s.Helper()
	object.SetNamespace(s.namespace)
	if err := s.admin.Create(s.Context(), object); err != nil {
		s.Fatal(err)
	}
}

// secret makes a Secret with a signing secret.
func (s *shop) secret(name, text string) {
	s.Helper()
	s.create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string][]byte{"secret": []byte(text)}})
}

// rotation makes a SecretRotation of the endpoint.
func (s *shop) rotation(name, secret string, edits ...func(*v1alpha1.SecretRotation)) *v1alpha1.SecretRotation {
	s.Helper()
	object := &v1alpha1.SecretRotation{ObjectMeta: metav1.ObjectMeta{Name: name}}
	object.Spec.EndpointRef.Name = "payments"
	object.Spec.SecretRef = v1alpha1.SecretKeyReference{Name: secret, Key: "secret"}
	for _, edit := range edits {
		edit(object)
	}
	s.create(object)
	return object
}

func candidate(text, from, rotation string) keyring.Candidate {
	return keyring.Candidate{
		Key: []byte(text), Secret: []byte(text), Source: keyring.Source{Name: from, Key: "secret"}, Rotation: rotation,
	}
}

// adopted is the keyring of an endpoint whose secret is alpha.
func (s *shop) adopted() *keyring.Keyring {
	s.Helper()
	ring, err := keyring.Adopt(rand.Reader, candidate(alpha, "first", ""), now.Add(-48*time.Hour))
	if err != nil {
		s.Fatal(err)
	}
	return ring
}

// promoted is a keyring after a rotation, with the former secret accepted for another day. The rotation may have a name.
func (s *shop) promoted(ring *keyring.Keyring, text, from, rotation string, name ...string) *keyring.Keyring {
	s.Helper()
	by := candidate(text, from, rotation)
	by.Name = strings.Join(name, "")
	next, _, err := ring.Promote(by, now.Add(-time.Hour), now.Add(24*time.Hour))
	if err != nil {
		s.Fatal(err)
	}
	return next
}

// put makes the endpoint's keyring.
func (s *shop) put(ring *keyring.Keyring) {
	s.Helper()
	document, err := ring.Encode()
	if err != nil {
		s.Fatal(err)
	}
	secret := render.KeyringSecret(s.endpoint, document)
	if err := controllerutil.SetControllerReference(s.endpoint, secret, s.admin.Scheme()); err != nil {
		s.Fatal(err)
	}
	s.create(secret)
}

// outcome is what a command line came to.
type outcome struct {
	code     int
	out, err string
}

// run executes a command line against the shop, and looks for secrets in what it says.
func (s *shop) run(args ...string) outcome {
	s.Helper()
	var out, err text
	args = append(args, "--kubeconfig", s.kubeconfig)
	code := plugin.Run(s.Context(), args, plugin.Environment{
		Out: &out, Err: &err, Version: "test", Now: s.now,
	})
	for _, secret := range []string{alpha, beta, gamma} {
		if strings.Contains(out.String()+err.String(), secret) {
			s.Errorf("%q shows a secret", args)
		}
	}
	return outcome{code, out.String(), err.String()}
}

// expect fails the test unless an outcome has an exit code, and says each of the texts.
func (s *shop) expect(got outcome, code int, texts ...string) {
	s.Helper()
	if got.code != code {
		s.Errorf("exit code %d, want %d\n%s%s", got.code, code, got.out, got.err)
	}
	for _, text := range texts {
		if !strings.Contains(got.out+got.err, text) {
			s.Errorf("%q is not in:\n%s%s", text, got.out, got.err)
		}
	}
}

// text is a buffer that several goroutines may use.
type text struct {
	mutex  sync.Mutex
	buffer bytes.Buffer
}

func (t *text) Write(p []byte) (int, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.buffer.Write(p)
}

func (t *text) String() string {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.buffer.String()
}

// allow gives a user rights in the namespace.
func (s *shop) allow(user string, rules ...rbacv1.PolicyRule) {
	s.Helper()
	s.create(&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: user}, Rules: rules})
	s.create(&rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
	})
}
