// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"embed"
	"fmt"
	"strings"

	"github.com/hookonce/hookonce/internal/sqlfile"
	"github.com/hookonce/hookonce/receiver/database"
)

//go:embed sql/*.sql migrations/*.sql
var files embed.FS

// statements are the texts of sql/*.sql for one schema.
type statements struct {
	session, durable                                               string
	claim, claimBody, claimSettle, lookup, lookupLocked            string
	eventInsert, deliveryInsert, batch, quick, quickBody           string
	effectGuard, effectResults, effectCall, effectStore            string
	effectSettle, effectSettleBody                                 string
	scopeFind, scopeAdd, scopeProve, partitions                    string
	lease, settle                                                  string
	replayFailed, replayDelivered, replaySend, replayEnd           string
	replayFind, replays                                            string
	counterAdd, counterTotals, pending, failed, lastFailure, check string
	auditCounts, auditEvents                                       string
	historyEvent, historyDeliveries, historyAttempts               string
	version                                                        string
}

func loadStatements(schema string) (*statements, error) {
	texts, err := database.Statements(files, schema)
	if err != nil {
		return nil, err
	}
	s := &statements{}
	for name, into := range map[string]*string{
		"session": &s.session, "durable": &s.durable, "quick": &s.quick, "quick_body": &s.quickBody,
		"claim": &s.claim, "claim_body": &s.claimBody, "claim_settle": &s.claimSettle,
		"lookup": &s.lookup, "lookup_locked": &s.lookupLocked, "event_insert": &s.eventInsert,
		"delivery_insert": &s.deliveryInsert, "batch": &s.batch, "effect_guard": &s.effectGuard, "effect_results": &s.effectResults,
		"effect_call": &s.effectCall, "effect_store": &s.effectStore, "effect_settle": &s.effectSettle,
		"effect_settle_body": &s.effectSettleBody, "scope_find": &s.scopeFind,
		"scope_add": &s.scopeAdd, "scope_prove": &s.scopeProve, "partitions": &s.partitions, "lease": &s.lease, "settle": &s.settle,
		"replay_failed": &s.replayFailed, "replay_delivered": &s.replayDelivered, "replay_send": &s.replaySend,
		"replay_end": &s.replayEnd, "replay_find": &s.replayFind, "replays": &s.replays, "counter_add": &s.counterAdd,
		"counter_totals": &s.counterTotals,
		"pending":        &s.pending, "failed": &s.failed, "last_failure": &s.lastFailure, "check": &s.check,
		"audit_counts": &s.auditCounts, "audit_events": &s.auditEvents, "history_event": &s.historyEvent,
		"history_deliveries": &s.historyDeliveries, "history_attempts": &s.historyAttempts,
		"version": &s.version,
	} {
		text, found := texts[name]
		if !found {
			return nil, fmt.Errorf("the statement %s is not in the build", name)
		}
		*into = text
	}
	return s, nil
}

// call is a statement that calls a function on an event: one of effect_call.sql and effect_settle.sql.
func (s *statements) call(statement, function string) (string, error) {
	quoted, err := sqlfile.Quote(function)
	if err != nil {
		return "", fmt.Errorf("function of an effect: %w", err)
	}
	text := strings.Split(statement, "\n")
	for i, line := range text {
		if !strings.HasPrefix(line, "--") {
			text[i] = strings.Replace(line, "effect_function", quoted, 1)
		}
	}
	return strings.Join(text, "\n"), nil
}
