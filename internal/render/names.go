// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package render builds the objects that an endpoint consists of, as apply configurations that hold only the fields that
// the operator owns. Everything here is pure: the same endpoint gives the same objects. Golden files under testdata show
// them whole.
package render

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
)

// Labels of everything that the operator makes for an endpoint.
const (
	LabelName      = "app.kubernetes.io/name"
	LabelInstance  = "app.kubernetes.io/instance"
	LabelManagedBy = "app.kubernetes.io/managed-by"
	LabelEndpoint  = "webhooks.hookonce.dev/endpoint"
)

// Values of LabelManagedBy and LabelName.
const (
	ManagedBy    = "hookonce"
	NameReceiver = "hookonce-receiver"
	NamePrune    = "hookonce-prune"
	NameReplay   = "hookonce-replay"
)

// Limits of names, in bytes.
const (
	// nameLimit is that of a Service and of a label's value.
	nameLimit = 63
	// cronJobLimit leaves room for the 11 bytes that the CronJob controller adds to the names of Jobs.
	cronJobLimit = 52
	// hashDigits is how much of the hash goes into a name that had to change: 40 bits.
	hashDigits = 10
)

const (
	receiverSuffix = "-receiver"
	keyringSuffix  = "-keyring"
	pruneSuffix    = "-prune"
)

// Names are the names of an endpoint's objects.
type Names struct {
	// Label is the value of LabelEndpoint and LabelInstance.
	Label string
	// Receiver is the ConfigMap, Deployment, Service, PodDisruptionBudget and NetworkPolicy.
	Receiver string
	// Keyring is the Secret with the keyring.
	Keyring string
	// Prune is the CronJob.
	Prune string
}

// NamesOf returns the names of the objects of the endpoint with the given name. Names that fit are kept whole; others are
// cut and get a hash of the whole name, so that two endpoints of one namespace never share an object.
func NamesOf(endpoint string) Names {
	return Names{
		Label:    fit(endpoint, nameLimit),
		Receiver: fit(endpoint, nameLimit-len(receiverSuffix)) + receiverSuffix,
		Keyring:  fit(endpoint, nameLimit-len(keyringSuffix)) + keyringSuffix,
		Prune:    fit(endpoint, cronJobLimit-len(pruneSuffix)) + pruneSuffix,
	}
}

// RotationName returns the name of the SecretRotation that the operator makes when the bytes of an endpoint's Secret
// change: the same change of the same keyring has the same name, so that it is made once. Attempts count from 1: a later one
// is for a change that an earlier one was over before it could make.
func RotationName(endpoint string, revision int64, fingerprint string, attempt int) string {
	const shown = 8
	if len(fingerprint) > shown {
		fingerprint = fingerprint[:shown]
	}
	name := fmt.Sprintf("%s-r%d-%s", fit(endpoint, nameLimit), revision, fingerprint)
	if attempt > 1 {
		name = fmt.Sprintf("%s-%d", name, attempt)
	}
	return name
}

// Labels returns the labels of an endpoint's objects. A pod's name label says what it runs.
func Labels(endpoint, name string) map[string]string {
	label := NamesOf(endpoint).Label
	return map[string]string{
		LabelName:      name,
		LabelInstance:  label,
		LabelManagedBy: ManagedBy,
		LabelEndpoint:  label,
	}
}

// ReceiverSelector returns the labels by which the receiver pods of an endpoint are found.
func ReceiverSelector(endpoint string) map[string]string {
	return map[string]string{LabelName: NameReceiver, LabelEndpoint: NamesOf(endpoint).Label}
}

var (
	// plain is the strictest of the rules that names have to follow, that of a Service (RFC 1035): no dots, a letter first.
	plain = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)
	// hashed is what fit makes. A name that looks like it is hashed too: it might be what another name becomes.
	hashed = regexp.MustCompile(`-[0-9a-f]{10}$`)
)

// fit returns name if it follows every rule and has at most limit bytes, and else what is left of it with a hash.
func fit(name string, limit int) string {
	if len(name) <= limit && plain.MatchString(name) && !hashed.MatchString(name) {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	hash := "-" + hex.EncodeToString(sum[:])[:hashDigits]
	stem := strings.ReplaceAll(name, ".", "-")
	if first := stem[:1]; first < "a" || first > "z" {
		stem = "e" + stem
	}
	if len(stem) > limit-len(hash) {
		stem = stem[:limit-len(hash)]
	}
	return strings.TrimRight(stem, "-") + hash
}
