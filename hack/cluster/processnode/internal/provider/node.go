// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"fmt"
	"runtime"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Capacity is what the node promises. Nothing is enforced, so it promises more than any test wants.
func Capacity() corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse("64"),
		corev1.ResourceMemory:           resource.MustParse("256Gi"),
		corev1.ResourceEphemeralStorage: resource.MustParse("1Ti"),
		corev1.ResourcePods:             resource.MustParse("500"),
	}
}

// NodeObject is the node as it registers: ready, without taints, and with the labels that
// ordinary pods select by. It calls itself a Linux node everywhere, because manifests ask for one.
func NodeObject(name, ip string, logPort int) *corev1.Node {
	ready := func(kind corev1.NodeConditionType, status corev1.ConditionStatus, reason string) corev1.NodeCondition {
		now := metav1.Now()
		return corev1.NodeCondition{Type: kind, Status: status, Reason: reason, LastHeartbeatTime: now, LastTransitionTime: now}
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: name,
			Labels: map[string]string{
				corev1.LabelHostname:           name,
				corev1.LabelOSStable:           "linux",
				corev1.LabelArchStable:         runtime.GOARCH,
				corev1.LabelInstanceTypeStable: "process",
			},
		},
		Status: corev1.NodeStatus{
			Phase:       corev1.NodeRunning,
			Capacity:    Capacity(),
			Allocatable: Capacity(),
			Conditions: []corev1.NodeCondition{
				ready(corev1.NodeReady, corev1.ConditionTrue, "ProcessNodeReady"),
				ready(corev1.NodeMemoryPressure, corev1.ConditionFalse, "NotMeasured"),
				ready(corev1.NodeDiskPressure, corev1.ConditionFalse, "NotMeasured"),
				ready(corev1.NodePIDPressure, corev1.ConditionFalse, "NotMeasured"),
			},
			Addresses: []corev1.NodeAddress{
				{Type: corev1.NodeInternalIP, Address: ip},
				{Type: corev1.NodeHostName, Address: name},
			},
			DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: int32(logPort)}},
			NodeInfo: corev1.NodeSystemInfo{
				OperatingSystem: runtime.GOOS, Architecture: runtime.GOARCH,
				KubeletVersion:          "processnode",
				ContainerRuntimeVersion: fmt.Sprintf("process://%s", runtime.Version()),
				OSImage:                 "plain processes, not containers",
			},
		},
	}
}
