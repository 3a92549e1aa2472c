// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package pgbench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Plan is a run.
type Plan struct {
	Script Script
	// URL of a database with the ledger's tables.
	URL string
	// Clients at once.
	Clients int
	// Warmup is how long to run before anything is counted, and Measure how long after that.
	Warmup, Measure time.Duration
	// Rate is how many transactions are begun a second, at random moments; 0 means as many as possible.
	Rate float64
	// Begin is called when counting begins, and End when it ends. They may be nil.
	Begin, End func()
	// Dir for files.
	Dir string
}

// Result is what pgbench says.
type Result struct {
	// Rate is how many events were stored a second.
	Rate float64
	// Latency is in nanoseconds, from the moment at which a transaction should have begun; nil without a rate.
	Latency *hdrhistogram.Histogram
}

// Run runs the script: first for the warmup and then, with new connections, for the measure.
func Run(ctx context.Context, p Plan) (Result, error) {
	file := filepath.Join(p.Dir, p.Script.Name+".pgbench")
	if err := os.WriteFile(file, []byte(p.Script.Text), 0o600); err != nil {
		return Result{}, fmt.Errorf("write the script: %w", err)
	}
	first := 0
	if p.Warmup > 0 {
		if _, err := p.call(ctx, file, p.Warmup, first); err != nil {
			return Result{}, err
		}
		// Ids go on where no client can have been.
		first = 1 << 24
	}
	if p.Begin != nil {
		p.Begin()
	}
	var log string
	var extra []string
	if p.Rate > 0 {
		log = filepath.Join(p.Dir, "pgbench-log")
		extra = []string{"--rate", strconv.FormatFloat(p.Rate, 'f', 3, 64), "--log", "--log-prefix", log}
	}
	output, err := p.call(ctx, file, p.Measure, first, extra...)
	if p.End != nil {
		p.End()
	}
	if err != nil {
		return Result{}, err
	}
	var result Result
	// Where it says nothing, not one transaction was done in time.
	if found := transactions.FindStringSubmatch(output); found != nil {
		perSecond, err := strconv.ParseFloat(found[1], 64)
		if err != nil {
			return Result{}, fmt.Errorf("read pgbench's rate: %w", err)
		}
		result.Rate = perSecond * float64(p.Script.Events)
	}
	if log != "" {
		result.Latency, err = readLogs(log)
	}
	return result, err
}

var transactions = regexp.MustCompile(`(?m)^tps = ([0-9.]+) `)

func (p Plan) call(ctx context.Context, file string, span time.Duration, first int, extra ...string) (string, error) {
	bin, err := program()
	if err != nil {
		return "", err
	}
	args := []string{
		"--no-vacuum", "--protocol", "prepared", "--file", file, "--client", strconv.Itoa(p.Clients), "--jobs", "1",
		"--time", strconv.Itoa(max(1, int(span.Round(time.Second)/time.Second))),
	}
	for _, variable := range append(Variables(), "n="+strconv.Itoa(first)) {
		args = append(args, "--define", variable)
	}
	args = append(append(args, extra...), p.URL)
	output, err := exec.CommandContext(ctx, bin, args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("pgbench: %w: %s", err, output)
	}
	if !strings.Contains(string(output), "number of failed transactions: 0 ") {
		return "", fmt.Errorf("pgbench had failures: %s", output)
	}
	return string(output), nil
}

// program is the pgbench of the newest server.
func program() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench")
	if err != nil || len(found) == 0 {
		return "", errors.Join(errors.New("no pgbench under /usr/lib/postgresql"), err)
	}
	return found[len(found)-1], nil
}

// readLogs reads the times of transactions, and removes the files.
func readLogs(prefix string) (*hdrhistogram.Histogram, error) {
	files, err := filepath.Glob(prefix + ".*")
	if err != nil || len(files) == 0 {
		return nil, errors.Join(errors.New("pgbench has written no log"), err)
	}
	latency := hdrhistogram.New(1, int64(time.Minute), 3)
	for _, name := range files {
		if err := readLog(name, latency); err != nil {
			return nil, err
		}
		if err := os.Remove(name); err != nil {
			return nil, fmt.Errorf("remove pgbench's log: %w", err)
		}
	}
	return latency, nil
}

func readLog(name string, into *hdrhistogram.Histogram) error {
	file, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("read pgbench's log: %w", err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		// client, transaction, time in microseconds since the moment that was scheduled, and more.
		fields := strings.Fields(lines.Text())
		if len(fields) < 3 {
			return fmt.Errorf("pgbench's log has the line %q", lines.Text())
		}
		us, err := strconv.ParseInt(fields[2], 10, 64)
		if err != nil {
			return fmt.Errorf("read pgbench's log: %w", err)
		}
		if err := into.RecordValue(us * int64(time.Microsecond)); err != nil {
			return fmt.Errorf("note a time of %d us: %w", us, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read pgbench's log: %w", err)
	}
	return nil
}
