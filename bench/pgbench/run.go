// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package pgbench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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
	// Warmup is how long to run before anything is counted, and Measure how long after that: whole seconds, at least one.
	// It is one run: a new connection begins with preparing and planning, which nothing that is measured here should pay for.
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

// Run runs the script: first for the warmup and then for the measure.
func Run(ctx context.Context, p Plan) (Result, error) {
	file := filepath.Join(p.Dir, p.Script.Name+".pgbench")
	if err := os.WriteFile(file, []byte(p.Script.Text), 0o600); err != nil {
		return Result{}, fmt.Errorf("write the script: %w", err)
	}
	var log string
	var extra []string
	if p.Rate > 0 {
		log = filepath.Join(p.Dir, "pgbench-log")
		extra = []string{"--rate", strconv.FormatFloat(p.Rate, 'f', 3, 64), "--log", "--log-prefix", log}
	}
	transactions, err := p.call(ctx, file, extra...)
	if err != nil {
		return Result{}, err
	}
	result := Result{Rate: transactions * float64(p.Script.Events)}
	if log != "" {
		result.Latency, err = readLogs(log, seconds(p.Warmup), seconds(p.Measure))
	}
	return result, err
}

// seconds are whole and at least one.
func seconds(d time.Duration) time.Duration { return max(time.Second, d.Round(time.Second)) }

// call returns the transactions a second after the warmup.
func (p Plan) call(ctx context.Context, file string, extra ...string) (float64, error) {
	bin, err := program()
	if err != nil {
		return 0, err
	}
	warmup, span := int(seconds(p.Warmup)/time.Second), int(seconds(p.Measure)/time.Second)
	args := []string{
		"--no-vacuum", "--protocol", "prepared", "--file", file, "--client", strconv.Itoa(p.Clients), "--jobs", "1",
		"--time", strconv.Itoa(warmup + span), "--progress", strconv.Itoa(warmup),
	}
	for _, variable := range Variables() {
		args = append(args, "--define", variable)
	}
	cmd := exec.CommandContext(ctx, bin, append(append(args, extra...), p.URL)...)
	var output bytes.Buffer
	cmd.Stdout = &output
	progress, err := cmd.StderrPipe()
	if err != nil {
		return 0, fmt.Errorf("pgbench: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("pgbench: %w", err)
	}
	warm, said, readErr := p.follow(progress)
	err = errors.Join(cmd.Wait(), readErr)
	if p.End != nil {
		p.End()
	}
	if err != nil {
		return 0, fmt.Errorf("pgbench: %w: %s%s", err, said, output.Bytes())
	}
	return counted(output.String(), warm)
}

// lap is what pgbench says of a part of its time.
type lap struct{ seconds, rate float64 }

// follow reads what pgbench says meanwhile: first how the warmup went, which is when counting begins, and then whatever else.
func (p Plan) follow(progress io.Reader) (warmup lap, said string, err error) {
	lines := bufio.NewScanner(progress)
	begun := false
	for lines.Scan() {
		found := lapLine.FindStringSubmatch(lines.Text())
		if found == nil {
			said += lines.Text() + "\n"
			continue
		}
		if begun {
			continue
		}
		begun = true
		if p.Begin != nil {
			p.Begin()
		}
		var errs [2]error
		warmup.seconds, errs[0] = strconv.ParseFloat(found[1], 64)
		warmup.rate, errs[1] = strconv.ParseFloat(found[2], 64)
		err = errors.Join(err, errs[0], errs[1])
	}
	if !begun {
		err = errors.Join(err, errors.New("it did not say when the warmup was over"))
	}
	return warmup, said, errors.Join(err, lines.Err())
}

var (
	lapLine   = regexp.MustCompile(`^progress: ([0-9.]+) s, ([0-9.]+) tps`)
	processed = regexp.MustCompile(`(?m)^number of transactions actually processed: ([0-9]+)`)
	connected = regexp.MustCompile(`(?m)^initial connection time = ([0-9.]+) ms`)
	overall   = regexp.MustCompile(`(?m)^tps = ([0-9.]+) `)
)

// counted is the rate of the transactions after the warmup.
func counted(output string, warmup lap) (float64, error) {
	if !strings.Contains(output, "number of failed transactions: 0 ") {
		return 0, fmt.Errorf("pgbench had failures: %s", output)
	}
	var numbers [3]float64
	for i, of := range []*regexp.Regexp{processed, connected, overall} {
		found := of.FindStringSubmatch(output)
		if found == nil {
			// Where it says nothing, not one transaction was done in time.
			return 0, nil
		}
		n, err := strconv.ParseFloat(found[1], 64)
		if err != nil {
			return 0, fmt.Errorf("read what pgbench says: %w", err)
		}
		numbers[i] = n
	}
	total, connecting, rate := numbers[0], numbers[1]/1000, numbers[2]
	// Its laps begin before it connects, and its rate after that.
	span := total/rate + connecting - warmup.seconds
	if rate <= 0 || span <= 0 {
		return 0, fmt.Errorf("pgbench had no time beyond its warmup: %s", output)
	}
	return max(0, total-warmup.rate*warmup.seconds) / span, nil
}

// program is the pgbench of the newest server.
func program() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench")
	if err != nil || len(found) == 0 {
		return "", errors.Join(errors.New("no pgbench under /usr/lib/postgresql"), err)
	}
	return found[len(found)-1], nil
}

