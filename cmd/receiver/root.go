// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookonce/hookonce/internal/receiverconfig"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// databaseFile is the name of the file in --database-dir.
const databaseFile = "uri"

// streams are the process's standard streams.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// usageError is a mistake in the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// run executes the command line and returns the exit code.
func run(ctx context.Context, args []string, std streams) int {
	root := newRoot(std)
	root.SetArgs(args)
	err := execute(ctx, root, args)
	if err == nil {
		return exitOK
	}
	fmt.Fprintf(std.err, "receiver: %v\n", err)
	if _, ok := errors.AsType[usageError](err); ok {
		return exitUsage
	}
	return exitFailed
}

func execute(ctx context.Context, root *cobra.Command, args []string) error {
	if _, _, err := root.Find(args); err != nil {
		return usageError{err}
	}
	return root.ExecuteContext(ctx)
}

func newRoot(std streams) *cobra.Command {
	level := slog.LevelInfo
	root := &cobra.Command{
		Use:           "receiver",
		Short:         "Receives an endpoint's webhooks: each event exactly once, in your own Postgres",
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(std.in)
	root.SetOut(std.out)
	root.SetErr(std.err)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.PersistentFlags().TextVar(&level, "log-level", level, "least level of the log: DEBUG, INFO, WARN or ERROR")
	log := func() *slog.Logger {
		return slog.New(slog.NewJSONHandler(std.err, &slog.HandlerOptions{Level: level}))
	}
	root.AddCommand(newServe(log), newMigrate(log), newPrune(log), newReplay(log), newDeliveries(std, log), newAudit(std, log),
		newSend(std), newVerify(std), newDoctor(std), newProve(std, log))
	return root
}

// noArgs refuses arguments as a mistake in the command line.
func noArgs(cmd *cobra.Command, args []string) error {
	if err := cobra.NoArgs(cmd, args); err != nil {
		return usageError{err}
	}
	return nil
}

// ledgerFlags say which ledger a command works on.
type ledgerFlags struct {
	configDir, databaseDir, databaseURL string
}

func (f *ledgerFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.configDir, "config-dir", "", "folder with "+receiverconfig.FileName+" (required)")
	cmd.Flags().StringVar(&f.databaseDir, "database-dir", "", "folder with the database's connection URI in the file "+databaseFile)
	cmd.Flags().StringVar(&f.databaseURL, "database-url", "",
		"the database's connection URI, instead of --database-dir; others can see it in the list of processes")
}

func (f *ledgerFlags) check() error {
	if f.configDir == "" {
		return usagef("--config-dir is required")
	}
	if (f.databaseDir == "") == (f.databaseURL == "") {
		return usagef("one of --database-dir and --database-url is required")
	}
	return nil
}

// url returns the connection URI as it is now.
func (f *ledgerFlags) url() (string, error) {
	if f.databaseURL != "" {
		return f.databaseURL, nil
	}
	text, err := os.ReadFile(filepath.Join(f.databaseDir, databaseFile))
	if err != nil {
		return "", fmt.Errorf("read the database's connection URI: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

// load checks the flags and reads the configuration.
func (f *ledgerFlags) load() (*receiverconfig.Config, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	return loadConfig(f.configDir)
}

func loadConfig(dir string) (*receiverconfig.Config, error) {
	document, err := os.ReadFile(filepath.Join(dir, receiverconfig.FileName))
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	return receiverconfig.Parse(document)
}
