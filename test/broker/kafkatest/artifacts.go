//go:build unix

package kafkatest

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

//go:embed pom.xml
var pomXML []byte

//go:embed log4j2.properties
var brokerLogConfig []byte

//go:embed log4j2-tools.properties
var toolLogConfig []byte

// CacheEnv names the environment variable with the folder that keeps Kafka's jars. Unset, it is "linger" in the user's
// cache folder, or in the temporary folder where there is no such thing.
const CacheEnv = "LINGER_CACHE"

// Install makes sure that Kafka's jars are on this machine and returns their folder. The first call on a machine takes
// some seconds and needs Maven; the folder's name has the hash of pom.xml, so another pom is another folder.
//
// Several test binaries may ask at once: a lock file lets one of them copy. The jars are copied beside the final
// folder and renamed into place, so that a copy cut short is never taken for a whole one.
func Install(ctx context.Context) (string, error) {
	sum := sha256.Sum256(pomXML)
	dir := filepath.Join(cacheDir(), "kafka-"+Version+"-"+hex.EncodeToString(sum[:4]))
	if present(dir) {
		return dir, nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", fmt.Errorf("kafkatest: cache for Kafka's jars: %w", err)
	}
	unlock, err := lockFile(dir + ".lock")
	if err != nil {
		return "", fmt.Errorf("kafkatest: cache for Kafka's jars: %w", err)
	}
	defer unlock()
	if present(dir) { // the one before us copied them
		return dir, nil
	}
	return dir, copyJars(ctx, dir)
}

// copyJars has Maven copy everything pom.xml names into dir.
func copyJars(ctx context.Context, dir string) error {
	mvn, err := exec.LookPath("mvn")
	if err != nil {
		return errors.New("kafkatest: Apache Maven (mvn) is not on the PATH; the real brokers come from it. " +
			"On Debian: apt-get install maven. `go test -short` leaves real brokers out")
	}
	work := dir + ".part"
	if err := errors.Join(os.RemoveAll(work), os.MkdirAll(work, 0o755)); err != nil {
		return fmt.Errorf("kafkatest: cache for Kafka's jars: %w", err)
	}
	pom := filepath.Join(work, "pom.xml")
	files := map[string][]byte{pom: pomXML, filepath.Join(work, "broker.properties"): brokerLogConfig, filepath.Join(work, "tools.properties"): toolLogConfig}
	for name, content := range files {
		if err := os.WriteFile(name, content, 0o644); err != nil {
			return fmt.Errorf("kafkatest: cache for Kafka's jars: %w", err)
		}
	}
	cmd := exec.CommandContext(ctx, mvn, "-B", "-q", "-f", pom, "dependency:copy-dependencies", "-DoutputDirectory="+filepath.Join(work, "lib"))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("kafkatest: mvn dependency:copy-dependencies: %w\n%s", err, tail(out, 20))
	}
	if err := os.Rename(work, dir); err != nil {
		return fmt.Errorf("kafkatest: cache for Kafka's jars: %w", err)
	}
	return nil
}

func cacheDir() string {
	if dir := os.Getenv(CacheEnv); dir != "" {
		return dir
	}
	if dir, err := os.UserCacheDir(); err == nil {
		return filepath.Join(dir, "linger")
	}
	return filepath.Join(os.TempDir(), "linger-cache")
}

func present(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "lib"))
	return err == nil
}

// lockFile waits for the lock on the file name and returns what gives it back. The system gives it back by itself when the
// process dies, so the file may stay.
func lockFile(name string) (unlock func(), err error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { f.Close() }, nil // closing gives the lock back
}
