// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package embed_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hookonce/hookonce/receiver/embed"
)

func TestDestinationsThatCannotBePostedToAreRefused(t *testing.T) {
	for name, d := range map[string]embed.Destination{
		"Destinations[0].URL":        {Name: "mail", URL: "mail.example/hook"},
		"Destinations[0].URL, of \"": {Name: "mail", URL: "ftp://mail.example/hook"},
		"URL, of \"mail\"":           {Name: "mail", URL: "https://shop:Secret@mail.example/hook"},
		"a fragment":                 {Name: "mail", URL: "https://mail.example/hook#Secret"},
		"Timeout":                    {Name: "mail", URL: "https://mail.example", Timeout: -time.Second},
		"Delays[1]":                  {Name: "mail", URL: "https://mail.example", Delays: []time.Duration{0, -1}},
		"EventTypes":                 {Name: "mail", URL: "https://mail.example", EventTypes: []string{"invoice.*.paid"}},
	} {
		r, err := embed.Open(t.Context(), embed.Options{
			Database: "postgres://db/shop", Endpoint: "shop/payments", Path: "/hook", Preset: "Stripe",
			Secrets: []embed.Secret{{Text: "whsec_0123456789abcdef"}}, Destinations: []embed.Destination{d},
		})
		if err == nil {
			t.Errorf("%+v is accepted", d)
			r.Close()
			continue
		}
		if text := err.Error(); !errors.Is(err, embed.ErrOptions) || !strings.Contains(text, name) || strings.Contains(text, "Secret") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
