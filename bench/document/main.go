// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Command document writes docs/performance.md again from what the last run has recorded, after its text was changed, or
// checks that it is what it would write.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/hookonce/hookonce/bench/report"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "document:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("document", flag.ContinueOnError)
	file := flags.String("document", "../docs/performance.md", "the document; its record is beside it, and ends in .json")
	from := flags.String("from", "", "another document whose record to take over, such as ../bin/performance.md of a run that was ended")
	check := flags.Bool("check", false, "write nothing, and fail if the document is not what would be written")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("read the flags: %w", err)
	}
	if *check {
		return report.Check(*file)
	}
	if *from == "" {
		*from = *file
	}
	r, err := report.Read(*from)
	if err != nil {
		return err
	}
	return r.Write(*file)
}
