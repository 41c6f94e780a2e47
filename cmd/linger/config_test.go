package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"linger/internal/config"
)

func TestConfigListsEveryOptionOnce(t *testing.T) {
	r := run(t, "", "config")
	r.want(t, exitOK)
	var got, want []string
	for line := range strings.Lines(r.out) {
		got = append(got, strings.Fields(line)[0])
	}
	for _, k := range config.Keys() {
		want = append(want, k.Name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	has(t, "stdout", r.out, "bootstrap.servers                                    none  (must be set to connect)\n",
		"linger.ms                                            5\n", "client.rack                                          (empty)\n")
	if r.err != "" {
		t.Errorf("stderr: %s", r.err)
	}
}

// client.id counts up within the process, so its row is left out.
func changed(t *testing.T, args ...string) (string, result) {
	t.Helper()
	r := run(t, "", append([]string{"config", "--changed"}, args...)...)
	r.want(t, exitOK)
	var rows []string
	for line := range strings.Lines(r.out) {
		if !strings.HasPrefix(line, "client.id ") {
			rows = append(rows, strings.Join(strings.Fields(line), " "))
		}
	}
	return strings.Join(rows, "\n"), r
}

func TestConfigSaysWhereAValueComesFrom(t *testing.T) {
	name := file(t, "client.properties", "linger.ms=20\nbatch.size=1000\nbootstrap.servers=a:1\n")
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"nothing was changed", nil, ""},
		{"what says the same as the default is no change", []string{"-X", "linger.ms=5", "-X", "acks=ALL"}, ""},
		{"the command line wins over files, the last over the first", []string{"-X", "linger.ms=30", "--config", name, "-X", "batch.size=1", "-X", "batch.size=2000", "--bootstrap-server", "b:2"},
			"bootstrap.servers [b:2] (set by --bootstrap-server)\nbatch.size 2000 (set by -X)\nlinger.ms 30 (set by -X)"},
		{"a rule between options", []string{"-X", "request.timeout.ms=200000"},
			"delivery.timeout.ms 200005 (default; raised to linger.ms + request.timeout.ms)\nrequest.timeout.ms 200000 (set by -X)"},
		{"a file", []string{"--config", name}, "bootstrap.servers [a:1] (set by " + name + ")\nbatch.size 1000 (set by " + name + ")\nlinger.ms 20 (set by " + name + ")"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _ := changed(t, c.args...)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestConfigWarnsOfWhatDoesNothing(t *testing.T) {
	name := file(t, "client.properties", "group.id=mine\n")
	_, r := changed(t, "--config", name, "-X", "compression.gzip.level=3", "-X", "request.timeout.ms=200000")
	has(t, "stderr", r.err, "warning: These configurations '[group.id, compression.gzip.level]' were supplied but are not used yet.\n",
		"delivery.timeout.ms should be equal to or larger than linger.ms + request.timeout.ms. Setting it to 200005.\n")
}

func TestConfigExplainsAKey(t *testing.T) {
	r := run(t, "", "config", "--explain", "linger.ms", "--explain", "transactional.id", "-X", "linger.ms=20")
	r.want(t, exitOK)
	has(t, "stdout", r.out, "linger.ms\n  value    20  (set by -X)\n  default  5 (5ms)\n  takes    long, 0 and up; milliseconds\n  in Go    linger.Linger\n",
		"How long a batch that is not full waits for more records.", "transactional.id\n  value    none  (default)\n")
	k, _ := config.Lookup("linger.ms")
	has(t, "stdout without line ends", strings.ReplaceAll(r.out, "\n", " "), k.Doc)
	for line := range strings.Lines(r.out) {
		if len([]rune(line)) > 120 {
			t.Errorf("a line of %d letters: %s", len(line), line)
		}
	}
}

func TestConfigAsJSON(t *testing.T) {
	r := run(t, "", "config", "--json", "--changed", "-X", "acks=1", "-X", "client.id=me")
	r.want(t, exitOK)
	var got []map[string]string
	if err := json.Unmarshal([]byte(r.out), &got); err != nil {
		t.Fatal(err)
	}
	want := []map[string]string{
		{"key": "acks", "value": "1", "default": "all", "source": "-X", "status": "works"},
		{"key": "client.id", "value": "me", "default": "empty", "source": "-X", "status": "works"},
		{"key": "enable.idempotence", "value": "false", "default": "true", "source": "default", "status": "works",
			"adjusted": "switched off because acks is set to 1, not set to 'all'"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if r := run(t, "", "config", "--json", "--changed", "--explain", "acks"); strings.TrimSpace(r.out) != "[]" {
		t.Errorf("nothing as JSON: %s", r.out)
	}
}
