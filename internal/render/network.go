// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	networkingv1ac "k8s.io/client-go/applyconfigurations/networking/v1"
	policyv1ac "k8s.io/client-go/applyconfigurations/policy/v1"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/internal/receiverstatus"
)

// Service is what an ingress or a gateway sends deliveries to.
func Service(endpoint *v1alpha1.WebhookEndpoint) *corev1ac.ServiceApplyConfiguration {
	return corev1ac.Service(NamesOf(endpoint.Name).Receiver, endpoint.Namespace).
		WithLabels(Labels(endpoint.Name, NameReceiver)).
		WithSpec(corev1ac.ServiceSpec().
			WithType(corev1.ServiceTypeClusterIP).
			WithSelector(ReceiverSelector(endpoint.Name)).
			WithPorts(corev1ac.ServicePort().
				WithName("http").
				WithAppProtocol("http").
				WithProtocol(corev1.ProtocolTCP).
				WithPort(80).
				WithTargetPort(intstr.FromString(portPublic))))
}

// PodDisruptionBudget lets a drained node take one receiver at a time.
func PodDisruptionBudget(endpoint *v1alpha1.WebhookEndpoint) *policyv1ac.PodDisruptionBudgetApplyConfiguration {
	return policyv1ac.PodDisruptionBudget(NamesOf(endpoint.Name).Receiver, endpoint.Namespace).
		WithLabels(Labels(endpoint.Name, NameReceiver)).
		WithSpec(policyv1ac.PodDisruptionBudgetSpec().
			WithMaxUnavailable(intstr.FromInt32(1)).
			// A receiver that is not ready serves nobody: it must not hold a drain up.
			WithUnhealthyPodEvictionPolicy(policyv1.AlwaysAllow).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(ReceiverSelector(endpoint.Name))))
}

// Addresses that a destination's URL must not lead to: those that answer with the node's credentials in public clouds.
const (
	linkLocal4  = "169.254.0.0/16"
	linkLocal6  = "fe80::/10"
	metadataAWS = "fd00:ec2::254/128"
)

// NetworkPolicy is about every pod of the endpoint. In: the public port from everywhere, the private port from the
// operator's namespace (probes come from the node, which policies do not apply to). Out: everywhere but the link-local
// addresses. Where Postgres and the destinations are cannot be known here: both are host names in Secrets and specs, and
// a policy knows only addresses and pods. DNS is open everywhere, since node-local caches have link-local addresses.
func NetworkPolicy(endpoint *v1alpha1.WebhookEndpoint, settings Settings) *networkingv1ac.NetworkPolicyApplyConfiguration {
	return networkingv1ac.NetworkPolicy(NamesOf(endpoint.Name).Receiver, endpoint.Namespace).
		WithLabels(Labels(endpoint.Name, NameReceiver)).
		WithSpec(networkingv1ac.NetworkPolicySpec().
			WithPodSelector(metav1ac.LabelSelector().WithMatchLabels(map[string]string{LabelEndpoint: NamesOf(endpoint.Name).Label})).
			WithPolicyTypes(networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress).
			WithIngress(
				networkingv1ac.NetworkPolicyIngressRule().WithPorts(policyPort(corev1.ProtocolTCP, intstr.FromString(portPublic))),
				networkingv1ac.NetworkPolicyIngressRule().
					WithPorts(policyPort(corev1.ProtocolTCP, intstr.FromString(receiverstatus.PrivatePort))).
					WithFrom(networkingv1ac.NetworkPolicyPeer().WithNamespaceSelector(metav1ac.LabelSelector().
						WithMatchLabels(map[string]string{corev1.LabelMetadataName: settings.OperatorNamespace})))).
			WithEgress(
				networkingv1ac.NetworkPolicyEgressRule().WithPorts(
					policyPort(corev1.ProtocolUDP, intstr.FromInt32(53)), policyPort(corev1.ProtocolTCP, intstr.FromInt32(53))),
				networkingv1ac.NetworkPolicyEgressRule().WithTo(
					// Some networks do not count pods among the addresses of an ipBlock.
					networkingv1ac.NetworkPolicyPeer().WithNamespaceSelector(metav1ac.LabelSelector()),
					networkingv1ac.NetworkPolicyPeer().WithIPBlock(networkingv1ac.IPBlock().WithCIDR("0.0.0.0/0").WithExcept(linkLocal4)),
					networkingv1ac.NetworkPolicyPeer().WithIPBlock(networkingv1ac.IPBlock().WithCIDR("::/0").WithExcept(linkLocal6, metadataAWS)))))
}

func policyPort(protocol corev1.Protocol, port intstr.IntOrString) *networkingv1ac.NetworkPolicyPortApplyConfiguration {
	return networkingv1ac.NetworkPolicyPort().WithProtocol(protocol).WithPort(port)
}
