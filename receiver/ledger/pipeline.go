// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hookonce/hookonce/receiver/database"
)

// step is one statement of several that are sent at once. Its parameters are encoded by hand and its rows read in place:
// this is where nearly all events pass.
type step struct {
	// name of the prepared statement; one without is parsed each time.
	name, text string
	values     [][]byte
	// textual says that the parameters are texts; otherwise all are binary. Results always are.
	textual bool
	// before is called when the steps before have been answered, and read for each row; both may be nil.
	before func()
	read   func(row [][]byte) error
}

// binaryFormat is the format of all parameters or results.
var binaryFormat = []int16{1}

// run sends the steps and reads their answers, up to the first error. It returns the tag of the last, and which step
// failed: len(steps) if it is not known.
func (c *connection) run(ctx context.Context, steps []step) (tag pgconn.CommandTag, failed int, err error) {
	prepared, failed, err := c.prepare(ctx, steps)
	if err != nil {
		return tag, failed, &notSentError{err: err}
	}
	pipeline := c.Conn.Conn().PgConn().StartPipeline(ctx)
	for i := range steps {
		s := &steps[i]
		formats := binaryFormat
		if s.textual || len(s.values) == 0 {
			formats = nil
		}
		if statement, is := prepared[s.name]; is {
			// What it returns is known: the server is not asked again.
			pipeline.SendQueryStatement(statement, s.values, formats, binaryFormat)
		} else {
			pipeline.SendQueryParams(s.text, s.values, nil, formats, binaryFormat)
		}
	}
	if err := pipeline.Sync(); err != nil {
		_ = pipeline.Close()
		return tag, len(steps), err
	}
	tag, failed, err = readSteps(pipeline, steps)
	if closeErr := pipeline.Close(); err == nil && closeErr != nil {
		failed, err = len(steps), closeErr
	}
	return tag, failed, err
}

func readSteps(pipeline *pgconn.Pipeline, steps []step) (tag pgconn.CommandTag, failed int, err error) {
	for i := range steps {
		s := &steps[i]
		if s.before != nil {
			s.before()
		}
		results, err := pipeline.GetResults()
		if err != nil {
			return tag, i, err
		}
		reader, is := results.(*pgconn.ResultReader)
		if !is {
			return tag, len(steps), fmt.Errorf("the server's answer is a %T", results)
		}
		var unread error
		for reader.NextRow() {
			if s.read != nil && unread == nil {
				unread = s.read(reader.Values())
			}
		}
		if tag, err = reader.Close(); err != nil {
			return tag, i, err
		}
		if unread != nil {
			return tag, len(steps), unread
		}
	}
	return tag, len(steps), nil
}

// prepare prepares the statements that this connection has not got yet, and returns those that it has, by name; none where
// it may not have any. It says which one it could not prepare.
func (c *connection) prepare(ctx context.Context, steps []step) (known map[string]*pgconn.StatementDescription, failed int, err error) {
	if !c.direct() {
		return nil, 0, nil
	}
	conn := c.Conn.Conn().PgConn()
	known, _ = conn.CustomData()[preparedKey].(map[string]*pgconn.StatementDescription)
	if known == nil {
		known = map[string]*pgconn.StatementDescription{}
		conn.CustomData()[preparedKey] = known
	}
	for i := range steps {
		s := &steps[i]
		if _, prepared := known[s.name]; prepared || s.name == "" {
			continue
		}
		statement, err := conn.Prepare(ctx, s.name, s.text, nil)
		if err != nil {
			return nil, i, fmt.Errorf("prepare %s: %w", s.name, err)
		}
		known[s.name] = statement
	}
	return known, 0, nil
}

// preparedKey is where a connection keeps what it has prepared.
const preparedKey = "hookonce.prepared"

// direct says that no pooler stands between, so that the connection may prepare statements.
func (c *connection) direct() bool { return database.Direct(c.Conn.Conn().PgConn()) }

// beginSteps are the first steps of a transaction that asserts for itself what it needs.
func beginSteps(sql *statements, settings [][]byte) [2]step {
	return [2]step{
		{name: "hookonce_begin", text: beginStatement},
		{name: "hookonce_session", text: sql.session, values: settings, textual: true},
	}
}

// sessionSettings are the parameters of session.sql.
func sessionSettings(lock time.Duration) [][]byte {
	return [][]byte{
		[]byte(database.Milliseconds(lock)), []byte(database.Milliseconds(statementTimeout)),
		[]byte(database.Milliseconds(idleTimeout)),
	}
}
