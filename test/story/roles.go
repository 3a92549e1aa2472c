// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookonce/hookonce/receiver/database"
	"github.com/hookonce/hookonce/receiver/ledger"
	"github.com/hookonce/hookonce/test/postgres"
)

// members makes the receivers' role a member of the documented ones. Roles outlive the database of an earlier telling.
const members = "GRANT hookonce_receive, hookonce_replay, hookonce_read, hookonce_prune TO " + receiverRole + ";"

// makeLedger does what docs/roles.md says before the first endpoint is applied, with the statements that are there: the
// administrator makes the roles and the schema, its owner migrates it, and gives each role its rights.
func (w *World) makeLedger(ctx context.Context) error {
	text, err := os.ReadFile(filepath.Join(w.Root, "docs", "roles.md"))
	if err != nil {
		return fmt.Errorf("read the documentation of the roles: %w", err)
	}
	blocks := strings.Split(string(text), "```sql\n")
	if len(blocks) != 5 {
		return errors.New("docs/roles.md has not the four blocks of SQL that the story runs")
	}
	for i, block := range blocks {
		block, _, _ = strings.Cut(block, "```")
		blocks[i] = strings.ReplaceAll(block, "shop_owner", postgres.AppRole)
	}
	var administrator strings.Builder
	for line := range strings.Lines(blocks[1]) {
		if role, isRole := strings.CutPrefix(line, "CREATE ROLE "); isRole {
			role = strings.TrimRight(strings.Fields(role)[0], ";")
			line = fmt.Sprintf("DO $$ BEGIN IF to_regrole('%[1]s') IS NULL THEN CREATE ROLE %[1]s; END IF; END $$;\n", role)
		}
		administrator.WriteString(line)
	}
	if _, err := w.DB.Exec(ctx, administrator.String()+members); err != nil {
		return fmt.Errorf("make the roles and the ledger's schema: %w", err)
	}
	if err := ledger.Migrate(ctx, w.database.RoleURL(ledgerOwner, databaseName), database.DefaultSchema); err != nil {
		return err
	}
	if _, err := w.DB.Exec(ctx, asRole(ledgerOwner, blocks[2]+blocks[4])); err != nil {
		return fmt.Errorf("give the roles their rights: %w", err)
	}
	return nil
}

// asRole runs statements as another role, as a whole or not at all.
func asRole(role, statements string) string {
	return "BEGIN; SET LOCAL ROLE " + role + ";" + statements + "; COMMIT"
}
