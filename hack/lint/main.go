// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Command lint is golangci-lint with the project's two extra linters compiled in: kube-api-linter, which checks the
// types in api/, and logcheck, which checks the calls of structured loggers. It takes golangci-lint's own arguments.
package main

import (
	"fmt"
	"os"
	"runtime/debug"

	"github.com/golangci/golangci-lint/v2/pkg/commands"
	"github.com/golangci/golangci-lint/v2/pkg/exitcodes"
	_ "sigs.k8s.io/kube-api-linter/pkg/plugin/base"
	_ "sigs.k8s.io/kube-api-linter/pkg/registration"
	_ "sigs.k8s.io/logtools/logcheck/gclplugin"
)

func main() {
	if err := commands.Execute(buildInfo()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(exitcodes.Failure)
	}
}

// buildInfo says which golangci-lint is inside: configuration files are checked against its version.
func buildInfo() commands.BuildInfo {
	info := commands.BuildInfo{Version: "unknown", Commit: "none", Date: "none"}
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return info
	}
	info.GoVersion = build.GoVersion
	for _, dependency := range build.Deps {
		if dependency.Path == "github.com/golangci/golangci-lint/v2" {
			info.Version = dependency.Version
		}
	}
	return info
}
