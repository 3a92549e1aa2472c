// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package embed_test

import (
	"context"
	"fmt"
	"net/http/httptest"

	"github.com/jackc/pgx/v5"

	"github.com/hookonce/hookonce/receiver/embed"
)

// book is an effect: it writes to the shop's own table, in the transaction that claims the event.
func book(ctx context.Context, tx pgx.Tx, event embed.Event) (embed.Result, error) {
	if event.ResourceID == "inv_closed" {
		return nil, embed.Refuse("the account is closed")
	}
	var order int
	err := tx.QueryRow(ctx, "INSERT INTO orders (event) VALUES ($1) RETURNING id", event.ID).Scan(&order)
	return map[string]int{"order": order}, err
}

func Example() {
	ctx := context.Background()
	database, stop := shopDatabase(ctx)
	defer stop()
	if err := embed.Migrate(ctx, database, ""); err != nil {
		fmt.Println(err)
		return
	}
	receiver, err := embed.Open(ctx, embed.Options{
		Database: database,
		Endpoint: "shop/payments",
		Path:     "/webhooks",
		Preset:   "StandardWebhooks",
		Secrets:  []embed.Secret{{Text: secret}},
		Effects:  []embed.Effect{{Name: "book", EventTypes: []string{"invoice.paid"}, Run: book}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer receiver.Close()
	server := httptest.NewServer(receiver.Handler())
	defer server.Close()

	// The provider delivers an event twice, because it has not seen the first answer.
	for range 2 {
		fmt.Println(deliver(server.URL+"/webhooks", "msg_1", `{"type":"invoice.paid","data":{"id":"inv_1"}}`))
	}
	fmt.Println("orders:", countOrders(ctx, database))
	// Output:
	// 200 {"event":"msg_1","effects":{"book":{"order":1}}}
	// 200 {"event":"msg_1","effects":{"book":{"order":1}}}
	// orders: 1
}
