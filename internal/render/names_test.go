// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hookonce/hookonce/internal/render"
)

// legalNames are names that the API server accepts for an endpoint.
func legalNames() []string {
	names := []string{"payments", "a", "a.b", "a-b", "2026", "9.a", "stripe-live", "a-0123456789", "a.b-0123456789"}
	for _, length := range []int{40, 46, 47, 52, 53, 54, 55, 62, 63, 64, 100, 253} {
		names = append(names,
			strings.Repeat("a", length),
			strings.Repeat("a", length-1)+"b",
			strings.Repeat("a", length-2)+".b",
			"7"+strings.Repeat("a", length-1),
			strings.Repeat("a-", length/2-1)+"z")
	}
	return names
}

func TestNamesFollowTheRulesOfTheirKinds(t *testing.T) {
	for _, endpoint := range legalNames() {
		if problems := validation.IsDNS1123Subdomain(endpoint); problems != nil {
			t.Fatalf("%q is no name of an endpoint: %v", endpoint, problems)
		}
		names := render.NamesOf(endpoint)
		for name, problems := range map[string][]string{
			"Service " + names.Receiver: validation.IsDNS1035Label(names.Receiver),
			"Secret " + names.Keyring:   validation.IsDNS1123Subdomain(names.Keyring),
			"CronJob " + names.Prune:    validation.IsDNS1123Subdomain(names.Prune),
			"label " + names.Label:      validation.IsValidLabelValue(names.Label),
		} {
			if problems != nil {
				t.Errorf("%s: %v", name, problems)
			}
		}
		if len(names.Prune) > 52 {
			t.Errorf("CronJob %s has %d bytes, more than 52", names.Prune, len(names.Prune))
		}
		rotation := render.RotationName(endpoint, 9223372036854775807, strings.Repeat("f", 64), 1000)
		if problems := validation.IsDNS1123Subdomain(rotation); problems != nil {
			t.Errorf("SecretRotation %s: %v", rotation, problems)
		}
	}
}

// TestNamesDoNotCollide takes the names that a name becomes as names of further endpoints, too.
func TestNamesDoNotCollide(t *testing.T) {
	endpoints := legalNames()
	for _, endpoint := range legalNames() {
		names := render.NamesOf(endpoint)
		for _, made := range []string{
			names.Label, strings.TrimSuffix(names.Receiver, "-receiver"),
			strings.TrimSuffix(names.Keyring, "-keyring"), strings.TrimSuffix(names.Prune, "-prune"),
		} {
			if made != endpoint {
				endpoints = append(endpoints, made)
			}
		}
	}
	owners := map[string]string{}
	for _, endpoint := range endpoints {
		names := render.NamesOf(endpoint)
		for kind, name := range map[string]string{
			"receiver": names.Receiver, "keyring": names.Keyring, "prune": names.Prune, "label": names.Label,
		} {
			at := kind + " " + name
			if other, taken := owners[at]; taken && other != endpoint {
				t.Errorf("endpoints %q and %q share %s", other, endpoint, at)
			}
			owners[at] = endpoint
		}
	}
}

func TestNamesAreReadableWhereTheyCanBe(t *testing.T) {
	got := render.NamesOf("payments")
	want := render.Names{Label: "payments", Receiver: "payments-receiver", Keyring: "payments-keyring", Prune: "payments-prune"}
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := render.NamesOf("eu.payments").Receiver; !strings.HasPrefix(got, "eu-payments-") {
		t.Errorf("eu.payments became %s", got)
	}
	if got, want := render.RotationName("payments", 3, "7f3a91c2d001aabb", 2), "payments-r3-7f3a91c2-2"; got != want {
		t.Errorf("second attempt: %q, want %q", got, want)
	}
	if got, want := render.RotationName("payments", 3, "7f3a91c2d001aabb", 1), "payments-r3-7f3a91c2"; got != want {
		t.Errorf("rotation %s, want %s", got, want)
	}
}

func TestSelectorsOfEndpointsAreDisjoint(t *testing.T) {
	seen := map[string]string{}
	for _, endpoint := range legalNames() {
		at := fmt.Sprint(render.ReceiverSelector(endpoint))
		if other, taken := seen[at]; taken && other != endpoint {
			t.Errorf("%q and %q select the same pods", other, endpoint)
		}
		seen[at] = endpoint
	}
	receivers := render.ReceiverSelector("payments")
	prune := render.Labels("payments", render.NamePrune)
	if receivers[render.LabelName] == prune[render.LabelName] {
		t.Error("the Service would send deliveries to pods of the prune job")
	}
}
