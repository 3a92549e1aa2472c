// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookonce/hookonce/controllers"
	"github.com/hookonce/hookonce/internal/render"
)

// environment returns a getenv of the given variables.
func environment(variables map[string]string) func(string) string {
	return func(name string) string { return variables[name] }
}

func TestParse(t *testing.T) {
	defaults := controllers.Options{
		Render:              render.Settings{OperatorNamespace: "ops"},
		StatusInterval:      10 * time.Second,
		SecretInterval:      30 * time.Second,
		PropagationInterval: 2 * time.Second,
		MetricsAddress:      ":8080",
		ProbeAddress:        ":8081",
	}
	getenv := environment(map[string]string{"POD_NAME": "operator-0", "POD_NAMESPACE": "ops"})
	got, err := parse(nil, getenv)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(defaults, got); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}

	got, err = parse([]string{
		"--receiver-image=other:v2", "--status-interval=5s", "--secret-interval=1m", "--namespaces=shop, billing,",
		"--metrics-bind-address=0", "--health-probe-bind-address=127.0.0.1:9", "--leader-elect",
		"--destination-networks=10.96.0.0/16, fd00::/64",
	}, getenv)
	if err != nil {
		t.Fatal(err)
	}
	want := defaults
	want.Render.Image, want.StatusInterval, want.SecretInterval = "other:v2", 5*time.Second, time.Minute
	want.Render.DestinationNetworks = []string{"10.96.0.0/16", "fd00::/64"}
	want.Namespaces, want.MetricsAddress, want.ProbeAddress, want.LeaderElection = []string{"shop", "billing"}, "0", "127.0.0.1:9", true
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("flags (-want +got):\n%s", diff)
	}
}

func TestParseRefuses(t *testing.T) {
	pod := environment(map[string]string{"POD_NAME": "operator-0"})
	for name, test := range map[string]struct {
		args   []string
		getenv func(string) string
		want   string
	}{
		"NoImage":       {nil, environment(nil), "--receiver-image"},
		"Argument":      {[]string{"serve"}, pod, "serve"},
		"ShortInterval": {[]string{"--status-interval=10ms"}, pod, "1s"},
		"NoNetwork":     {[]string{"--destination-networks=10.0.0.1"}, pod, "10.0.0.1"},
		"HostInNetwork": {[]string{"--destination-networks=10.0.0.1/8"}, pod, "10.0.0.1/8"},
		"UnknownFlag":   {[]string{"--phase=moon"}, pod, "phase"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := parse(test.args, test.getenv); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v does not say %q", err, test.want)
			}
		})
	}
}
