//go:build unix

package kafkatest

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestServerPropertiesOfTheSecondOfThreeNodes(t *testing.T) {
	all := []ports{{"PLAINTEXT": 1, "CONTROLLER": 2, "TLS": 3}, {"PLAINTEXT": 4, "CONTROLLER": 5, "TLS": 6}, {"PLAINTEXT": 7, "CONTROLLER": 8, "TLS": 9}}
	o := Options{
		Nodes: 3, TwoPhaseCommit: true, Props: map[string]string{"num.io.threads": "9", "odd": ` a\b`},
		Listeners: []Listener{{Name: "TLS", Protocol: "SSL", Props: map[string]string{"ssl.client.auth": "required"}}},
	}
	text := serverProperties(o, 2, all, "/data")
	for _, want := range []string{
		"node.id=2\n",
		"controller.quorum.voters=1@127.0.0.1:2,2@127.0.0.1:5,3@127.0.0.1:8\n",
		"\nlisteners=PLAINTEXT://127.0.0.1:4,TLS://127.0.0.1:6,CONTROLLER://127.0.0.1:5\n",
		"advertised.listeners=PLAINTEXT://127.0.0.1:4,TLS://127.0.0.1:6\n",
		"listener.security.protocol.map=PLAINTEXT:PLAINTEXT,TLS:SSL,CONTROLLER:PLAINTEXT\n",
		"listener.name.tls.ssl.client.auth=required\n",
		"transaction.state.log.replication.factor=3\n",
		"transaction.state.log.min.isr=2\n",
		"transaction.two.phase.commit.enable=true\n",
		"unstable.api.versions.enable=true\n",
		"num.io.threads=9\n", // the caller's word is the last
		"odd=\\ a\\\\b\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	if strings.Contains(serverProperties(Options{}, 1, all[:1], "/data"), "two.phase") {
		t.Error("two-phase commit is on without being asked for")
	}
}

func TestOptionsThatCannotBeServedAreRefused(t *testing.T) {
	for name, o := range map[string]Options{
		"negative nodes":          {Nodes: -1},
		"transaction version 3":   {TransactionVersion: 3},
		"a taken listener":        {Listeners: []Listener{{Name: "PLAINTEXT"}}},
		"the same listener twice": {Listeners: []Listener{{Name: "A"}, {Name: "A"}}},
		"a listener with no name": {Listeners: []Listener{{}}},
	} {
		if c, err := Start(t.Context(), o); err == nil {
			t.Errorf("%s: a cluster came: %v", name, c.Close(false))
		}
	}
}

func TestEqualOptionsShareACluster(t *testing.T) {
	a := Options{Props: map[string]string{"a": "1", "b": "2"}}
	b := Options{Nodes: 1, Props: map[string]string{"b": "2", "a": "1"}}
	if a.key() != b.key() {
		t.Errorf("%s and %s differ", a.key(), b.key())
	}
	if b.Props["a"] = "3"; a.key() == b.key() {
		t.Errorf("%s is the key of both", a.key())
	}
}

func TestAMissingToolIsNamedWithItsPackage(t *testing.T) {
	for name, tc := range map[string]struct{ path, want string }{
		"no Java":  {t.TempDir(), "default-jre-headless"},
		"old Java": {fakeJava(t, `openjdk version "11.0.2"`), "is Java 11"},
		"no Maven": {fakeJava(t, `openjdk version "21" 2023-09-19`), "apt-get install maven"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PATH", tc.path)
			t.Setenv("JAVA_HOME", "")
			t.Setenv(CacheEnv, t.TempDir())
			if _, err := findJVM(t.Context()); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want a mention of %q", err, tc.want)
			}
		})
	}
}

// fakeJava is a PATH with a java that only knows its version.
func fakeJava(t *testing.T, version string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "java"), []byte("#!/bin/sh\necho '"+version+"' >&2\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestJavaVersions(t *testing.T) {
	for out, want := range map[string]int{
		`openjdk version "17.0.15" 2025-04-15`:   17,
		`java version "1.8.0_392"`:               8,
		`openjdk version "26-ea" 2026-03-17`:     26,
		"Picked up X\nopenjdk version \"21\" \n": 21,
		"nothing of the kind":                    0,
	} {
		if got := javaMajor(out); got != want {
			t.Errorf("javaMajor(%q) = %d, want %d", out, got, want)
		}
	}
}

func TestReservedPortsAreDifferentAndFree(t *testing.T) {
	t.Setenv(CacheEnv, t.TempDir())
	r, err := reservePorts(20)
	if err != nil {
		t.Fatal(err)
	}
	defer r.release()
	seen := map[int]bool{}
	for _, p := range r.ports {
		if seen[p] || p < firstPort || p > lastPort {
			t.Errorf("port %d twice or out of range in %v", p, r.ports)
		}
		seen[p] = true
		l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(p))
		if err != nil {
			t.Errorf("port %d: %v", p, err)
			continue
		}
		l.Close() // nothing was accepted
	}
}

