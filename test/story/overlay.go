// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/template"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/hookonce/hookonce/api/v1alpha1"
	"github.com/hookonce/hookonce/test/postgres"
)

// overlays are kustomizations over config/default and config/samples, with this machine's addresses in them.
//
//go:embed overlays
var overlays embed.FS

// endpoints of the shop that the story waits for.
var shopEndpoints = []string{"payments", "payments-eu"}

// writeOverlay renders a kustomization into a folder of the story's and returns the folder.
func (w *World) writeOverlay(name string, values map[string]any) (string, error) {
	folder := filepath.Join(w.State, name)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", fmt.Errorf("make the overlay %s: %w", name, err)
	}
	// kustomize takes no absolute paths for bases.
	root, err := filepath.Rel(folder, w.Root)
	if err != nil {
		return "", fmt.Errorf("make the overlay %s: %w", name, err)
	}
	values["Root"] = root
	templates, err := template.ParseFS(overlays, "overlays/"+name+"/*.tmpl")
	if err != nil {
		return "", fmt.Errorf("read the overlay %s: %w", name, err)
	}
	for _, file := range templates.Templates() {
		var text strings.Builder
		if err := file.Execute(&text, values); err != nil {
			return "", fmt.Errorf("render the overlay %s: %w", name, err)
		}
		path := filepath.Join(folder, strings.TrimSuffix(file.Name(), ".tmpl"))
		if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
			return "", fmt.Errorf("write the overlay %s: %w", name, err)
		}
	}
	return folder, nil
}

func (w *World) writeOperatorOverlay(image string) error {
	w.image = image
	colon := strings.LastIndex(image, ":")
	if colon < 0 {
		return fmt.Errorf("the image %q has no tag", image)
	}
	_, err := w.writeOverlay("operator", map[string]any{
		"ImageName": image[:colon], "ImageTag": image[colon+1:], "SharedHost": w.cluster.node == nodeProcess,
		"Host": w.cluster.host,
	})
	return err
}

func (w *World) applyOperator(ctx context.Context) error {
	if _, err := w.Kubectl(ctx, "apply", "--server-side", "--force-conflicts", "-k", filepath.Join(w.State, "operator")); err != nil {
		return err
	}
	_, err := w.Kubectl(ctx, "rollout", "status", "deployment/hookonce-operator", "-n", OperatorNamespace, "--timeout=120s")
	return err
}

// ApplyShop applies the samples and waits until their endpoints are ready.
func (w *World) ApplyShop(ctx context.Context) error {
	uri, err := w.databaseURLFromPods()
	if err != nil {
		return err
	}
	folder, err := w.writeOverlay("shop", map[string]any{
		"Namespace":   Namespace,
		"Host":        w.cluster.host,
		"DatabaseURI": uri,
		"SinkURL":     fmt.Sprintf("http://%s:%d/hooks", w.fromPods("fulfilment"), sinkPort),
		"Services":    w.cluster.node != nodeProcess,
		"Servers":     map[string]int{"shop-db": databasePort, "fulfilment": sinkPort},
	})
	if err != nil {
		return err
	}
	if _, err := w.Kubectl(ctx, "apply", "--server-side", "--force-conflicts", "-k", folder); err != nil {
		return err
	}
	for _, name := range shopEndpoints {
		if err := w.WaitEndpoint(ctx, name, 3*time.Minute, Ready); err != nil {
			return fmt.Errorf("endpoint %s: %w", name, err)
		}
		if err := w.waitRollout(ctx, name); err != nil {
			return fmt.Errorf("endpoint %s: %w", name, err)
		}
	}
	return w.loadShop(ctx)
}

// waitRollout waits until only receivers of this build are left: an earlier telling's are replaced while they serve.
func (w *World) waitRollout(ctx context.Context, endpoint string) error {
	name := endpoint + "-receiver"
	err := Eventually(ctx, time.Minute, 500*time.Millisecond, func(ctx context.Context) error {
		deployment := &appsv1.Deployment{}
		if err := w.get(ctx, deployment, "deployment", name, "-n", Namespace); err != nil {
			return err
		}
		if image := deployment.Spec.Template.Spec.Containers[0].Image; image != w.image {
			return fmt.Errorf("receivers run %s instead of %s", image, w.image)
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, err = w.Kubectl(ctx, "rollout", "status", "deployment/"+name, "-n", Namespace, "--timeout=180s")
	return err
}

// loadShop creates the orders table and the effect's function, as their owner: they need the ledger's types, which the
// endpoint's receivers have made by now. Receivers have no rights on the table.
func (w *World) loadShop(ctx context.Context) error {
	sql, err := os.ReadFile(filepath.Join(w.Root, "config", "samples", "shop.sql"))
	if err != nil {
		return fmt.Errorf("read the shop's tables: %w", err)
	}
	shop := string(sql) + gatedEffect + "GRANT USAGE ON SCHEMA shop TO hookonce_receive;"
	if _, err := w.DB.Exec(ctx, asRole(postgres.AppRole, shop)); err != nil {
		return fmt.Errorf("create the shop's tables and effects: %w", err)
	}
	const rights = `SELECT count(*) FROM unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE']) AS right_name
		WHERE has_table_privilege($1, 'shop.orders', right_name)`
	return w.expect(ctx, 0, "rights of the receivers' role on the table of orders", rights, receiverRole)
}

// fromPods is the host name under which pods reach a server on this machine.
func (w *World) fromPods(service string) string {
	if w.cluster.node == nodeProcess {
		return w.cluster.host
	}
	return service + "." + Namespace + ".svc"
}

// ApplyRotation creates a Secret with a new signing secret and a SecretRotation to it.
func (w *World) ApplyRotation(ctx context.Context, endpoint, name, secret, overlap string) error {
	manifest := fmt.Sprintf(`apiVersion: v1
kind: Secret
metadata: {name: %[2]s, namespace: %[1]s}
stringData: {secret: %[3]q}
---
apiVersion: %[6]s
kind: SecretRotation
metadata: {name: %[2]s, namespace: %[1]s}
spec:
  endpointRef: {name: %[4]s}
  secretRef: {name: %[2]s, key: secret}
  overlap: %[5]s
`, Namespace, name, secret, endpoint, overlap, v1alpha1.GroupVersion)
	_, err := w.Apply(ctx, manifest)
	return err
}

// Apply applies a manifest as `kubectl apply -f -` does.
func (w *World) Apply(ctx context.Context, manifest string) (string, error) {
	return w.kubectlWith(ctx, manifest, "apply", "-f", "-")
}

// digestOf returns the first 12 hexadecimal digits of the SHA-256 of some files.
func digestOf(files ...string) (string, error) {
	hash := sha256.New()
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			return "", fmt.Errorf("digest the binaries: %w", err)
		}
		_, err = io.Copy(hash, file)
		file.Close()
		if err != nil {
			return "", fmt.Errorf("digest the binaries: %w", err)
		}
	}
	return hex.EncodeToString(hash.Sum(nil))[:12], nil
}
