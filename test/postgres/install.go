// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

const tempPrefix = "hookonce-postgres-"

// EnvServer names the server to run: a major version, such as 18, that hack/install-postgres.sh or the system's package
// installed, or the folder of initdb and postgres. Default: the newest of the system's packages.
const EnvServer = "HOOKONCE_POSTGRES"

// Where servers are: the system's packages first, then the newer ones that hack/install-postgres.sh gets.
const (
	packaged = "/usr/lib/postgresql"
	newer    = "/var/cache/hookonce/postgresql"
)

// binaries is the folder of the server that chosen, the value of EnvServer, names.
func binaries(chosen string) (string, error) {
	if filepath.IsAbs(chosen) {
		if _, err := os.Stat(filepath.Join(chosen, "initdb")); err != nil {
			return "", fmt.Errorf("%s=%s: %w", EnvServer, chosen, err)
		}
		return chosen, nil
	}
	pattern := filepath.Join(packaged, "*", "bin", "initdb")
	if chosen != "" {
		if _, err := strconv.ParseUint(chosen, 10, 16); err != nil {
			return "", fmt.Errorf("%s=%s is neither a major version nor an absolute path", EnvServer, chosen)
		}
		pattern = filepath.Join(packaged, chosen, "bin", "initdb")
	}
	found, err := filepath.Glob(pattern)
	if err != nil {
		return "", fmt.Errorf("look for Postgres: %w", err)
	}
	if chosen != "" {
		other := filepath.Join(newer, chosen, "bin")
		if _, err := os.Stat(filepath.Join(other, "initdb")); err == nil {
			found = append(found, filepath.Join(other, "initdb"))
		}
	}
	if len(found) == 0 {
		return "", fmt.Errorf("no Postgres %s under %s or %s: run hack/install-postgres.sh %s", chosen, packaged, newer, chosen)
	}
	newest := slices.MaxFunc(found, func(a, b string) int { return majorVersion(a) - majorVersion(b) })
	return filepath.Dir(newest), nil
}

func majorVersion(initdb string) int {
	version, err := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(initdb))))
	if err != nil {
		return 0
	}
	return version
}

// serverUser is whom to run the server as: Postgres refuses to run as root. Nil means as ourselves.
func serverUser() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	account, err := user.Lookup("postgres")
	if err != nil {
		account, err = user.Lookup("nobody")
	}
	if err != nil {
		return nil, fmt.Errorf("find a user to run Postgres as: %w", err)
	}
	uid, err := strconv.ParseUint(account.Uid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("read the uid of %s: %w", account.Username, err)
	}
	gid, err := strconv.ParseUint(account.Gid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("read the gid of %s: %w", account.Username, err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

// initialize runs initdb unless the folder has a data directory, and writes who may log in from where.
func (s *Server) initialize(bin string, owner *syscall.Credential, options Options) error {
	if owner != nil {
		if err := os.Chown(s.Dir, int(owner.Uid), int(owner.Gid)); err != nil {
			return fmt.Errorf("give the folder to the server's user: %w", err)
		}
	}
	data := filepath.Join(s.Dir, "data")
	if _, err := os.Stat(filepath.Join(data, "PG_VERSION")); errors.Is(err, os.ErrNotExist) {
		passwords := filepath.Join(s.Dir, "pwfile")
		if err := writeFile(passwords, password+"\n", owner); err != nil {
			return err
		}
		cmd := exec.Command(filepath.Join(bin, "initdb"), "-D", data, "-U", AdminRole, "-A", "scram-sha-256",
			"--pwfile="+passwords, "-E", "UTF8", "--locale=C.UTF-8", "--no-sync", "--no-instructions")
		cmd.Dir = s.Dir
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: owner}
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("initdb: %w: %s", err, out)
		}
	}
	var rules strings.Builder
	rules.WriteString("local all all scram-sha-256\n")
	rules.WriteString("host all all 127.0.0.1/32 scram-sha-256\nhost all all ::1/128 scram-sha-256\n")
	for _, network := range options.AllowFrom {
		for _, role := range append([]string{AppRole}, options.Roles...) {
			fmt.Fprintf(&rules, "host all %s %s scram-sha-256\n", role, network)
		}
	}
	return writeFile(filepath.Join(data, "pg_hba.conf"), rules.String(), owner)
}

func writeFile(path, text string, owner *syscall.Credential) error {
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return fmt.Errorf("write the server's files: %w", err)
	}
	if owner != nil {
		if err := os.Chown(path, int(owner.Uid), int(owner.Gid)); err != nil {
			return fmt.Errorf("give the server its files: %w", err)
		}
	}
	return nil
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	addr, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return 0, fmt.Errorf("find a free port: unexpected address %s", l.Addr())
	}
	return addr.Port, nil
}

// removeStale removes the temporary folders of processes that were killed before they could.
func removeStale() {
	found, err := filepath.Glob(filepath.Join(os.TempDir(), tempPrefix+"*"))
	if err != nil {
		return
	}
	for _, dir := range found {
		pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), tempPrefix), "-")
		number, err := strconv.Atoi(pid)
		if err != nil || alive(number) {
			continue
		}
		// The server ends with its process, but a moment later; its folder then waits for the next start.
		if _, err := Attach(dir); err != nil {
			_ = os.RemoveAll(dir)
		}
	}
}

func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

func tail(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-2000):])
}
