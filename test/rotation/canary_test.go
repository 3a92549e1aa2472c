// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package rotation

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/receiverconfig"
	"github.com/hookonce/hookonce/internal/render"
	"github.com/hookonce/hookonce/test/canary"
)

// secretsAppearNowhere rotates, refuses, revokes and runs every command with secrets, and looks for them everywhere but in
// Secrets.
func secretsAppearNowhere(t *testing.T) {
	const seed = 4711
	first := secretOf("canary", seed, -1)
	s := newShop(t, "canary", first, *overlap, seed)
	r := &run{T: t, shop: s, seed: seed, named: "first", current: first, provider: newProvider(s, first, seed)}
	for _, plan := range []step{{number: 0, stacked: true}, {number: 1, applied: true, revoke: later}, {number: 2, applied: true, revoke: atOnce}} {
		must(t, r.rotate(plan))
	}
	secrets := []string{first, secretOf("canary", seed, 0), secretOf("canary", seed, 1), secretOf("canary", seed, 2)}
	places, more := s.refusals(r.provider, seed)
	secrets = append(secrets, more...)
	places = append(places, s.commands(secrets)...)
	places = append(places, s.receiverPlaces(t)...)
	places = append(places, s.clusterPlaces(t)...)
	places = append(places, s.databasePlaces(t)...)
	for _, found := range canary.Find(places, secrets) {
		t.Error(found)
	}
	// The same search finds them where they are.
	keyring := &corev1.Secret{}
	s.get(render.NamesOf(s.name).Keyring, keyring)
	document, err := json.Marshal(keyring)
	must(t, err)
	if len(canary.Find([]canary.Place{{Name: "the keyring", Text: string(document)}}, secrets[3:4])) == 0 {
		t.Error("the search does not find the current secret in the keyring")
	}
	size := 0
	for _, p := range places {
		size += len(p.Text)
	}
	t.Logf("looked for %d secrets in %d places with %d bytes in all", len(secrets), len(places), size)
}

// refusals lets the operator refuse secrets that cannot be used, and the receivers deliveries that are not signed right. It
// returns the receivers' answers, and the secrets.
func (s *shop) refusals(p *provider, seed uint64) (answers []canary.Place, secrets []string) {
	s.Helper()
	for i, bad := range []string{" %s", "%s\n\nx", "\ufeff%s"} {
		name := fmt.Sprintf("bad-%d", i)
		secret := fmt.Sprintf(bad, secretOf(name, seed, 0))
		secrets = append(secrets, strings.Trim(secret, " \ufeff"), secretOf(name, seed, 0))
		object, err := s.apply(step{number: 100 + i}, name, secret)
		must(s.T, err)
		must(s.T, s.await(object, v1alpha1.ConditionStalled))
	}
	for i, secret := range []string{secretOf("unknown", seed, 0), secretOf("canary", seed, -1)} {
		status, text := p.deliver(s.receivers[0], fmt.Sprintf("refused-%d", i), secret)
		if status != http.StatusUnauthorized {
			s.Errorf("a delivery with a wrong secret got %d", status)
		}
		secrets = append(secrets, secret)
		answers = append(answers, canary.Place{Name: "the answer to a refused delivery", Text: text})
	}
	// Somebody pastes the secret where it does not belong.
	post, err := http.NewRequestWithContext(s.Context(), http.MethodPost, "http://"+s.receivers[0].public+s.config.Path, strings.NewReader("{}"))
	must(s.T, err)
	post.Header.Set("X-Webhook-Signature", secretOf("canary", seed, 2))
	answer, err := p.client.Do(post)
	must(s.T, err)
	defer answer.Body.Close()
	text := new(strings.Builder)
	must(s.T, answer.Write(text))
	return append(answers, canary.Place{Name: "the answer to a secret as signature", Text: text.String()}), secrets
}

