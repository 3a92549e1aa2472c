// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/receiverconfig"
)

// Settings are the operator's own settings that go into what it renders.
type Settings struct {
	// Image of the receivers: it holds /receiver.
	Image string
	// OperatorNamespace is where the operator runs: only from there the private port can be reached.
	OperatorNamespace string
	// DestinationNetworks are the networks that destinations may be in, beside the public internet. Empty: the receivers'
	// default, which are the private ones.
	DestinationNetworks []string
}

// The folders that pods of an endpoint see, and the files in them that come from users' Secrets.
const (
	configFolder   = "/etc/hookonce/config"
	keyringFolder  = "/etc/hookonce/keyring"
	sourceFolder   = "/etc/hookonce/source"
	databaseFolder = "/etc/hookonce/database"
	outgoingFolder = "/etc/hookonce/destinations"

	configVolume   = "config"
	keyringVolume  = "keyring"
	sourceVolume   = "source"
	databaseVolume = "database"
	outgoingVolume = "destinations"

	sourceFile   = "secret"
	databaseFile = "uri"
)

const (
	binary = "/receiver"
	// unprivileged is the user and group of every process; the number lets the kubelet check runAsNonRoot.
	unprivileged = 65532
	// secretMode lets the group read, to which fsGroup gives the files, and nobody else.
	secretMode = 0o440
)

// podSpec returns what every pod of an endpoint has: the restricted Pod Security Standard, and no access to the API.
func podSpec(volumes ...*corev1ac.VolumeApplyConfiguration) *corev1ac.PodSpecApplyConfiguration {
	return corev1ac.PodSpec().
		WithAutomountServiceAccountToken(false).
		WithEnableServiceLinks(false).
		WithSecurityContext(corev1ac.PodSecurityContext().
			WithRunAsNonRoot(true).
			WithRunAsUser(unprivileged).
			WithRunAsGroup(unprivileged).
			WithFSGroup(unprivileged).
			WithSeccompProfile(corev1ac.SeccompProfile().WithType(corev1.SeccompProfileTypeRuntimeDefault))).
		WithVolumes(volumes...)
}

// container returns a container that runs one of the receiver's commands.
func container(name, image string, args ...string) *corev1ac.ContainerApplyConfiguration {
	return corev1ac.Container().
		WithName(name).
		WithImage(image).
		WithImagePullPolicy(corev1.PullIfNotPresent).
		WithCommand(binary).
		WithArgs(args...).
		// The last line of the log tells people, and the operator, why a container ended.
		WithTerminationMessagePolicy(corev1.TerminationMessageFallbackToLogsOnError).
		WithSecurityContext(corev1ac.SecurityContext().
			WithAllowPrivilegeEscalation(false).
			WithReadOnlyRootFilesystem(true).
			WithCapabilities(corev1ac.Capabilities().WithDrop("ALL")))
}

// LedgerCommand is one of the receiver's commands that work on the ledger, as a container of a receiver's pod runs it.
func LedgerCommand(name string, args ...string) []string {
	return append([]string{binary, name, "--config-dir=" + configFolder, "--database-dir=" + databaseFolder}, args...)
}

func mount(volume, folder string) *corev1ac.VolumeMountApplyConfiguration {
	return corev1ac.VolumeMount().WithName(volume).WithMountPath(folder).WithReadOnly(true)
}

// configSource is the rendered configuration.
func configSource(endpoint *v1alpha1.WebhookEndpoint) *corev1ac.VolumeApplyConfiguration {
	return corev1ac.Volume().WithName(configVolume).
		WithConfigMap(corev1ac.ConfigMapVolumeSource().WithName(NamesOf(endpoint.Name).Receiver))
}

// databaseSource is the connection URI. Without it no pod starts: there is nothing that a receiver could do.
func databaseSource(endpoint *v1alpha1.WebhookEndpoint) *corev1ac.VolumeApplyConfiguration {
	return userSecret(databaseVolume, endpoint.Spec.Database.SecretRef, databaseFile, false)
}

// userSecret is one key of a user's Secret, as a file of a fixed name.
func userSecret(volume string, from v1alpha1.SecretKeyReference, file string, optional bool) *corev1ac.VolumeApplyConfiguration {
	source := corev1ac.SecretVolumeSource().
		WithSecretName(from.Name).
		WithDefaultMode(secretMode).
		WithItems(corev1ac.KeyToPath().WithKey(from.Key).WithPath(file))
	if optional {
		source.WithOptional(true)
	}
	return corev1ac.Volume().WithName(volume).WithSecret(source)
}

// outgoingSource has the secrets of destinations, as a file for each; nil if none has any. A missing one keeps no pod from
// starting: only its destination waits.
func outgoingSource(endpoint *v1alpha1.WebhookEndpoint) *corev1ac.VolumeApplyConfiguration {
	source := corev1ac.ProjectedVolumeSource().WithDefaultMode(secretMode)
	add := func(ref *v1alpha1.SecretKeyReference, path string) {
		if ref != nil {
			source.WithSources(corev1ac.VolumeProjection().WithSecret(corev1ac.SecretProjection().
				WithName(ref.Name).
				WithOptional(true).
				WithItems(corev1ac.KeyToPath().WithKey(ref.Key).WithPath(path))))
		}
	}
	for i := range endpoint.Spec.Destinations {
		destination := &endpoint.Spec.Destinations[i]
		add(destination.SigningSecretRef, destination.Name+receiverconfig.SigningSuffix)
		if destination.NATS != nil {
			add(destination.NATS.CredentialsSecretRef, destination.Name+receiverconfig.CredentialsSuffix)
		}
	}
	if len(source.Sources) == 0 {
		return nil
	}
	return corev1ac.Volume().WithName(outgoingVolume).WithProjected(source)
}
