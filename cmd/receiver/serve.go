// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookonce/hookonce/receiver/relay"
)

// serveFlags are the options of `receiver serve`.
type serveFlags struct {
	ledgerFlags
	keyringDir, sourceDir         string
	outgoingDir                   string
	publicAddress, privateAddress string
	drainDelay, flushInterval     time.Duration
	sampleInterval                time.Duration
	maxConnections                int
	destinationNetworks           []string
	networks                      []netip.Prefix
}

func newServe(log func() *slog.Logger) *cobra.Command {
	f := &serveFlags{}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Receive deliveries and relay them to destinations",
		Long: "Receive deliveries on the public port and relay them to destinations. The private port has /status, /livez,\n" +
			"/readyz and /metrics. On SIGTERM the receiver is not ready any more, goes on serving for the drain delay,\n" +
			"finishes what is under way and ends; on a second signal it ends at once.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			public, err := listen(f.publicAddress)
			if err != nil {
				return fmt.Errorf("open the public port: %w", err)
			}
			private, err := listen(f.privateAddress)
			if err != nil {
				_ = public.Close()
				return fmt.Errorf("open the private port: %w", err)
			}
			return newProcess(f, log()).run(cmd.Context(), public, private)
		},
	}
	f.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.keyringDir, "keyring-dir", "", "folder with keyring.json (required)")
	flags.StringVar(&f.sourceDir, "source-dir", "",
		"folder with the user's own signing secret in the file secret (default: only the keyring counts)")
	flags.StringVar(&f.outgoingDir, "destination-secrets-dir", "",
		"folder with the secrets of destinations, in files NAME.signing and NAME.credentials (default: destinations that need one wait)")
	flags.StringVar(&f.publicAddress, "public-address", ":8080", "where providers are served")
	flags.StringVar(&f.privateAddress, "private-address", ":8081", "where the status, the probes and the metrics are")
	flags.IntVar(&f.maxConnections, "max-connections", 2048,
		"how many connections to the public port are open at once; further ones take the place of those that send nothing")
	flags.DurationVar(&f.drainDelay, "drain-delay", 5*time.Second,
		"how long to go on serving after SIGTERM, until nobody routes here any more")
	flags.DurationVar(&f.flushInterval, "counter-flush-interval", 10*time.Second, "how often counters are written to the ledger")
	flags.DurationVar(&f.sampleInterval, "sample-interval", 5*time.Second,
		"how often the ledger is looked at for the status and the metrics")
	flags.StringSliceVar(&f.destinationNetworks, "destination-networks", defaultNetworks(),
		"networks that destinations may be in, beside the public internet; the metadata services of clouds are refused in any")
	return cmd
}

func defaultNetworks() []string {
	var texts []string
	for _, network := range relay.PrivateNetworks() {
		texts = append(texts, network.String())
	}
	return texts
}

func (f *serveFlags) check() error {
	if err := f.ledgerFlags.check(); err != nil {
		return err
	}
	if f.keyringDir == "" {
		return usagef("--keyring-dir is required")
	}
	if f.maxConnections <= 0 {
		return usagef("--max-connections must be positive")
	}
	if f.drainDelay < 0 || f.flushInterval <= 0 || f.sampleInterval <= 0 {
		return usagef("--drain-delay must not be negative; --counter-flush-interval and --sample-interval must be positive")
	}
	f.networks = make([]netip.Prefix, 0, len(f.destinationNetworks))
	for _, text := range f.destinationNetworks {
		network, err := netip.ParsePrefix(text)
		if err != nil || network != network.Masked() {
			return usagef("--destination-networks: %q is not a network such as 10.0.0.0/8", text)
		}
		f.networks = append(f.networks, network)
	}
	return nil
}

// listen opens an address. A pod's IPv6 address comes from the downward API without the brackets that an address with a
// port needs; they are put around it.
func listen(address string) (net.Listener, error) {
	if colon := strings.LastIndexByte(address, ':'); colon >= 0 {
		if ip, err := netip.ParseAddr(address[:colon]); err == nil && ip.Is6() {
			address = net.JoinHostPort(address[:colon], address[colon+1:])
		}
	}
	return net.Listen("tcp", address)
}
