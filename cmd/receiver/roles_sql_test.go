// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hookonce/hookonce/receiver/database"
	"github.com/hookonce/hookonce/test/postgres"
)

// roles are a ledger with the roles of docs/roles.md, each by its name there.
type roles struct {
	t        *testing.T
	name     map[string]string
	database string
}

// documented are the SQL blocks of docs/roles.md, with this test's names of the roles.
func (r *roles) documented() []string {
	r.t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "roles.md"))
	must(r.t, err)
	var blocks []string
	for i, part := range strings.Split(string(text), "```sql\n") {
		if i == 0 {
			continue
		}
		block, _, _ := strings.Cut(part, "```")
		for documented, name := range r.name {
			block = strings.ReplaceAll(block, documented, name)
		}
		blocks = append(blocks, block)
	}
	if len(blocks) != 4 {
		r.t.Fatalf("docs/roles.md has %d blocks of SQL, want 4", len(blocks))
	}
	return blocks
}

const shopTable = `
CREATE SCHEMA shop AUTHORIZATION shop_owner;
SET ROLE shop_owner;
CREATE TABLE shop.orders (id bigint GENERATED ALWAYS AS IDENTITY, invoice_id text);
RESET ROLE;
`

func newRoles(t *testing.T) *roles {
	t.Helper()
	r := &roles{t: t, name: map[string]string{}}
	for _, role := range []string{"hookonce_owner", "hookonce_receive", "hookonce_replay", "hookonce_read", "hookonce_prune", "shop_owner"} {
		r.name[role] = postgres.NewRole(t)
	}
	uri := postgres.New(t)
	config, err := pgx.ParseConfig(uri)
	must(t, err)
	r.database = config.Database
	blocks := r.documented()
	var schema []string
	for line := range strings.Lines(blocks[0]) {
		// The roles are made already, so that they can log in with this test's password.
		if !strings.HasPrefix(line, "CREATE ROLE") {
			schema = append(schema, line)
		}
	}
	r.as(postgres.AdminRole, strings.Join(schema, "")+strings.ReplaceAll(shopTable, "shop_owner", r.name["shop_owner"]))
	return r
}

// uri of the database for a documented role.
func (r *roles) uri(role string) string {
	return postgres.Shared(r.t).RoleURL(r.name[role], r.database)
}

// as runs statements as a role.
func (r *roles) as(role, sql string) {
	r.t.Helper()
	if err := r.try(role, sql); err != nil {
		r.t.Fatalf("as %s: %v", role, err)
	}
}

// try runs statements as a role, named here or in the documentation, and returns how that ended.
func (r *roles) try(role, sql string) error {
	uri := postgres.Shared(r.t).RoleURL(role, r.database)
	if _, documented := r.name[role]; documented {
		uri = r.uri(role)
	}
	ctx := context.Background()
	conn, err := pgconn.Connect(ctx, uri)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer conn.Close(ctx)
	if err := conn.Exec(ctx, sql).Close(); err != nil {
		return fmt.Errorf("%s: %w", sql, err)
	}
	return nil
}

// grant makes the ledger, and gives what the documentation gives.
func (r *roles) grant(migrate func(uri string)) {
	r.t.Helper()
	migrate(r.uri("hookonce_owner"))
	blocks := r.documented()
	r.as("hookonce_owner", blocks[1])
	r.as("hookonce_owner", blocks[3])
	r.as("shop_owner", blocks[2])
}

// denied fails the test unless the role lacks the right to each statement.
func (r *roles) denied(role string, statements ...string) {
	r.t.Helper()
	for _, sql := range statements {
		if err := r.try(role, sql); database.Code(err) != codeNoRight {
			r.t.Errorf("%s: got %v, want SQLSTATE %s", role, err, codeNoRight)
		}
	}
}

const (
	codeNoRight = "42501"
	// codeNoDay is how an event ends for whose day there is no partition, if none can be made.
	codeNoDay = "23514"
)

// right is one privilege of a role in the database, as the catalog has it.
type right struct{ Privilege, Kind, Object string }

func (g right) revoke(role string) string {
	return "REVOKE " + g.Privilege + " ON " + g.Kind + " " + g.Object + " FROM " + role
}

func (g right) grant(role string) string {
	return "GRANT " + g.Privilege + " ON " + g.Kind + " " + g.Object + " TO " + role
}

// rightsSQL lists every privilege that a role has in the schema hookonce, one a row.
const rightsSQL = `
SELECT a.privilege_type, 'SCHEMA', n.nspname::text
FROM pg_namespace n, aclexplode(n.nspacl) a
WHERE n.nspname = 'hookonce' AND a.grantee = $1::regrole
UNION ALL
SELECT a.privilege_type, 'TABLE', c.oid::regclass::text
FROM pg_class c, aclexplode(c.relacl) a
WHERE c.relnamespace = 'hookonce'::regnamespace AND a.grantee = $1::regrole
UNION ALL
SELECT a.privilege_type || ' (' || attname || ')', 'TABLE', c.oid::regclass::text
FROM pg_class c JOIN pg_attribute t ON t.attrelid = c.oid, aclexplode(t.attacl) a
WHERE c.relnamespace = 'hookonce'::regnamespace AND a.grantee = $1::regrole
UNION ALL
SELECT a.privilege_type, 'FUNCTION', p.oid::regprocedure::text
FROM pg_proc p, aclexplode(p.proacl) a
WHERE p.pronamespace = 'hookonce'::regnamespace AND a.grantee = $1::regrole`

func (r *roles) rights(role string) []right {
	r.t.Helper()
	conn, err := pgx.Connect(r.t.Context(), r.uri("hookonce_owner"))
	must(r.t, err)
	defer conn.Close(context.Background())
	rows, err := conn.Query(r.t.Context(), rightsSQL, r.name[role])
	must(r.t, err)
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[right])
	must(r.t, err)
	return found
}
