//go:build unix

package kafkatest

import (
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"linger/lingertest/kafka/readback"
)

// The console consumer prints text. BytesDeserializer makes it exact: bytes outside printable ASCII, and the backslash,
// come out as \xNN. So a tab can only be our separator, and a comma between headers is told from one inside a value by
// asking for another separator. The literal for null goes through the deserializer as well, like a value; so each call
// takes a random one, which no record holds.
const (
	bytesDeserializer = "org.apache.kafka.common.serialization.BytesDeserializer"
	headerSeparator   = "\x1e"
)

// ConsoleConsume reads want records of the topic with Java's console consumer, from the beginning, and returns them by
// partition and offset; fewer if no more come for some minutes. It can't see what comes after the first want records:
// ReadAll and Kcat tell the number. A header key that holds a colon is cut at the wrong place.
func ConsoleConsume(tb testing.TB, c *Cluster, topic string, want int) []Rec {
	tb.Helper()
	return consoleConsume(tb, c, topic, want, "read_uncommitted")
}

// ConsoleConsumeCommitted is ConsoleConsume with isolation level read_committed.
func ConsoleConsumeCommitted(tb testing.TB, c *Cluster, topic string, want int) []Rec {
	tb.Helper()
	return consoleConsume(tb, c, topic, want, "read_committed")
}

func consoleConsume(tb testing.TB, c *Cluster, topic string, want int, isolation string) []Rec {
	tb.Helper()
	null := "null-" + rand.Text()
	args := []string{
		"--bootstrap-server", c.Bootstrap(), "--topic", topic, "--from-beginning", "--isolation-level", isolation,
		"--max-messages", strconv.Itoa(want), "--timeout-ms", "180000",
	}
	for _, p := range []string{
		"print.timestamp=true", "print.partition=true", "print.offset=true", "print.headers=true", "print.key=true", "print.value=true",
		"key.separator=\t", "headers.separator=" + headerSeparator, "null.literal=" + null,
		"key.deserializer=" + bytesDeserializer, "value.deserializer=" + bytesDeserializer, "headers.deserializer=" + bytesDeserializer,
	} {
		args = append(args, "--formatter-property", p)
	}
	out, said, err := c.java.tool(tb.Context(), "org.apache.kafka.tools.consumer.ConsoleConsumer", args...)
	if err != nil {
		tb.Fatal(err)
	}
	recs, err := parseConsole(string(out), null)
	if err != nil {
		tb.Fatal(err)
	}
	if len(recs) < want {
		tb.Logf("the console consumer read %d of %d records and said:\n%s", len(recs), want, tail(said, 40))
	}
	return recs
}

// ConsoleProduce writes one record without a key for each line to the listener with Java's console producer, which reads
// the properties file; jvm are further arguments of Java. The error has what Java said.
func ConsoleProduce(tb testing.TB, c *Cluster, listener, topic, propertiesFile, lines string, jvm ...string) error {
	tb.Helper()
	_, said, err := c.java.toolWith(tb.Context(), jvm, lines, "org.apache.kafka.tools.ConsoleProducer",
		"--bootstrap-server", strings.Join(c.AddrsOf(listener), ","), "--topic", topic, "--command-config", propertiesFile,
		"--max-block-ms", "300000", "--request-timeout-ms", "60000") // its own are a minute and a second and a half
	if err == nil && strings.Contains(string(said), "ERROR") {
		err = fmt.Errorf("kafkatest: the console producer said:\n%s", tail(said, 20))
	}
	return err
}

// parseConsole reads lines of: CreateTime:1 ⇥ Partition:0 ⇥ Offset:2 ⇥ headers ⇥ key ⇥ value, where null stands for
// Kafka's null.
func parseConsole(out, null string) ([]Rec, error) {
	var recs []Rec
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 6 {
			return nil, fmt.Errorf("kafkatest: the console consumer printed %q, want six fields", line)
		}
		r := Rec{Key: unescape(f[4], null), Value: unescape(f[5], null)}
		kind, stamp, _ := strings.Cut(f[0], ":")
		r.LogAppendTime = kind == "LogAppendTime"
		partition, errP := strconv.ParseInt(strings.TrimPrefix(f[1], "Partition:"), 10, 32)
		offset, errO := strconv.ParseInt(strings.TrimPrefix(f[2], "Offset:"), 10, 64)
		ms, errT := strconv.ParseInt(stamp, 10, 64)
		if errP != nil || errO != nil || errT != nil {
			return nil, fmt.Errorf("kafkatest: the console consumer printed %q", line)
		}
		r.Partition, r.Offset, r.TimestampMs = int32(partition), offset, ms
		if f[3] != "NO_HEADERS" {
			for h := range strings.SplitSeq(f[3], headerSeparator) {
				key, value, _ := strings.Cut(h, ":")
				r.Headers = append(r.Headers, Header{Key: key, Value: unescape(value, null)})
			}
		}
		recs = append(recs, r)
	}
	readback.Sort(recs)
	return recs, nil
}

// unescape undoes org.apache.kafka.common.utils.Bytes.toString.
func unescape(s, null string) []byte {
	if s == null {
		return nil
	}
	b := make([]byte, 0, len(s))
	for len(s) > 0 {
		if len(s) >= 4 && s[:2] == `\x` {
			if v, err := strconv.ParseUint(s[2:4], 16, 8); err == nil {
				b, s = append(b, byte(v)), s[4:]
				continue
			}
		}
		b, s = append(b, s[0]), s[1:]
	}
	return b
}
