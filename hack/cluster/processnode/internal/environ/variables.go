// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package environ

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hookonce/hookonce/hack/cluster/processnode/internal/downward"
)

// Objects reads the objects that variables refer to, in the pod's namespace. What does not exist
// is an API error of the kind NotFound.
type Objects interface {
	Secret(ctx context.Context, namespace, name string) (*corev1.Secret, error)
	ConfigMap(ctx context.Context, namespace, name string) (*corev1.ConfigMap, error)
}

// Variables is an environment in the making: a later definition of a name replaces an earlier one.
type Variables struct {
	names  []string
	values map[string]string
}

// Set defines a variable.
func (v *Variables) Set(name, value string) {
	if v.values == nil {
		v.values = make(map[string]string)
	}
	if _, known := v.values[name]; !known {
		v.names = append(v.names, name)
	}
	v.values[name] = value
}

// Lookup is the value of a variable and whether it is defined.
func (v *Variables) Lookup(name string) (string, bool) {
	value, ok := v.values[name]
	return value, ok
}

// Strings lists NAME=value in the order of the first definitions, each value passed through edit.
func (v *Variables) Strings(edit func(string) string) []string {
	out := make([]string, 0, len(v.names))
	for _, name := range v.names {
		out = append(out, name+"="+edit(v.values[name]))
	}
	return out
}

// Define adds the variables that the container declares, envFrom before env, to those given.
func Define(ctx context.Context, vars *Variables, container *corev1.Container, facts downward.Facts, objects Objects) error {
	for _, source := range container.EnvFrom {
		if err := defineFrom(ctx, vars, source, facts.Pod.Namespace, objects); err != nil {
			return err
		}
	}
	for i := range container.Env {
		env := &container.Env[i]
		if env.ValueFrom == nil {
			vars.Set(env.Name, Expand(env.Value, vars.Lookup))
			continue
		}
		value, found, err := valueFrom(ctx, env.ValueFrom, container.Name, facts, objects)
		if err != nil {
			return fmt.Errorf("variable %s: %w", env.Name, err)
		}
		if found {
			vars.Set(env.Name, value)
		}
	}
	return nil
}

func defineFrom(ctx context.Context, vars *Variables, source corev1.EnvFromSource, namespace string, objects Objects) error {
	values := make(map[string]string)
	switch {
	case source.ConfigMapRef != nil:
		configMap, err := objects.ConfigMap(ctx, namespace, source.ConfigMapRef.Name)
		if absent(err, source.ConfigMapRef.Optional) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read variables from ConfigMap %s: %w", source.ConfigMapRef.Name, err)
		}
		maps.Copy(values, configMap.Data)
	case source.SecretRef != nil:
		secret, err := objects.Secret(ctx, namespace, source.SecretRef.Name)
		if absent(err, source.SecretRef.Optional) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read variables from Secret %s: %w", source.SecretRef.Name, err)
		}
		for key, value := range secret.Data {
			values[key] = string(value)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		name := source.Prefix + key
		if len(validation.IsEnvVarName(name)) == 0 {
			vars.Set(name, values[key])
		}
	}
	return nil
}

func valueFrom(
	ctx context.Context, source *corev1.EnvVarSource, container string, facts downward.Facts, objects Objects,
) (value string, found bool, err error) {
	switch {
	case source.FieldRef != nil:
		value, err = facts.Field(source.FieldRef.FieldPath)
		return value, err == nil, err
	case source.ResourceFieldRef != nil:
		value, err = facts.Resource(source.ResourceFieldRef, container)
		return value, err == nil, err
	case source.SecretKeyRef != nil:
		ref := source.SecretKeyRef
		secret, err := objects.Secret(ctx, facts.Pod.Namespace, ref.Name)
		if err != nil {
			return "", false, unlessOptional(err, ref.Optional)
		}
		bytes, ok := secret.Data[ref.Key]
		return string(bytes), ok, keyMissing(ok, ref.Optional, "Secret", ref.Name, ref.Key)
	case source.ConfigMapKeyRef != nil:
		ref := source.ConfigMapKeyRef
		configMap, err := objects.ConfigMap(ctx, facts.Pod.Namespace, ref.Name)
		if err != nil {
			return "", false, unlessOptional(err, ref.Optional)
		}
		text, ok := configMap.Data[ref.Key]
		return text, ok, keyMissing(ok, ref.Optional, "ConfigMap", ref.Name, ref.Key)
	default:
		return "", false, errors.New("this kind of source is not supported")
	}
}

func absent(err error, optional *bool) bool {
	return apierrors.IsNotFound(err) && optional != nil && *optional
}

func unlessOptional(err error, optional *bool) error {
	if absent(err, optional) {
		return nil
	}
	return err
}

func keyMissing(found bool, optional *bool, kind, name, key string) error {
	if found || optional != nil && *optional {
		return nil
	}
	return fmt.Errorf("no key %q in %s %s", key, kind, name)
}