// readLogs reads the times of the transactions that were due after the warmup and within so much of time, and removes the files.
func readLogs(prefix string, warmup, measured time.Duration) (*hdrhistogram.Histogram, error) {
	files, err := filepath.Glob(prefix + ".*")
	if err != nil || len(files) == 0 {
		return nil, errors.Join(errors.New("pgbench has written no log"), err)
	}
	var all []transaction
	for _, name := range files {
		if all, err = readLog(name, all); err != nil {
			return nil, err
		}
		if err := os.Remove(name); err != nil {
			return nil, fmt.Errorf("remove pgbench's log: %w", err)
		}
	}
	latency := hdrhistogram.New(1, int64(time.Minute), 3)
	if len(all) == 0 {
		return latency, nil
	}
	from := slices.MinFunc(all, func(a, b transaction) int { return a.due.Compare(b.due) }).due.Add(warmup)
	for _, t := range all {
		if t.due.Before(from) || !t.due.Before(from.Add(measured)) {
			continue
		}
		if err := latency.RecordValue(int64(t.took)); err != nil {
			return nil, fmt.Errorf("note a time of %s: %w", t.took, err)
		}
	}
	return latency, nil
}

// transaction is a line of pgbench's log.
type transaction struct {
	due  time.Time
	took time.Duration
}

func readLog(name string, all []transaction) ([]transaction, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read pgbench's log: %w", err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		t, err := parseTransaction(lines.Text())
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read pgbench's log: %w", err)
	}
	return all, nil
}

// parseTransaction reads client, transaction, time in microseconds since the moment that was scheduled, script, and when it was
// done, in seconds and microseconds.
func parseTransaction(line string) (transaction, error) {
	const least = 6
	fields := strings.Fields(line)
	if len(fields) < least {
		return transaction{}, fmt.Errorf("pgbench's log has the line %q", line)
	}
	var numbers [3]int64
	for i, at := range []int{2, 4, 5} {
		n, err := strconv.ParseInt(fields[at], 10, 64)
		if err != nil {
			return transaction{}, fmt.Errorf("read pgbench's log: %w", err)
		}
		numbers[i] = n
	}
	took := time.Duration(numbers[0]) * time.Microsecond
	return transaction{due: time.Unix(numbers[1], numbers[2]*int64(time.Microsecond)).Add(-took), took: took}, nil
}
