// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/hookonce/hookonce/hack/cluster/processnode/internal/objects"
)

// PodHandler hears of pods that are gone from the API server, which the library tells too, but
// by name: this tells it of the right one when another has taken the name.
func (p *Provider) PodHandler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(before, after any) {
			old, isPod := before.(*corev1.Pod)
			if next, ok := after.(*corev1.Pod); ok && isPod && old.UID != next.UID {
				p.Gone(old.UID)
			}
		},
		DeleteFunc: func(object any) {
			if gone, ok := last(object).(*corev1.Pod); ok {
				p.Gone(gone.UID)
			}
		},
	}
}

// ObjectHandler hears of Secrets and ConfigMaps, for the volumes that show them.
func (p *Provider) ObjectHandler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { p.objectChanged(object, false) },
		UpdateFunc: func(_, object any) { p.objectChanged(object, false) },
		DeleteFunc: func(object any) { p.objectChanged(last(object), true) },
	}
}

func (p *Provider) objectChanged(object any, deleted bool) {
	var key objects.Key
	var content objects.Content
	switch o := object.(type) {
	case *corev1.Secret:
		key = objects.Key{Kind: objects.Secret, Namespace: o.Namespace, Name: o.Name}
		content = objects.FromSecret(o)
	case *corev1.ConfigMap:
		key = objects.Key{Kind: objects.ConfigMap, Namespace: o.Namespace, Name: o.Name}
		content = objects.FromConfigMap(o)
	default:
		return
	}
	for _, e := range p.all() {
		e.ObjectChanged(key, content, deleted)
	}
}

// last is the last known state of a deleted object.
func last(object any) any {
	if unknown, ok := object.(cache.DeletedFinalStateUnknown); ok {
		return unknown.Obj
	}
	return object
}