func TestAReservedPortIsNobodyElsesUntilItIsReleased(t *testing.T) {
	t.Setenv(CacheEnv, t.TempDir())
	r, err := reservePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	name := r.files[len(r.files)-1].Name()
	if f := lockPort(name); f != nil {
		t.Error("somebody else gets it too")
	}
	r.release()
	f := lockPort(name)
	if f == nil {
		t.Fatal("nobody gets it although it was released")
	}
	f.Close()
}

func TestADumpLineIsReadWhole(t *testing.T) {
	const out = `Dumping /data/t-0/00000000000000000000.log
Log starting offset: 0
baseOffset: 5 lastOffset: 7 count: 3 baseSequence: 10 lastSequence: 12 producerId: 4000 producerEpoch: 2 partitionLeaderEpoch: 1 isTransactional: true isControl: false deleteHorizonMs: OptionalLong.empty position: 90 CreateTime: 1700000000123 size: 1234 magic: 2 compresscodec: zstd crc: 3012345678 isvalid: true
`
	want := map[string][]BatchInfo{"t-0": {{
		BaseOffset: 5, LastOffset: 7, Count: 3, BaseSequence: 10, LastSequence: 12, ProducerID: 4000, ProducerEpoch: 2, LeaderEpoch: 1,
		Transactional: true, Position: 90, TimestampMs: 1700000000123, Size: 1234, Magic: 2, Codec: "zstd", CRC: 3012345678, Valid: true,
	}}}
	got, err := parseDump(out)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	for word := range dumpFields {
		if word == "baseOffset" { // lines without it are no batches
			continue
		}
		if _, err := parseDump(strings.Replace(out, " "+word+": ", " other: ", 1)); err == nil {
			t.Errorf("a line without %s passed", word)
		}
	}
	if _, err := parseDump(strings.Replace(out, "CreateTime", "Time", 1)); err == nil {
		t.Error("a line without a timestamp passed")
	}
}

func TestConsoleLines(t *testing.T) {
	out := "CreateTime:7\tPartition:1\tOffset:2\ta:1" + headerSeparator + "b:null-1\tnull-1\t" + `x\x09\x5Cy` + "\n" +
		"LogAppendTime:8\tPartition:0\tOffset:3\tNO_HEADERS\t\t\\xFF\n"
	want := []Rec{
		{Partition: 0, Offset: 3, TimestampMs: 8, LogAppendTime: true, Key: []byte{}, Value: []byte{0xff}},
		{Partition: 1, Offset: 2, TimestampMs: 7, Value: []byte("x\t\\y"), Headers: []Header{{Key: "a", Value: []byte("1")}, {Key: "b", Value: nil}}},
	}
	got, err := parseConsole(out, "null-1")
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	if got, err := parseConsole("CreateTime:7\tPartition:1\n", "null-1"); err == nil {
		t.Errorf("half a line was read as %v", got)
	}
}

func TestKcatFramesAreReadByLength(t *testing.T) {
	out := "1 2 7 -1 3 a=1,b=NULL\n\n\n\n\n0 3 8 0 -1 \n\n"
	want := []Rec{
		{Partition: 0, Offset: 3, TimestampMs: 8, Key: []byte{}},
		{Partition: 1, Offset: 2, TimestampMs: 7, Value: []byte("\n\n\n"), Headers: []Header{{Key: "a", Value: []byte("1")}, {Key: "b", Value: nil}}},
	}
	got, err := parseKcat([]byte(out))
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	for cut := 1; cut < len(out); cut++ {
		if got, err := parseKcat([]byte(out[:cut])); err == nil && len(got) == 2 {
			t.Errorf("cut after %d bytes it still holds two records", cut)
		}
	}
}

func TestAListenerMayCallItselfByName(t *testing.T) {
	o := Options{Listeners: []Listener{{Name: "LOGIN", Protocol: "SASL_PLAINTEXT", Host: "localhost"}}}
	text := serverProperties(o, 1, []ports{{"PLAINTEXT": 1, "CONTROLLER": 2, "LOGIN": 3}}, "/data")
	for _, want := range []string{
		"advertised.listeners=PLAINTEXT://127.0.0.1:1,LOGIN://localhost:3\n",
		"\nlisteners=PLAINTEXT://127.0.0.1:1,LOGIN://127.0.0.1:3,CONTROLLER://127.0.0.1:2\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	n := Node{opts: o, ports: ports{"PLAINTEXT": 1, "LOGIN": 3}}
	if got := n.AddrOf("LOGIN"); got != "localhost:3" {
		t.Errorf("address %s", got)
	}
}