// commands runs the receiver's short commands with the secrets, right and wrong, and returns what they print.
func (s *shop) commands(secrets []string) []canary.Place {
	s.Helper()
	config := filepath.Join(s.dir, "config")
	var files []string
	for i, secret := range secrets {
		file := filepath.Join(s.dir, "secret-"+strconv.Itoa(i))
		must(s.T, os.WriteFile(file, []byte(secret), 0o600))
		files = append(files, file)
	}
	capture := "POST " + s.config.Path + " HTTP/1.1\nHost: shop\nContent-Type: application/json\n" +
		"X-Webhook-Signature: t=" + strconv.FormatInt(time.Now().Unix(), 10) + ",v1=" + strings.Repeat("ab", 32) + "\n\n{\"event_id\":\"a\"}"
	document := filepath.Join(config, receiverconfig.FileName)
	url := "http://" + s.receivers[0].public + s.config.Path
	database := filepath.Join(s.dir, "database")
	var places []canary.Place
	for _, args := range [][]string{
		{"verify", "--endpoint", document, "--secret-file", files[0], "--expired-secret-file", files[1]},
		{"doctor", "--endpoint", document, "--secret-file", files[3], "--expired-secret-file", files[4]},
		{"doctor", "-o", "json", "--endpoint", document, "--secret-file", files[0]},
		{"send", "--url", url, "--config-dir", config, "--secret-file", files[3], "--event-id", "sent"},
		{"send", "--url", url, "--config-dir", config, "--secret-file", files[0], "--event-id", "sent-wrong", "-o", "json"},
		{"migrate", "--config-dir", config, "--database-dir", database, "--log-level", "DEBUG"},
		{"prune", "--config-dir", config, "--database-dir", database, "--log-level", "DEBUG"},
		{"replay", "--failed", "--config-dir", config, "--database-dir", database, "--log-level", "DEBUG"},
	} {
		cmd := exec.CommandContext(s.Context(), binary, args...)
		cmd.Stdin = strings.NewReader(capture)
		// Those with a wrong secret end with an error; what they say is what matters.
		out, err := cmd.CombinedOutput()
		places = append(places, canary.Place{Name: "receiver " + args[0], Text: fmt.Sprintf("%s %v", out, err)})
	}
	return places
}

// receiverPlaces are what receivers show and write.
func (s *shop) receiverPlaces(t *testing.T) []canary.Place {
	t.Helper()
	var places []canary.Place
	for i, r := range s.receivers {
		for _, path := range []string{"/status", "/metrics", "/readyz", "/livez", "/nothing"} {
			_, text := r.read(path)
			places = append(places, canary.Place{Name: fmt.Sprintf("%s of receiver %d", path, i), Text: text})
		}
		places = append(places, file(t, r.log), file(t, fmt.Sprintf("/proc/%d/cmdline", r.process.cmd.Process.Pid)),
			file(t, fmt.Sprintf("/proc/%d/environ", r.process.cmd.Process.Pid)))
	}
	return places
}

func file(t *testing.T, path string) canary.Place {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	return canary.Place{Name: path, Text: string(text)}
}

// clusterPlaces are everything that the operator writes but Secrets, with what it logs and counts.
func (s *shop) clusterPlaces(t *testing.T) []canary.Place {
	t.Helper()
	places := []canary.Place{file(t, operatorLog)}
	lists := map[string]client.ObjectList{
		"WebhookEndpoints": &v1alpha1.WebhookEndpointList{}, "SecretRotations": &v1alpha1.SecretRotationList{},
		"events": &eventsv1.EventList{}, "ConfigMaps": &corev1.ConfigMapList{}, "Deployments": &appsv1.DeploymentList{},
		"Services": &corev1.ServiceList{}, "PodDisruptionBudgets": &policyv1.PodDisruptionBudgetList{},
		"NetworkPolicies": &networkingv1.NetworkPolicyList{}, "CronJobs": &batchv1.CronJobList{}, "pods": &corev1.PodList{},
	}
	for name, list := range lists {
		must(t, s.api.List(t.Context(), list, client.InNamespace(s.namespace)))
		document, err := json.Marshal(list)
		must(t, err)
		if !strings.Contains(string(document), s.name) {
			t.Errorf("there are no %s", name)
		}
		places = append(places, canary.Place{Name: name, Text: string(document)})
	}
	secrets := &corev1.SecretList{}
	must(t, s.api.List(t.Context(), secrets, client.InNamespace(s.namespace)))
	for i := range secrets.Items {
		document, err := json.Marshal(secrets.Items[i].ObjectMeta)
		must(t, err)
		places = append(places, canary.Place{Name: "metadata of Secret " + secrets.Items[i].Name, Text: string(document)})
	}
	families, err := metrics.Registry.Gather()
	must(t, err)
	text := new(strings.Builder)
	for _, family := range families {
		fmt.Fprintln(text, family)
	}
	return append(places, canary.Place{Name: "the operator's metrics", Text: text.String()})
}

// databasePlaces is the whole database, as text.
func (s *shop) databasePlaces(t *testing.T) []canary.Place {
	t.Helper()
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/pg_dump")
	must(t, err)
	if len(found) == 0 {
		t.Fatal("there is no pg_dump beside the system's Postgres")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	dump, err := exec.CommandContext(ctx, found[len(found)-1], "--inserts", pg.URL("canary")).Output()
	must(t, err)
	if !strings.Contains(string(dump), "canary-witness") {
		t.Error("the dump has no event")
	}
	return []canary.Place{{Name: "the database", Text: string(dump)}}
}
