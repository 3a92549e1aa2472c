// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package gitops

import (
	"fmt"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/test/story"
)

// endpointName is the endpoint that Flux applies, beside those of the shop.
const endpointName = "gitops"

// secretManifest is a Secret with a signing secret.
func secretManifest(name, value string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Secret
metadata: {name: %s, namespace: %s}
stringData: {secret: %q}
`, name, story.Namespace, value)
}

// databaseManifest is the Secret with the URI of the shop's database.
func databaseManifest(uri string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Secret
metadata: {name: gitops-db, namespace: %s}
stringData: {uri: %q}
`, story.Namespace, uri)
}

// endpointManifest is the endpoint with the signing secret of a Secret. Its overlap is that of production: a test that
// waits for its end never ends.
func endpointManifest(secret string) string {
	return fmt.Sprintf(`apiVersion: %s
kind: WebhookEndpoint
metadata: {name: %s, namespace: %s}
spec:
  verification:
    scheme: Paymos
    secretRef: {name: %s, key: secret}
    overlap: 24h
  database:
    secretRef: {name: gitops-db, key: uri}
  receiver: {replicas: 2}
`, v1alpha1.GroupVersion, endpointName, story.Namespace, secret)
}

// rotationManifest is a SecretRotation to the signing secret of a Secret.
func rotationManifest(name, secret string) string {
	return fmt.Sprintf(`apiVersion: %s
kind: SecretRotation
metadata: {name: %s, namespace: %s}
spec:
  endpointRef: {name: %s}
  secretRef: {name: %s, key: secret}
  overlap: 24h
`, v1alpha1.GroupVersion, name, story.Namespace, endpointName, secret)
}
