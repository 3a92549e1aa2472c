// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package rotation

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/controlplane"
	"github.com/hookonce/hookonce/internal/receiverconfig"
	"github.com/hookonce/hookonce/internal/receiverstatus"
	"github.com/hookonce/hookonce/internal/render"
)

// replicas of each endpoint.
const replicas = 3

// shop is one endpoint with its receivers, each with a kubelet of its own.
type shop struct {
	*testing.T
	api             client.Client
	namespace, name string
	dir             string
	endpoint        *v1alpha1.WebhookEndpoint
	config          *receiverconfig.Config
	receivers       [replicas]*replica
	// known are the SecretRotations that have been dealt with.
	known map[string]bool
}

// replica is a receiver's process and its pod's object.
type replica struct {
	kubelet         *kubelet
	public, private string
	log             string
	process         *process
}

// newShop makes an endpoint whose former secrets are accepted for overlap, and three receivers that have its first secret.
func newShop(t *testing.T, name, secret string, overlap time.Duration, seed uint64) *shop {
	t.Helper()
	api := controlplane.Client(t, server)
	s := &shop{
		T: t, api: api, namespace: controlplane.Namespace(t, api, nil), name: name, dir: filepath.Join(folder, name),
		known: map[string]bool{},
	}
	must(t, os.MkdirAll(s.dir, 0o755))
	database := strings.ReplaceAll(name, "-", "_")
	must(t, pg.CreateDatabase(t.Context(), database))
	s.create(&corev1.Secret{ObjectMeta: s.meta("database"), Data: map[string][]byte{"uri": []byte(pg.URL(database))}})
	s.create(&corev1.Secret{ObjectMeta: s.meta("first"), Data: map[string][]byte{"secret": []byte(secret)}})
	s.endpoint = &v1alpha1.WebhookEndpoint{
		ObjectMeta: s.meta(name),
		Spec: v1alpha1.WebhookEndpointSpec{
			Verification: v1alpha1.Verification{
				Scheme: v1alpha1.SchemePaymos, SecretRef: v1alpha1.SecretKeyReference{Name: "first", Key: "secret"},
				Overlap: v1alpha1.Duration(overlap.String()),
			},
			Database: v1alpha1.Database{SecretRef: v1alpha1.SecretKeyReference{Name: "database", Key: "uri"}},
		},
	}
	s.create(s.endpoint)
	configDir := s.layConfig()
	databaseDir := filepath.Join(s.dir, "database")
	_, err := (&volume{folder: databaseDir}).project(map[string][]byte{"uri": []byte(pg.URL(database))})
	must(t, err)
	s.run("migrate", "--config-dir", configDir, "--database-dir", databaseDir)
	for i := range s.receivers {
		s.receivers[i] = s.newReplica(i, configDir, databaseDir, seed)
	}
	return s
}

func (s *shop) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: s.namespace}
}

func (s *shop) create(object client.Object) {
	s.Helper()
	must(s.T, s.api.Create(s.Context(), object))
}

// get reads an object, and says whether it is there.
func (s *shop) get(name string, object client.Object) bool {
	s.Helper()
	err := s.api.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, object)
	if client.IgnoreNotFound(err) != nil {
		s.Fatal(err)
	}
	return err == nil
}

// layConfig waits for the configuration that the operator renders, and projects it.
func (s *shop) layConfig() string {
	s.Helper()
	config := &corev1.ConfigMap{}
	eventually(s.T, "the operator has rendered "+s.name, time.Minute, func() bool {
		return s.get(render.NamesOf(s.name).Receiver, config) && s.get(render.NamesOf(s.name).Keyring, &corev1.Secret{})
	})
	document := []byte(config.Data[receiverconfig.FileName])
	var err error
	s.config, err = receiverconfig.Parse(document)
	must(s.T, err)
	dir := filepath.Join(s.dir, "config")
	_, err = (&volume{folder: dir}).project(map[string][]byte{receiverconfig.FileName: document})
	must(s.T, err)
	return dir
}

// run runs one of the receiver's short commands, and returns what it printed.
func (s *shop) run(args ...string) string {
	s.Helper()
	out, err := exec.CommandContext(s.Context(), binary, args...).CombinedOutput()
	if err != nil {
		s.Fatalf("receiver %s: %v\n%s", args[0], err, out)
	}
	return string(out)
}

func (s *shop) newReplica(number int, configDir, databaseDir string, seed uint64) *replica {
	s.Helper()
	dir := filepath.Join(s.dir, strconv.Itoa(number))
	r := &replica{public: freeAddress(s.T), private: freeAddress(s.T), log: filepath.Join(s.dir, fmt.Sprintf("receiver-%d.log", number))}
	r.kubelet = &kubelet{
		api: s.api, namespace: s.namespace, name: s.name, shown: map[string]time.Time{},
		keyring: volume{folder: filepath.Join(dir, "keyring")}, source: volume{folder: filepath.Join(dir, "source")},
	}
	must(s.T, r.kubelet.syncKeyring(s.Context()))
	must(s.T, r.kubelet.syncSource(s.Context()))
	var err error
	r.process, err = spawn(binary, r.log, "serve", "--config-dir", configDir, "--database-dir", databaseDir,
		"--keyring-dir", r.kubelet.keyring.folder, "--source-dir", r.kubelet.source.folder,
		"--public-address", r.public, "--private-address", r.private, "--drain-delay", "10ms", "--log-level", "DEBUG")
	must(s.T, err)
	s.Cleanup(r.process.stop)
	eventually(s.T, "a receiver is ready", time.Minute, func() bool {
		status, _ := r.read("/readyz")
		return status == http.StatusOK
	})
	s.pod(number, r)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.kubelet.run(ctx, seed+uint64(number)) }()
	s.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			s.Errorf("kubelet: %v", err)
		}
	})
	return r
}

// pod makes the object by which the operator finds the receiver.
func (s *shop) pod(number int, r *replica) {
	s.Helper()
	_, text, err := net.SplitHostPort(r.private)
	must(s.T, err)
	port, err := strconv.ParseInt(text, 10, 32)
	must(s.T, err)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("%s-%d", s.name, number), Namespace: s.namespace, Labels: render.Labels(s.name, render.NameReceiver),
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "receiver", Image: "hookonce",
			Ports: []corev1.ContainerPort{{Name: receiverstatus.PrivatePort, ContainerPort: int32(port)}},
		}}},
	}
	s.create(pod)
	pod.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, PodIP: "127.0.0.1", PodIPs: []corev1.PodIP{{IP: "127.0.0.1"}},
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
	}
	must(s.T, s.api.Status().Update(s.Context(), pod))
}

// read asks the private port.
func (r *replica) read(path string) (int, string) {
	target := url.URL{Scheme: "http", Host: r.private, Path: path}
	response, err := http.Get(target.String())
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	text := new(strings.Builder)
	if err := response.Write(text); err != nil {
		return 0, err.Error()
	}
	return response.StatusCode, text.String()
}

// freeAddress is an address on loopback that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	return l.Addr().String()
}
