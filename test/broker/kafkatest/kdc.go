//go:build unix

package kafkatest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Realm is the Kerberos realm of a KDC that a test starts.
const Realm = "LINGER.TEST"

// KDC is a Kerberos key distribution center on the loopback interface, with a database and configuration of its own.
type KDC struct {
	dir      string
	reserved *reserved // one port
	port     int
	proc     *process
}

// StartKDC makes a realm in dir, with a random key for each principal (without the realm), and starts its KDC. The caller
// ends it with Close.
func StartKDC(ctx context.Context, dir string, principals ...string) (k *KDC, err error) {
	r, err := reservePorts(1)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			r.release()
		}
	}()
	k = &KDC{dir: dir, reserved: r, port: r.ports[0]}
	if err := k.layOut(); err != nil {
		return nil, fmt.Errorf("kafkatest: KDC: %w", err)
	}
	if err := k.run(ctx, "", "kdb5_util", "-r", Realm, "create", "-s", "-P", "master-secret"); err != nil {
		return nil, err
	}
	var script strings.Builder
	for _, p := range principals {
		fmt.Fprintf(&script, "addprinc -randkey %s\nktadd -k %s %s\n", p, k.Keytab(p), p)
	}
	if err := k.run(ctx, script.String(), "kadmin.local", "-r", Realm); err != nil {
		return nil, err
	}
	path, err := sbin("krb5kdc")
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, "kdc.out"))
	if err != nil {
		return nil, fmt.Errorf("kafkatest: KDC: %w", err)
	}
	defer log.Close() // the child has its own descriptor
	cmd := exec.Command(path, "-n", "-r", Realm, "-P", filepath.Join(dir, "kdc.pid"))
	cmd.Env, cmd.Stdout, cmd.Stderr = k.env(), log, log
	if k.proc, err = launch(cmd); err != nil {
		return nil, fmt.Errorf("kafkatest: KDC: %w", err)
	}
	if err := k.waitReady(ctx); err != nil {
		return nil, errors.Join(err, k.Close())
	}
	return k, nil
}

// Close ends the KDC.
func (k *KDC) Close() error {
	defer k.reserved.release()
	return k.proc.kill()
}

// Config is the path of its krb5.conf.
func (k *KDC) Config() string { return filepath.Join(k.dir, "krb5.conf") }

// Keytab is the path of the key table of one of its principals.
func (k *KDC) Keytab(principal string) string {
	return filepath.Join(k.dir, strings.ReplaceAll(principal, "/", "-")+".keytab")
}

// Cache logs a principal in with kinit and its key table, and returns the file with its ticket.
func (k *KDC) Cache(ctx context.Context, principal string) (string, error) {
	cache := filepath.Join(k.dir, strings.ReplaceAll(principal, "/", "-")+".ccache")
	return cache, k.run(ctx, "", "kinit", "-k", "-t", k.Keytab(principal), "-c", "FILE:"+cache, principal)
}

func (k *KDC) layOut() error {
	krb5 := fmt.Sprintf(`[libdefaults]
  default_realm = %[1]s
  dns_lookup_kdc = false
  dns_lookup_realm = false
  dns_canonicalize_hostname = false
  rdns = false
  udp_preference_limit = 1
  ticket_lifetime = 1h
[realms]
  %[1]s = {
    kdc = 127.0.0.1:%[2]d
  }
[domain_realm]
  localhost = %[1]s
  127.0.0.1 = %[1]s
`, Realm, k.port)
	kdc := fmt.Sprintf(`[kdcdefaults]
  kdc_listen = 127.0.0.1:%[2]d
  kdc_tcp_listen = 127.0.0.1:%[2]d
[realms]
  %[1]s = {
    database_name = %[3]s/principal
    key_stash_file = %[3]s/stash
    acl_file = %[3]s/kadm5.acl
    max_life = 1h
    supported_enctypes = aes256-cts-hmac-sha1-96:normal aes128-cts-hmac-sha1-96:normal
  }
[logging]
  kdc = FILE:%[3]s/kdc.log
`, Realm, k.port, k.dir)
	return errors.Join(
		os.MkdirAll(k.dir, 0o755),
		os.WriteFile(k.Config(), []byte(krb5), 0o644),
		os.WriteFile(filepath.Join(k.dir, "kdc.conf"), []byte(kdc), 0o644))
}

func (k *KDC) env() []string {
	return append(os.Environ(), "KRB5_CONFIG="+k.Config(), "KRB5_KDC_PROFILE="+filepath.Join(k.dir, "kdc.conf"))
}

// run runs one of Kerberos' programs to its end.
func (k *KDC) run(ctx context.Context, input, name string, args ...string) error {
	path, err := sbin(name)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env, cmd.Stdin = k.env(), strings.NewReader(input)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("kafkatest: %s: %w\n%s", name, err, tail(out.Bytes(), 10))
	}
	return nil
}

// waitReady waits until the KDC takes connections.
func (k *KDC) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", k.port))
		if err == nil {
			return conn.Close()
		}
		select {
		case <-tick.C:
		case <-k.proc.done:
			log, _ := os.ReadFile(filepath.Join(k.dir, "kdc.log")) // the error at hand matters more
			return errors.Join(fmt.Errorf("kafkatest: the KDC ended while starting; it said:\n%s", tail(log, 10)), k.proc.err)
		case <-ctx.Done():
			return fmt.Errorf("kafkatest: the KDC did not become ready: %w", err)
		}
	}
}

// sbin finds one of Kerberos' programs: Debian keeps some where only root's PATH looks.
func sbin(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	for _, dir := range []string{"/usr/sbin", "/usr/local/sbin"} {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("kafkatest: %s is not on this machine; the tests of GSSAPI start a KDC of their own. "+
		"On Debian: apt-get install krb5-kdc krb5-admin-server krb5-user. `go test -short` leaves real brokers out", name)
}
