// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package embed

import (
	"fmt"
	"strings"

	"github.com/hookonce/hookonce/internal/receiverconfig"
	"github.com/hookonce/hookonce/internal/scheme"
)

// check says which of the options cannot work; the scheme and the secrets are checked as they are read.
func (o *Options) check() error {
	for _, required := range []struct{ name, value string }{
		{"Database", o.Database}, {"Endpoint", o.Endpoint}, {"Path", o.Path},
	} {
		if required.value == "" {
			return fmt.Errorf("%w: %s is required", ErrOptions, required.name)
		}
	}
	switch {
	case !strings.HasPrefix(o.Path, "/"):
		return fmt.Errorf("%w: Path is %q: begin it with /", ErrOptions, o.Path)
	case o.PublicURL != "" && !receiverconfig.ValidPublicURL(o.PublicURL):
		return fmt.Errorf("%w: PublicURL: write an absolute http or https URL without a user, a query and a fragment", ErrOptions)
	case o.Tolerance < 0:
		return fmt.Errorf("%w: Tolerance is negative: leave it out for %v", ErrOptions, DefaultTolerance)
	case o.MaxBodyBytes < 0:
		return fmt.Errorf("%w: MaxBodyBytes is negative: leave it out for 1 MiB", ErrOptions)
	case o.Kept.Claims < 0 || o.Kept.Payloads < 0:
		return fmt.Errorf("%w: Kept is negative: leave it out if it is not known yet", ErrOptions)
	}
	if err := o.checkEffects(); err != nil {
		return err
	}
	return o.checkDestinations()
}

func (o *Options) checkEffects() error {
	names := map[string]bool{}
	for i, e := range o.Effects {
		if e.Name == "" || names[e.Name] || (e.Run == nil) == (e.Function == "") {
			return fmt.Errorf("%w: Effects[%d], %q, needs a Name of its own, and one of Run and Function", ErrOptions, i, e.Name)
		}
		names[e.Name] = true
		if err := checkTypes(fmt.Sprintf("Effects[%d].EventTypes", i), e.EventTypes); err != nil {
			return err
		}
	}
	return nil
}

func (o *Options) checkDestinations() error {
	names := map[string]bool{}
	for i, d := range o.Destinations {
		if d.Name == "" || names[d.Name] {
			return fmt.Errorf("%w: Destinations[%d], %q, needs a Name of its own", ErrOptions, i, d.Name)
		}
		names[d.Name] = true
		if !receiverconfig.ValidDestinationURL(d.URL) {
			return fmt.Errorf("%w: Destinations[%d].URL, of %q: write an absolute http or https URL without a user and a fragment",
				ErrOptions, i, d.Name)
		}
		if d.Timeout < 0 {
			return fmt.Errorf("%w: Destinations[%d].Timeout, of %q, is negative: leave it out for the default", ErrOptions, i, d.Name)
		}
		for j, delay := range d.Delays {
			if delay < 0 {
				return fmt.Errorf("%w: Destinations[%d].Delays[%d], of %q, is negative", ErrOptions, i, j, d.Name)
			}
		}
		if err := checkTypes(fmt.Sprintf("Destinations[%d].EventTypes", i), d.EventTypes); err != nil {
			return err
		}
	}
	return nil
}

func checkTypes(field string, patterns []string) error {
	for _, pattern := range patterns {
		if !receiverconfig.ValidEventType(pattern) {
			return fmt.Errorf("%w: %s has %q: write a type, a prefix such as invoice.*, or *", ErrOptions, field, pattern)
		}
	}
	return nil
}

// checkURL says whether the scheme needs the URL that is not given.
func (o *Options) checkURL(s Scheme) error {
	if o.PublicURL == "" && s.Signs(scheme.PlaceholderURL) {
		return fmt.Errorf("%w: PublicURL is required: signatures of %s cover the URL that the provider was given", ErrOptions, s.Name)
	}
	return nil
}
