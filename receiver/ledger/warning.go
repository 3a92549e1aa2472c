// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	severityWarning = "WARNING"
	// warningKey is where a connection's last warning is kept.
	warningKey = "hookonce.warning"
)

// noteWarning is the OnNotice of connections. It is called while an answer is read, by who reads it.
func noteWarning(conn *pgconn.PgConn, notice *pgconn.Notice) {
	if notice.SeverityUnlocalized == severityWarning {
		conn.CustomData()[warningKey] = notice.Code
	}
}

func (c *connection) forgetWarning() { delete(c.Conn.Conn().PgConn().CustomData(), warningKey) }

// warning says that the server has warned since forgetWarning. Its text may be a function's own, so it is not told.
func (c *connection) warning() error {
	if code, warned := c.Conn.Conn().PgConn().CustomData()[warningKey]; warned {
		return fmt.Errorf("the server warned with SQLSTATE %v", code)
	}
	return nil
}
