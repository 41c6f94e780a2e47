//go:build unix

package kafkatest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// StorePassword opens every store that keytool made.
const StorePassword = "store-secret"

// JavaStores are the files that a Java user has, made by the JDK's own keytool.
type JavaStores struct {
	KeyP12, KeyJKS     string // a client's key with its chain; the alias is "client"
	TrustP12, TrustJKS string // the authority's certificate
}

// keytool runs the JDK's program of that name; Java comes with it.
func (j jvm) keytool(ctx context.Context, args ...string) error {
	path := filepath.Join(filepath.Dir(j.java), "keytool")
	if _, err := os.Stat(path); err != nil {
		if path, err = exec.LookPath("keytool"); err != nil {
			return errors.New("kafkatest: keytool, which comes with Java, is neither beside java nor on the PATH. " +
				"On Debian: apt-get install default-jre-headless")
		}
	}
	// -J: start-up is most of what it does.
	args = append([]string{"-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC", "-J-Xshare:auto"}, args...)
	if out, err := exec.CommandContext(ctx, path, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("kafkatest: keytool: %w\n%s", err, tail(out, 10))
	}
	return nil
}

// MakeJavaStores has keytool make a client's key that is called name, has ca sign it, and keeps both and the authority in
// stores of both types in dir.
func MakeJavaStores(ctx context.Context, dir string, ca *CA, name string) (JavaStores, error) {
	java, err := findJVM(ctx)
	if err != nil {
		return JavaStores{}, err
	}
	file := func(base string) string { return filepath.Join(dir, base) }
	s := JavaStores{KeyP12: file("client.p12"), KeyJKS: file("client.jks"), TrustP12: file("trust.p12"), TrustJKS: file("trust.jks")}
	authority := file("authority.pem")
	if err := os.WriteFile(authority, ca.PEM(), 0o644); err != nil {
		return s, fmt.Errorf("kafkatest: %w", err)
	}
	trusted := make(chan error, 1)
	go func() { // ends with its two commands, and is waited for below
		trusted <- errors.Join(
			java.keytool(ctx, "-importcert", "-noprompt", "-alias", "ca", "-file", authority, "-keystore", s.TrustP12, "-storetype", "PKCS12", "-storepass", StorePassword),
			java.keytool(ctx, "-importcert", "-noprompt", "-alias", "ca", "-file", authority, "-keystore", s.TrustJKS, "-storetype", "JKS", "-storepass", StorePassword))
	}()
	err = java.clientStores(ctx, s, ca, name, file("client.csr"), file("client-chain.pem"))
	return s, errors.Join(err, <-trusted)
}

// clientStores makes the two stores with the key, the second a copy of the first.
func (j jvm) clientStores(ctx context.Context, s JavaStores, ca *CA, name, request, reply string) error {
	p12 := []string{"-alias", "client", "-keystore", s.KeyP12, "-storetype", "PKCS12", "-storepass", StorePassword}
	if err := j.keytool(ctx, append([]string{"-genkeypair", "-keyalg", "RSA", "-keysize", "2048", "-dname", "CN=" + name}, p12...)...); err != nil {
		return err
	}
	if err := j.keytool(ctx, append([]string{"-certreq", "-file", request}, p12...)...); err != nil {
		return err
	}
	asked, err := os.ReadFile(request)
	if err != nil {
		return fmt.Errorf("kafkatest: %w", err)
	}
	chain, err := ca.sign(asked)
	if err != nil {
		return err
	}
	if err := os.WriteFile(reply, chain, 0o644); err != nil {
		return fmt.Errorf("kafkatest: %w", err)
	}
	if err := j.keytool(ctx, append([]string{"-importcert", "-noprompt", "-file", reply}, p12...)...); err != nil {
		return err
	}
	return j.keytool(ctx, "-importkeystore", "-noprompt", "-srckeystore", s.KeyP12, "-srcstorepass", StorePassword, "-destkeystore", s.KeyJKS,
		"-deststoretype", "JKS", "-deststorepass", StorePassword, "-destkeypass", StorePassword)
}
