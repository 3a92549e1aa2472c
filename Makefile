# Every target works on a clean checkout with Go, git, make, and root or a sudo that asks for nothing. `make help` lists them.

SHELL := /usr/bin/env bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
IMAGE ?= hookonce:dev

# The version is given with -ldflags; asking git for it a second time fails in a checkout that another user owns.
export GOFLAGS := $(strip $(GOFLAGS) -buildvcs=false)
# Read by hack/cluster, the demo and the tests. Empty means: what this machine can do.
export CLUSTER NODE

# The tools' requirements are their own: hack/tools/go.mod, never ours.
TOOL := go tool -modfile=hack/tools/go.mod
CLUSTER_TOOL := go run -C hack/cluster .
PACKAGES := ./...
BENCH_ROUNDS := 3
BENCH_BUDGET := 11m
BENCH_SECONDS := 3
FAULTS_TIMEOUT := 90m

##@ General

.PHONY: help
help: ## Show this help.
	@awk 'BEGIN {FS = ":.*##"} \
		/^##@/ {printf "\n%s\n", substr($$0, 5)} \
		/^[a-z0-9-]+:.*##/ {printf "  %-14s %s\n", $$1, $$2}' Makefile
	@printf '\n%s\n' 'Variables'
	@printf '  %-14s %s\n' \
		CLUSTER 'local (default): build and start a one-node cluster. current: the one of KUBECONFIG. kind: a kind cluster.' \
		NODE 'of the local cluster: containerd (default where the machine can), process: pods as plain processes.' \
		IMAGE 'name:tag of the image that `make image` loads into the cluster. Default hookonce:dev.' \
		VERSION 'version compiled into the binaries. Default: git describe.' \
		PACKAGES 'packages that `make test` tests in the main module. Default ./...'

##@ Development

.PHONY: build
build: ## Build bin/operator, bin/receiver and bin/kubectl-hookonce, static.
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o bin/ ./cmd/operator ./cmd/receiver ./cmd/kubectl-hookonce

.PHONY: generate
generate: ## Write everything that is generated: deep copies, apply configurations, CRDs, RBAC, the API reference.
	$(TOOL) controller-gen object:headerFile=hack/boilerplate.go.txt paths=./api/...
	$(TOOL) controller-gen applyconfiguration:headerFile=hack/boilerplate.go.txt paths=./api/...
	$(TOOL) controller-gen crd paths=./api/... output:crd:dir=config/crd/bases
	mkdir -p bin
	$(TOOL) controller-gen rbac:roleName=hookonce-operator paths=./controllers/... output:rbac:stdout >bin/role.yaml
	@test -s bin/role.yaml || { echo "no +kubebuilder:rbac markers: controller-gen overlooks those in a type's comment" >&2; exit 1; }
	mv bin/role.yaml config/rbac/role.yaml
	$(TOOL) crd-ref-docs --log-level=ERROR --config=hack/docs/config.yaml --templates-dir=hack/docs/templates \
		--source-path=api/v1alpha1 --renderer=markdown --output-path=docs/reference/api.md

.PHONY: fmt
fmt: ## Format the Go code.
	hack/lint.sh fmt

.PHONY: lint
lint: ## Check the code's rules: golangci-lint with kube-api-linter and logcheck, and the length of files.
	@failed=0; hack/check-file-length.sh || failed=1; hack/lint.sh run || failed=1; exit $$failed

.PHONY: tidy
tidy: ## Tidy the go.mod of every module.
	hack/modules.sh go mod tidy

.PHONY: clean
clean: ## Remove what was built in this checkout. Caches and the cluster stay.
	rm -rf bin

##@ Checks

.PHONY: test
test: postgres ## Run the unit, golden, envtest and Postgres tests.
	assets="$$($(CLUSTER_TOOL) envtest-bins)"; \
	export KUBEBUILDER_ASSETS="$$assets"; \
	go test -timeout 15m $(PACKAGES); \
	hack/modules.sh --under hack --with-code go test -tags integration -timeout 15m ./...

.PHONY: oracles
oracles: ## Compare verification with the providers' own libraries: 100,000 deliveries.
	go test -C test/oracles -count 1 -timeout 10m -v .

