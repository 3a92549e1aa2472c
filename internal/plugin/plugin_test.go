// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookonce/hookonce/internal/plugin"
)

var update = flag.Bool("update", false, "rewrite testdata/*.yaml")

// outcome is what a command line came to.
type outcome struct {
	code     int
	out, err string
}

func run(t *testing.T, args ...string) outcome {
	t.Helper()
	var out, err bytes.Buffer
	code := plugin.Run(t.Context(), args, plugin.Environment{
		Out: &out, Err: &err, Version: "test",
		Now: func() time.Time { return time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC) },
	})
	return outcome{code, out.String(), err.String()}
}

// TestManifests compares what is printed with testdata/<case>.yaml. The API server judges the same files in the tests of
// cmd/kubectl-hookonce.
func TestManifests(t *testing.T) {
	long := strings.Repeat("a-long-name.", 20) + "end"
	cases := map[string][]string{
		"rotate":       {"rotate", "payments", "--secret", "paymos-2026-q4/secret"},
		"rotate-named": {"rotate", "payments", "--secret", "paymos-2026-q4/secret", "--name", "q4", "-n", "shop", "--overlap", "1h30m"},
		"rotate-unused": {
			"rotate", "payments", "--secret", "payments-q4/signing_Key", "--namespace=shop", "--retire", "WhenUnused", "--max-overlap", "72h",
			"--reason", "yearly: see \"INC-4711\"\nand #security",
		},
		"rotate-zero": {"rotate", "payments", "--secret=payments/2026", "--overlap=0s"},
		"rotate-long": {"rotate", long, "--secret", "new." + long + "/secret"},
		"replay": {
			"replay", "payments", "-n", "shop", "--destination", "fulfilment", "--received-after", "4h", "--received-before",
			"2026-10-01T13:30:00+02:00", "--event-type", "invoice.*,invoice.paid", "--event-id", "evt_1,a", "--event-id", "evt 2", "--failure-reason",
			"answered 503", "--approval", "Manual", "--rate", "50", "--stop-after-failures", "3", "--reason", "its database was full: \"INC-4711\"",
		},
		"replay-all": {"replay", "payments", "--name", "again", "--state", "Delivered"},
		"revoke":     {"revoke", "payments", "--secret", "paymos-2026-q5/secret", "-n", "shop", "--reason", "INC-4711"},
	}
	for name, args := range cases {
		t.Run(name, func(t *testing.T) {
			got := run(t, append(args, "--local")...)
			if got.code != plugin.ExitOK || !strings.Contains(got.err, "Next:") {
				t.Fatalf("exit code %d\n%s", got.code, got.err)
			}
			if again := run(t, append(args, "--local")...); again != got {
				t.Errorf("the same command says something else:\n%s", cmp.Diff(got, again))
			}
			file := filepath.Join("testdata", name+".yaml")
			if *update {
				if err := os.WriteFile(file, []byte(got.out), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.out); diff != "" {
				t.Errorf("manifest (-want +got):\n%s", diff)
			}
		})
	}
	files, err := filepath.Glob(filepath.Join("testdata", "*.yaml"))
	if err != nil || len(files) != len(cases) {
		t.Errorf("%d files for %d cases (%v)", len(files), len(cases), err)
	}
}

// TestMistakes names the flag and the remedy, and reads and writes nothing.
func TestMistakes(t *testing.T) {
	local := []string{"rotate", "payments", "--local"}
	with := func(args ...string) []string { return append(slices.Clone(local), args...) }
	for name, test := range map[string]struct {
		args  []string
		texts []string
	}{
		"NoSecret":         {local, []string{"--secret is missing", "Secret that holds"}},
		"NoKey":            {with("--secret", "q4"), []string{"--secret q4 has no key", "such as q4/secret"}},
		"EmptyKey":         {with("--secret", "q4/"), []string{"--secret", "no key behind the slash", "NAME/KEY"}},
		"BadName":          {with("--secret", "Q4/secret"), []string{"--secret", "lower case", "NAME/KEY"}},
		"BadKey":           {with("--secret", "q4/a/b"), []string{"--secret", "NAME/KEY"}},
		"BadEndpoint":      {[]string{"rotate", "Pay_ments", "--local", "--secret", "q4/secret"}, []string{"ENDPOINT"}},
		"NoEndpoint":       {[]string{"rotate", "--local", "--secret", "q4/secret"}, []string{"ENDPOINT is missing", "kubectl get whe"}},
		"TwoEndpoints":     {[]string{"rotate", "a", "b", "--secret", "q4/secret"}, []string{`"b"`, "ENDPOINT"}},
		"BadRotationName":  {with("--secret", "q4/secret", "--name", "Q 4"), []string{"--name"}},
		"BadNamespace":     {with("--secret", "q4/secret", "-n", "a.b"), []string{"--namespace"}},
		"OverlapNoUnit":    {with("--secret", "q4/secret", "--overlap", "24"), []string{"--overlap", "24h or 90m"}},
		"OverlapDays":      {with("--secret", "q4/secret", "--overlap", "1d"), []string{"--overlap", "24h or 90m"}},
		"OverlapNegative":  {with("--secret", "q4/secret", "--overlap=-1h"), []string{"--overlap", "24h or 90m"}},
		"OverlapTooLong":   {with("--secret", "q4/secret", "--overlap", "169h"), []string{"--overlap 169h", "168h"}},
		"OverlapMicros":    {with("--secret", "q4/secret", "--overlap", "9us"), []string{"--overlap", "24h or 90m"}},
		"Retire":           {with("--secret", "q4/secret", "--retire", "Never"), []string{"--retire", "AtDeadline or WhenUnused"}},
		"LongestAlone":     {with("--secret", "q4/secret", "--max-overlap", "72h"), []string{"--max-overlap", "--retire WhenUnused"}},
		"LongestTooShort":  {with("--secret", "q4/secret", "--retire", "WhenUnused", "--max-overlap", "1h"), []string{"--max-overlap 1h", "--overlap 24h"}},
		"LocalAndApply":    {with("--secret", "q4/secret", "--apply"), []string{"--local and --apply"}},
		"WaitWithoutApply": {with("--secret", "q4/secret", "--wait"), []string{"--wait needs --apply"}},
		"Timeout":          {with("--secret", "q4/secret", "--timeout", "0s"), []string{"--timeout"}},
		"UnknownFlag":      {with("--secret", "q4/secret", "--overlp", "1h"), []string{"--overlp"}},
		"UnknownCommand":   {[]string{"rotte"}, []string{"rotte", "rotate"}},
		"ReplayState":      {[]string{"replay", "payments", "--local", "--state", "Pending"}, []string{"--state", "Failed or Delivered"}},
		"ReplayApproval":   {[]string{"replay", "payments", "--local", "--approval", "Yes"}, []string{"--approval", "Automatic or Manual"}},
		"ReplayRate":       {[]string{"replay", "payments", "--local", "--rate", "1001"}, []string{"--rate 1001", "1 to 1000"}},
		"ReplayFailures":   {[]string{"replay", "payments", "--local", "--stop-after-failures=-1"}, []string{"--stop-after-failures -1"}},
		"ReplayWhen":       {[]string{"replay", "payments", "--local", "--received-after", "yesterday"}, []string{"--received-after", "or how long ago"}},
		"ReplayOrder":      {[]string{"replay", "payments", "--local", "--received-after", "1h", "--received-before", "2h"}, []string{"--received-after must be before"}},
		"ReplayReason":     {[]string{"replay", "payments", "--local", "--state", "Delivered", "--failure-reason", "x"}, []string{"--failure-reason is for --state Failed"}},
		"ReplayTo":         {[]string{"replay", "payments", "--local", "--destination", "Full_filment"}, []string{"--destination"}},
		"ReplayLocalApply": {[]string{"replay", "payments", "--local", "--apply"}, []string{"--local and --apply"}},
		"DeliveriesNobody": {[]string{"deliveries"}, []string{"ENDPOINT is missing"}},
		"RevokeOverlap":    {[]string{"revoke", "payments", "--local", "--secret", "q4/secret", "--overlap", "1h"}, []string{"--overlap"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, test.args...)
			if got.code != plugin.ExitUsage || got.out != "" {
				t.Errorf("exit code %d, output %q; want %d and nothing", got.code, got.out, plugin.ExitUsage)
			}
			for _, text := range test.texts {
				if !strings.Contains(got.err, text) {
					t.Errorf("%q is not in %q", text, got.err)
				}
			}
		})
	}
}

