// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package scheme

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestPresetsAreValid(t *testing.T) {
	want := []string{
		Adyen, Convoy, Dropbox, GitHub, GitLab, GitLabToken, HubSpot, Meta, OpenAI, Paddle, Paymos, Shopify, Slack, Square,
		StandardWebhooks, StandardWebhooksEd25519, Stripe, Svix, Twilio, Zoom,
	}
	if got := slices.Sorted(slices.Values(Names())); !cmp.Equal(got, want) {
		t.Errorf("names: %v, want %v", got, want)
	}
	for _, name := range Names() {
		s, ok := Preset(name)
		if !ok || s.Name != name {
			t.Errorf("Preset(%q) = %q, %v", name, s.Name, ok)
		}
		if err := Validate(s); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if s.EventIDSigned != s.CoversID() {
			t.Errorf("%s: EventIDSigned is %v, and the scheme says %v", name, s.EventIDSigned, s.CoversID())
		}
		if diff := cmp.Diff(s, s.WithDefaults()); diff != "" {
			t.Errorf("%s leaves a default open (-preset +default):\n%s", name, diff)
		}
	}
}

func TestPresetIsUnknown(t *testing.T) {
	for _, name := range []string{"", HMAC, "paymos", "svix"} {
		if s, ok := Preset(name); ok {
			t.Errorf("Preset(%q) = %+v", name, s)
		}
	}
}

func TestPresetIsACopy(t *testing.T) {
	s, _ := Preset(Paymos)
	s.Timestamp.Prefix = "x="
	s.EventID[0].Path[0] = "other"
	s.EventType[0].Path = nil
	again, _ := Preset(Paymos)
	if again.Timestamp.Prefix != "t=" || again.EventID[0].Path[0] != "event_id" || len(again.EventType[0].Path) != 1 {
		t.Errorf("a caller changed the table: %+v", again)
	}
}

func TestRetryHorizons(t *testing.T) {
	ladder := func(steps ...time.Duration) (total time.Duration) {
		for _, step := range steps {
			total += step
		}
		return total
	}
	const m, h = time.Minute, time.Hour
	for name, want := range map[string]time.Duration{
		Paymos:           ladder(m, 2*m, 4*m, 8*m, 16*m, 32*m, h, 2*h, 4*h, 8*h),
		StandardWebhooks: ladder(5*time.Second, 5*m, 30*m, 2*h, 5*h, 10*h, 14*h, 20*h, 24*h),
		Stripe:           3 * 24 * h,
		GitHub:           3 * 24 * h,
		Svix:             ladder(5*time.Second, 300*time.Second, 1800*time.Second, 2*h, 5*h, 10*h, 10*h),
		Adyen:            30 * 24 * h,
		Meta:             36 * h,
	} {
		if s, _ := Preset(name); s.Behavior.RetryHorizon != want {
			t.Errorf("%s: %v, want %v", name, s.Behavior.RetryHorizon, want)
		}
	}
}

// TestJSONRoundTrip holds because receivers get the scheme as JSON in their configuration.
func TestJSONRoundTrip(t *testing.T) {
	for _, name := range Names() {
		s, _ := Preset(name)
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var again Scheme
		if err := json.Unmarshal(text, &again); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(s, again); diff != "" {
			t.Errorf("%s (-sent +received):\n%s", name, diff)
		}
	}
}

// TestEveryPresetIsDocumented compares the page with the table, as far as cells can be compared.
func TestEveryPresetIsDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "reference", "schemes.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, events, _ := strings.Cut(string(page), "## What identifies an event")
	rows := map[string][]string{}
	for line := range strings.Lines(events) {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		for name := range strings.SplitSeq(strings.ReplaceAll(cells[0], "…", StandardWebhooks), ", ") {
			if len(cells) == 8 {
				rows[name] = cells
			}
		}
	}
	for _, s := range presets {
		cells := rows[s.Name]
		if cells == nil {
			t.Errorf("%s has no row", s.Name)
			continue
		}
		signed, changes := map[bool]string{true: "yes", false: "no"}, map[bool]string{true: "yes", false: "no"}
		if s.EventID[0].PerRequest {
			signed[true] = "ours"
		}
		if got := []string{cells[2], cells[6], cells[7]}; !cmp.Equal(got, []string{signed[s.EventIDSigned], changes[s.Behavior.BodyChanges], string(s.Behavior.Rotation)}) {
			t.Errorf("%s: the page says %v", s.Name, got)
		}
		hours := strings.NewReplacer(" days", "h", " h, by hand", "h", " h ", "h", " min ", "m", " min", "m", " h", "h", " s", "s").Replace(cells[5])
		horizon, err := time.ParseDuration(hours)
		if strings.Contains(cells[5], "days") {
			horizon *= 24
		}
		if err != nil || horizon != s.Behavior.RetryHorizon {
			t.Errorf("%s: the page says %q, which is %v (%v), and the table %v", s.Name, cells[5], horizon, err, s.Behavior.RetryHorizon)
		}
	}
}