.PHONY: test-postgres
test-postgres: ## Run the tests that use Postgres on a newer server, 18.
	hack/install-postgres.sh 18
	HOOKONCE_POSTGRES=18 go test -timeout 15m \
		./test/postgres ./test/story ./receiver/embed ./receiver/ledger ./receiver/retention ./cmd/receiver

.PHONY: fuzz
fuzz: ## Run every fuzz target for a few seconds: FUZZTIME (5) each, FUZZBUDGET (60) together.
	hack/fuzz.sh

.PHONY: faults
faults: postgres ## Kill, cut and stop receivers, Postgres and the operator while providers send and rotate. FAULTS_TIER=nightly: ten times the deliveries.
	go test -tags faults -count 1 -timeout $(FAULTS_TIMEOUT) -v ./test/faults/...
	assets="$$($(CLUSTER_TOOL) envtest-bins)"; \
	export KUBEBUILDER_ASSETS="$$assets"; \
	go test -tags faults -count 1 -p 1 -timeout 20m -v ./test/crash ./test/rotation

.PHONY: hostile
hostile: postgres ## Flood a receiver with endless bodies, slow connections and forgeries while a good provider sends.
	go test -tags faults -count 1 -timeout 20m -v ./test/hostile

.PHONY: bench
bench: postgres ## Measure against the limit of the machine and against what people would write: docs/performance.md.
	mkdir -p bin
	go build -C bench -o ../bin/bench .
	exec bin/bench -root . -rounds $(BENCH_ROUNDS) -measure $(BENCH_SECONDS)s -budget $(BENCH_BUDGET) -document docs/performance.md

.PHONY: bench-counters
bench-counters: postgres ## Count what an event costs: fsyncs, WAL, transaction ids, allocations. No clock.
	go test -C bench -count 1 -v ./...
	go test -count 1 -v -run Counters ./receiver/ledger

.PHONY: verify
verify: ## Fail if generated files are stale, a go.mod is untidy, a manifest does not build, or lint finds something.
	hack/verify-generated.sh
	hack/verify-manifests.sh
	hack/modules.sh go mod tidy -diff
	go run -C bench ./document -check
	$(MAKE) --no-print-directory lint

.PHONY: vuln
vuln: ## Look for known vulnerabilities. Needs https://vuln.go.dev, so it is not part of verify.
	$(TOOL) govulncheck ./...

.PHONY: e2e
e2e: postgres ## Play the story and the operator's behavior as Go tests on the cluster.
	go test -tags e2e -count 1 -timeout 45m -v ./test/e2e/...

.PHONY: gitops
gitops: postgres ## Let a real Flux sync a repository into the cluster while a provider sends. Builds Flux the first time: 7 minutes.
	go test -C test/gitops -tags e2e -count 1 -timeout 45m -v .

##@ Cluster

.PHONY: cluster
cluster: ## Bring up the cluster. The first time builds Kubernetes: about 10 minutes on two cores.
	$(CLUSTER_TOOL) up

.PHONY: cluster-down
cluster-down: ## Take the local cluster down; nothing of it is left.
	$(CLUSTER_TOOL) down

.PHONY: cluster-test
cluster-test: ## Take the local cluster through its whole life, and check that nothing is left of it.
	go test -C hack/cluster -tags cluster -run TestLife -count 1 -timeout 30m -v .

.PHONY: kubeconfig
kubeconfig: ## Print the path of the cluster's kubeconfig: export KUBECONFIG=$(make -s kubeconfig)
	@$(CLUSTER_TOOL) kubeconfig

.PHONY: envtest-bins
envtest-bins: ## Build etcd, kube-apiserver and kubectl, and print their folder.
	@$(CLUSTER_TOOL) envtest-bins

.PHONY: image
image: build cluster ## Make the image from the binaries, without Docker, and load it into the cluster.
	$(CLUSTER_TOOL) load-image --tag $(IMAGE) --user 65532 \
		--binary $(CURDIR)/bin/operator --binary $(CURDIR)/bin/receiver

.PHONY: demo
demo: postgres ## Tell the whole story on a real cluster, and check every claim of it.
	go run ./hack/demo

.PHONY: demo-down
demo-down: ## Remove what the demo left, and the local cluster.
	go run ./hack/demo down
	$(CLUSTER_TOOL) down

# Debian's Postgres, which the tests and the demo start themselves, on free ports.
.PHONY: postgres
postgres:
	@hack/install-postgres.sh