// TestNoCluster has a kubeconfig that is not there, and one that leads nowhere.
func TestNoCluster(t *testing.T) {
	nowhere := filepath.Join(t.TempDir(), "config")
	got := run(t, "rotate", "payments", "--secret", "q4", "--kubeconfig", nowhere)
	if got.code != plugin.ExitFailed || !strings.Contains(got.err, "--kubeconfig") || !strings.Contains(got.err, "--local") {
		t.Errorf("exit code %d: %s", got.code, got.err)
	}
	if got := run(t, "rotate", "payments", "--secret", "q4/secret", "--kubeconfig", nowhere, "--local"); got.code != plugin.ExitOK {
		t.Errorf("with --local exit code %d: %s", got.code, got.err)
	}
	t.Setenv("KUBECONFIG", nowhere)
	if got := run(t, "rotate", "payments", "--secret", "q4", "--server", "http://127.0.0.1:1"); got.code != plugin.ExitFailed ||
		!strings.Contains(got.err, "--local") {
		t.Errorf("exit code %d: %s", got.code, got.err)
	}
}

// TestStepsFollowTheDocuments pins what people are told to do, and in which order.
func TestStepsFollowTheDocuments(t *testing.T) {
	rotate := run(t, "rotate", "payments", "--secret", "q4/secret", "--local", "--overlap", "12h", "-n", "shop").err
	revoke := run(t, "revoke", "payments", "--secret", "q4/secret", "--local").err
	unused := run(t, "rotate", "payments", "--secret", "q4/secret", "--local", "--retire", "WhenUnused").err
	for name, test := range map[string]struct {
		said  string
		order []string
	}{
		"Rotate": {rotate, []string{
			"1. Commit", "Secret q4", "kubectl wait srot/payments-q4 -n shop --for=condition=Propagated --timeout=10m",
			"Let the provider sign", "12h longer", "set spec.verification.secretRef to {name: q4, key: secret}; it rotates nothing",
			"--for=condition=PreviousRetired --timeout=13h\n", "out of Git",
		}},
		"Revoke": {revoke, []string{
			"kubectl wait srot/payments-q4 --for=condition=Propagated", "at once", "refused", "not in the same commit",
			"--for=condition=PreviousRetired --timeout=5m\n",
		}},
		"WhenUnused": {unused, []string{"while it is used", "--timeout=169h\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			rest := test.said
			for _, text := range test.order {
				_, after, ok := strings.Cut(rest, text)
				if !ok {
					t.Fatalf("%q is missing, or too early, in:\n%s", text, test.said)
				}
				rest = after
			}
		})
	}
}
