// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"errors"
	"fmt"
	"time"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/receiverconfig"
	"github.com/hookonce/hookonce/internal/scheme"
)

// What an endpoint gets that says nothing. The admission rules fill in most of it; the rest is left open in the schema, or
// comes from a client that has no schema.
const (
	defaultTolerance    = 5 * time.Minute
	defaultTimeout      = 10 * time.Second
	defaultClaims       = 720 * time.Hour
	defaultPayloads     = 168 * time.Hour
	defaultSchedule     = "17 3 * * *"
	defaultSchema       = "hookonce"
	defaultMaxBodyBytes = 1 << 20
	defaultReplicas     = 2
	pathPrefix          = "/webhooks/"
)

// defaultDelays is the ladder of Destination.Retry: eleven attempts over 16 h 3 min.
func defaultDelays() []receiverconfig.Duration {
	var delays []receiverconfig.Duration
	for _, delay := range []time.Duration{
		time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 16 * time.Minute, 32 * time.Minute,
		time.Hour, 2 * time.Hour, 4 * time.Hour, 8 * time.Hour,
	} {
		delays = append(delays, receiverconfig.Duration(delay))
	}
	return delays
}

// Path returns the path that an endpoint's receivers serve.
func Path(endpoint *v1alpha1.WebhookEndpoint) string {
	if endpoint.Spec.Exposure.Path != "" {
		return endpoint.Spec.Exposure.Path
	}
	return pathPrefix + endpoint.Name
}

// PublicURL returns the URL, without a query, that the provider is given, or nothing if the spec does not say.
func PublicURL(endpoint *v1alpha1.WebhookEndpoint) string {
	exposure := &endpoint.Spec.Exposure
	switch {
	case exposure.URL != "":
		return exposure.URL
	case exposure.Host != "":
		return "https://" + exposure.Host + Path(endpoint)
	default:
		return ""
	}
}

// Replicas returns how many receivers an endpoint should have.
func Replicas(endpoint *v1alpha1.WebhookEndpoint) int32 {
	if endpoint.Spec.Receiver.Replicas == nil {
		return defaultReplicas
	}
	return *endpoint.Spec.Receiver.Replicas
}

// Config returns what the endpoint's receivers are told to do. The error says which field of the spec cannot be used.
func Config(endpoint *v1alpha1.WebhookEndpoint) (*receiverconfig.Config, error) {
	spec := &endpoint.Spec
	described, err := Scheme(&spec.Verification)
	if err != nil {
		return nil, err
	}
	if described.Signs(scheme.PlaceholderURL) && PublicURL(endpoint) == "" {
		return nil, fmt.Errorf("spec.exposure.url: signatures of scheme %s cover the URL that the provider was given; "+
			"set it, or exposure.host", described.Name)
	}
	var parse durations
	config := &receiverconfig.Config{
		Version:      receiverconfig.Version,
		Endpoint:     endpoint.Namespace + "/" + endpoint.Name,
		Path:         Path(endpoint),
		PublicURL:    PublicURL(endpoint),
		Scheme:       described,
		Tolerance:    parse.or("verification.tolerance", spec.Verification.Tolerance, defaultTolerance),
		MaxBodyBytes: spec.Limits.MaxBodyBytes,
		Schema:       spec.Database.Schema,
		Effects:      effects(spec.Effects),
		Retention: receiverconfig.Retention{
			Claims:   parse.or("retention.claims", spec.Retention.Claims, max(defaultClaims, receiverconfig.LeastClaims(described))),
			Payloads: parse.or("retention.payloads", spec.Retention.Payloads, defaultPayloads),
			Attempts: parse.or("retention.attempts", spec.Retention.Attempts, 0),
			Failed:   parse.or("retention.failed", spec.Retention.Failed, 0),
		},
	}
	for i := range spec.Destinations {
		config.Destinations = append(config.Destinations, destination(&spec.Destinations[i], &parse))
	}
	if config.MaxBodyBytes == 0 {
		config.MaxBodyBytes = defaultMaxBodyBytes
	}
	if config.Schema == "" {
		config.Schema = defaultSchema
	}
	if err := errors.Join(parse.problems...); err != nil {
		return nil, fmt.Errorf("spec: %w", err)
	}
	if err := config.Validate(); err != nil {
		return nil, err
	}
	return config, nil
}

// ConfigMap holds the document that Config returned, encoded. Receivers load a changed one without a restart.
func ConfigMap(endpoint *v1alpha1.WebhookEndpoint, document []byte) *corev1ac.ConfigMapApplyConfiguration {
	return corev1ac.ConfigMap(NamesOf(endpoint.Name).Receiver, endpoint.Namespace).
		WithLabels(Labels(endpoint.Name, NameReceiver)).
		WithData(map[string]string{receiverconfig.FileName: string(document)})
}

func effects(list []v1alpha1.Effect) []receiverconfig.Effect {
	var out []receiverconfig.Effect
	for i := range list {
		effect := &list[i]
		key := effect.Key
		if key == "" {
			key = v1alpha1.EffectKeyEvent
		}
		out = append(out, receiverconfig.Effect{
			Name: effect.Name, EventTypes: patterns(effect.EventTypes), Function: effect.Function, Key: string(key),
		})
	}
	return out
}

func destination(d *v1alpha1.Destination, parse *durations) receiverconfig.Destination {
	out := receiverconfig.Destination{
		Name:       d.Name,
		URL:        d.URL,
		EventTypes: patterns(d.EventTypes),
		Timeout:    parse.or("destinations["+d.Name+"].timeout", d.Timeout, defaultTimeout),
		Delays:     defaultDelays(),

		Concurrency:      int(d.Concurrency),
		FailClientErrors: d.Retry != nil && d.Retry.ClientErrors == v1alpha1.ClientErrorsFail,
		Signed:           d.SigningSecretRef != nil,
	}
	if d.Ordering == v1alpha1.OrderingPerResource {
		out.Ordering, out.FailedBlock = receiverconfig.OrderingPerResource, d.OnExhausted == v1alpha1.ExhaustedBlock
	}
	if d.NATS != nil {
		out.Subject, out.LogsIn = d.NATS.Subject, d.NATS.CredentialsSecretRef != nil
	}
	if d.Retry != nil && len(d.Retry.Delays) > 0 {
		out.Delays = nil
		for _, delay := range d.Retry.Delays {
			out.Delays = append(out.Delays, parse.or("destinations["+d.Name+"].retry.delays", delay, 0))
		}
	}
	return out
}

func patterns(list []v1alpha1.EventTypePattern) []string {
	out := make([]string, len(list))
	for i, pattern := range list {
		out[i] = string(pattern)
	}
	return out
}

// durations parses the durations of a spec and keeps what is wrong with them.
type durations struct{ problems []error }

func (d *durations) or(field string, text v1alpha1.Duration, fallback time.Duration) receiverconfig.Duration {
	if text == "" {
		return receiverconfig.Duration(fallback)
	}
	parsed, err := text.Parse()
	if err != nil {
		d.problems = append(d.problems, fmt.Errorf("%s: %w", field, err))
	}
	return receiverconfig.Duration(parsed)
}
