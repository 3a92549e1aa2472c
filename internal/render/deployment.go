// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/receiverstatus"
)

// Containers of the receiver pods.
const (
	ContainerReceiver = "receiver"
	ContainerMigrate  = "migrate"
)

// Ports of the receivers.
const (
	portPublic  = "public"
	numPublic   = 8080
	numPrivate  = 8081
	podIP       = "POD_IP"
	pathReady   = "/readyz"
	pathLive    = "/livez"
	hostnameKey = "kubernetes.io/hostname"
)

// terminationGraceSeconds is longer than a receiver takes to leave: 5 s until the endpoints of the Service know, then what
// is in flight, for which providers wait 30 s at most.
const terminationGraceSeconds = 45

// Deployment runs the receivers. Nothing in its pod template changes with what receivers reload by themselves: the
// configuration, the keyring and the contents of Secrets.
func Deployment(endpoint *v1alpha1.WebhookEndpoint, settings Settings) *appsv1ac.DeploymentApplyConfiguration {
	selector := ReceiverSelector(endpoint.Name)
	return appsv1ac.Deployment(NamesOf(endpoint.Name).Receiver, endpoint.Namespace).
		WithLabels(Labels(endpoint.Name, NameReceiver)).
		WithSpec(appsv1ac.DeploymentSpec().
			WithReplicas(Replicas(endpoint)).
			WithRevisionHistoryLimit(3).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(selector)).
			// A new receiver serves before an old one leaves.
			WithStrategy(appsv1ac.DeploymentStrategy().
				WithType(appsv1.RollingUpdateDeploymentStrategyType).
				WithRollingUpdate(appsv1ac.RollingUpdateDeployment().
					WithMaxUnavailable(intstr.FromInt32(0)).
					WithMaxSurge(intstr.FromInt32(1)))).
			WithTemplate(corev1ac.PodTemplateSpec().
				WithLabels(Labels(endpoint.Name, NameReceiver)).
				WithAnnotations(map[string]string{"kubectl.kubernetes.io/default-container": ContainerReceiver}).
				WithSpec(receiverPod(endpoint, settings, selector))))
}

func receiverPod(endpoint *v1alpha1.WebhookEndpoint, settings Settings, selector map[string]string) *corev1ac.PodSpecApplyConfiguration {
	// Without a keyring a pod does not start, and so accepts nothing. The user's Secret may go: the keyring has its bytes.
	keyring := corev1ac.Volume().WithName(keyringVolume).WithSecret(corev1ac.SecretVolumeSource().
		WithSecretName(NamesOf(endpoint.Name).Keyring).
		WithDefaultMode(secretMode))
	source := userSecret(sourceVolume, endpoint.Spec.Verification.SecretRef, sourceFile, true)

	volumes := []*corev1ac.VolumeApplyConfiguration{configSource(endpoint), keyring, source, databaseSource(endpoint)}
	serve := receiverContainer(settings)
	if secrets := outgoingSource(endpoint); secrets != nil {
		volumes = append(volumes, secrets)
		serve.WithArgs("--destination-secrets-dir=" + outgoingFolder).WithVolumeMounts(mount(outgoingVolume, outgoingFolder))
	}
	return podSpec(volumes...).
		WithTerminationGracePeriodSeconds(terminationGraceSeconds).
		WithTopologySpreadConstraints(corev1ac.TopologySpreadConstraint().
			WithMaxSkew(1).
			WithTopologyKey(hostnameKey).
			WithWhenUnsatisfiable(corev1.ScheduleAnyway).
			WithLabelSelector(metav1ac.LabelSelector().WithMatchLabels(selector))).
		WithInitContainers(migrateContainer(settings.Image)).
		WithContainers(serve)
}

const (
	// terminationLog is the default terminationMessagePath, writable even where the root is not.
	terminationLog = "/dev/termination-log"
	// migrateWait is how long the migration waits for a database before it says that there is none.
	migrateWait = "30s"
)

func migrateContainer(image string) *corev1ac.ContainerApplyConfiguration {
	return container(ContainerMigrate, image, "migrate",
		"--config-dir="+configFolder,
		"--database-dir="+databaseFolder,
		// The operator reads the container's last words from its status.
		"--report="+terminationLog,
		"--wait="+migrateWait).
		WithResources(requests("10m", "32Mi")).
		WithVolumeMounts(mount(configVolume, configFolder), mount(databaseVolume, databaseFolder))
}

func receiverContainer(settings Settings) *corev1ac.ContainerApplyConfiguration {
	args := []string{
		"serve",
		"--config-dir=" + configFolder,
		"--keyring-dir=" + keyringFolder,
		"--source-dir=" + sourceFolder,
		"--database-dir=" + databaseFolder,
		"--public-address=$(" + podIP + "):8080",
		"--private-address=$(" + podIP + "):8081",
	}
	if len(settings.DestinationNetworks) > 0 {
		args = append(args, "--destination-networks="+strings.Join(settings.DestinationNetworks, ","))
	}
	return container(ContainerReceiver, settings.Image, args...).
		WithEnv(corev1ac.EnvVar().WithName(podIP).WithValueFrom(corev1ac.EnvVarSource().
			WithFieldRef(corev1ac.ObjectFieldSelector().WithAPIVersion("v1").WithFieldPath("status.podIP")))).
		WithPorts(
			corev1ac.ContainerPort().WithName(portPublic).WithContainerPort(numPublic).WithProtocol(corev1.ProtocolTCP),
			corev1ac.ContainerPort().WithName(receiverstatus.PrivatePort).WithContainerPort(numPrivate).WithProtocol(corev1.ProtocolTCP)).
		// Only readiness asks for the database: a receiver that waits for one is not helped by a restart, however long it is.
		WithStartupProbe(probe(pathLive).WithPeriodSeconds(1).WithFailureThreshold(60)).
		WithReadinessProbe(probe(pathReady).WithPeriodSeconds(2).WithFailureThreshold(5)).
		WithLivenessProbe(probe(pathLive).WithPeriodSeconds(10).WithFailureThreshold(3)).
		WithResources(requests("50m", "64Mi")).
		WithVolumeMounts(
			mount(configVolume, configFolder),
			mount(keyringVolume, keyringFolder),
			mount(sourceVolume, sourceFolder),
			mount(databaseVolume, databaseFolder))
}

// probe asks a path on the private port.
func probe(path string) *corev1ac.ProbeApplyConfiguration {
	return corev1ac.Probe().
		WithTimeoutSeconds(2).
		WithHTTPGet(corev1ac.HTTPGetAction().WithPath(path).WithPort(intstr.FromString(receiverstatus.PrivatePort)))
}

func requests(cpu, memory string) *corev1ac.ResourceRequirementsApplyConfiguration {
	return corev1ac.ResourceRequirements().WithRequests(corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse(cpu),
		corev1.ResourceMemory: resource.MustParse(memory),
	})
}
