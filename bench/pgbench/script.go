// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package pgbench runs the ledger's own statements with pgbench: what Postgres can do at most, with a client in C and no
// HTTP, no signatures and no JSON.
package pgbench

import (
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"

	"github.com/hookonce/hookonce/bench/load"
)

// Batch is how many events a transaction of the script Fifty has.
const Batch = 50

// Script is a transaction of pgbench.
type Script struct {
	// Name of the script.
	Name string
	// Events that one transaction stores.
	Events int
	// Text in pgbench's language.
	Text string
}

// The texts of parameters. Ids grow with time, as the receiver's do, and keys are spread evenly, as digests are. The
// variable n counts the events of a client, and g those of a batch.
const (
	at      = ":n::bigint"
	atBatch = "(:n::bigint + g)"
)

func id(n string) string {
	return "encode(int8send(" + n + " * 1024 + :client_id::bigint) || int8send(1), 'hex')::uuid"
}

func deliveryID(n string) string {
	return "encode(int8send(" + n + " * 1024 + :client_id::bigint) || int8send(2), 'hex')::uuid"
}

func key(n string) string {
	return "(int8send(hashint8extended(" + n + ", :client_id::bigint)) || int8send(hashint8extended(" + n + ", -1 - :client_id::bigint)))"
}

func digest(n string) string { return "(" + key(n) + " || " + key(n) + ")" }

func eventID(n string) string {
	return "('evt_' || lpad((" + n + " * 1024 + :client_id::bigint)::text, 18, '0'))"
}

func resourceID(n string) string {
	return "('inv_' || lpad((" + n + " * 1024 + :client_id::bigint)::text, 18, '0'))"
}

// each makes an array with one element for each event of a batch.
func each(element string) string {
	return fmt.Sprintf("ARRAY(SELECT %s FROM generate_series(1, %d) AS g)", element, Batch)
}

// same makes an array with the same element for each event of a batch.
func same(element string) string { return fmt.Sprintf("array_fill(%s, ARRAY[%d])", element, Batch) }

const (
	scope = "1"
	// pgbench takes a word after a colon for a variable.
	scopeName   = "('endpoint' || chr(58) || 'shop/payments')::text"
	endpoint    = "'shop/payments'::text"
	state       = "1::smallint"
	status      = "200::smallint"
	eventType   = "'" + load.EventType + "'::text"
	contentType = "'application/json'::text"
	headers     = ":headers::bytea"
	body        = ":body::bytea"
	destination = "'fulfilment'::text"
	token       = "'00000000-0000-4000-8000-000000000001'::uuid"
	lease       = "interval '3 h'"
)

// Variables are given to pgbench with -D.
func Variables() []string {
	return []string{
		"n=0",
		fmt.Sprintf("body=\\x%x", load.Body(load.Number{}, load.DefaultBodyBytes)),
		fmt.Sprintf("headers=\\x%x", `{"Content-Type":["application/json"],"User-Agent":["Paymos-Webhooks/1.0"]}`),
	}
}

// One is one event in a transaction, sent in one go.
func One(sql fs.FS) (Script, error) {
	return build(sql, "one", 1, append([]step{}, oneEvent...))
}

// WithEffect is one event in a transaction that also calls a function and stores what it answers.
func WithEffect(sql fs.FS, function string) (Script, error) {
	return build(sql, "effect", 1, append(append([]step{}, oneEvent...),
		step{"effect_call", []string{id(at)}, strings.NewReplacer("effect_function", function)},
		step{"claim_settle", []string{
			scope, "ARRAY[" + key(at) + "]", state, status,
			`convert_to('{"event" : "' || ` + eventID(at) + ` || '","effects" : {"book" : {"booked" : "inv"}}}', 'UTF8')`,
		}, nil},
	))
}

// step is a statement of the ledger, with the texts of its parameters.
type step struct {
	file       string
	parameters []string
	replace    *strings.Replacer
}

var oneEvent = []step{
	{"claim", []string{scope, key(at), id(at), digest(at), state, status, scopeName}, nil},
	{"event_insert", []string{
		id(at), scope, endpoint, eventID(at), eventType, resourceID(at), contentType, headers, body, "NULL::bytea",
	}, nil},
	{"delivery_insert", []string{
		scope, id(at), "ARRAY[" + deliveryID(at) + "]", "ARRAY[" + destination + "]", token, lease, "ARRAY[NULL::text]",
	}, nil},
}

// build makes a script of steps: one round trip, one transaction.
func build(sql fs.FS, name string, events int, steps []step) (Script, error) {
	statements := make([]string, len(steps))
	for i, s := range steps {
		text, err := fs.ReadFile(sql, s.file+".sql")
		if err != nil {
			return Script{}, fmt.Errorf("read the ledger's statement: %w", err)
		}
		statements[i], err = fill(string(text), s.parameters)
		if err != nil {
			return Script{}, fmt.Errorf("%s.sql: %w", s.file, err)
		}
		if s.replace != nil {
			statements[i] = s.replace.Replace(statements[i])
		}
	}
	return script(name, events, statements), nil
}

func script(name string, events int, statements []string) Script {
	text := fmt.Sprintf("\\set n :n + %d\n\\startpipeline\nBEGIN;\n%s;\nCOMMIT;\n\\endpipeline\n", events, strings.Join(statements, ";\n"))
	return Script{Name: name, Events: events, Text: text}
}

var placeholder = regexp.MustCompile(`\$[0-9]+`)

// fill puts the texts of the parameters into a statement, without its comments, and fails if it has others.
func fill(statement string, parameters []string) (string, error) {
	var lines []string
	for line := range strings.Lines(statement) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "--") {
			lines = append(lines, line)
		}
	}
	var unknown error
	used := 0
	text := placeholder.ReplaceAllStringFunc(strings.Join(lines, " "), func(name string) string {
		n, err := strconv.Atoi(name[1:])
		if err != nil || n < 1 || n > len(parameters) {
			unknown = fmt.Errorf("the benchmark does not know the parameter %s", name)
			return name
		}
		used = max(used, n)
		return "(" + parameters[n-1] + ")"
	})
	if unknown == nil && used == 0 {
		unknown = fmt.Errorf("the statement has no parameters")
	}
	return text, unknown
}
