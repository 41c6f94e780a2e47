package demo

import (
	"bytes"
	"context"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"linger"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func quick(out io.Writer) Options {
	o := DefaultOptions()
	o.Records, o.Rate, o.Out, o.Program, o.Log = 10_000, 0, out, "linger", linger.WithLogger(nil)
	return o
}

func TestTheTourSaysWhatHappenedFromBeginningToEnd(t *testing.T) {
	var out bytes.Buffer
	if err := Run(t.Context(), quick(&out)); err != nil {
		t.Fatal(err)
	}
	story := []string{
		`"Opticks" by Isaac Newton`, `1\. Send\.`, `2\. A fault\. The next 3 requests for partition 2`,
		`partition  leader  acknowledged`, `      2      node 2  ####################     [\d,]+        0\n`,
		`10,000 of 10,000 records sent, 10,000 acknowledged`, `[\d,]+ batches in [\d,]+ requests, \d+ records a batch`, `\(zstd [\d.]+ : 1\); [1-9][\d,]* records? sent again`,
		`3\. Close\. Every record has its outcome: 10,000 delivered, 0 failed\.`,
		`4\. Read back, with another client \(franz-go\): 10,000 records`, `ok  every record is there once, byte for byte`,
		`ok  each partition has its records in the order`, `ok  each record stands at the offset`,
		`What to try next`, `linger produce --embedded`, `linger demo --rate 0`, `linger config --explain linger\.ms`,
	}
	if !regexp.MustCompile(`(?s)` + strings.Join(story, ".*")).MatchString(out.String()) {
		t.Errorf("the story is not told in this order: %q\n%s", story, out.String())
	}
	for line := range strings.Lines(out.String()) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n >= pictureColumns {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Error("escapes where there is no terminal")
	}
}

// At 5,000 a second the tour lasts long enough for some pictures.
func TestOnATerminalThePictureIsDrawnOverItself(t *testing.T) {
	var out bytes.Buffer
	o := quick(&out)
	o.Rate, o.Terminal, o.Codec = 5_000, true, "none"
	if err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	const lines = 6 + 6 // the partitions; the blank lines, the heading and what is counted
	up := "\x1b[12A\x1b[J"
	if n := strings.Count(out.String(), up); n == 0 || n != strings.Count(out.String(), "\x1b")/2 {
		t.Errorf("%d times up by %d lines, %d escapes", n, lines, strings.Count(out.String(), "\x1b"))
	}
	parts := strings.Split(out.String(), up)
	for _, picture := range parts[1 : len(parts)-1] {
		if !strings.HasPrefix(picture, "\n2. A fault") && strings.Count(picture, "\n") != lines {
			t.Errorf("a picture of %d lines:\n%s", strings.Count(picture, "\n"), picture)
		}
	}
	if !strings.Contains(out.String(), "(none 1.0 : 1)") {
		t.Error("without a codec nothing is compressed")
	}
}

func TestWhileThePartitionIsRefusedItsRowSaysSo(t *testing.T) {
	tr := &tour{Options: quick(io.Discard), screen: newScreen(io.Discard, false), book: newBook(poem)}
	if err := tr.open(); err != nil {
		t.Fatal(err)
	}
	defer tr.broker.Close()
	defer tr.p.Close()
	if strings.Contains(tr.board.picture(), "refused") {
		t.Error("before the fault")
	}
	if err := tr.breakBroker(); err != nil {
		t.Fatal(err)
	}
	tr.board.acked[4].Add(1500)
	tr.board.sent[4].Add(2750)
	for _, want := range []string{"      2      node 2  ....................         0        0  <- refused 0 of 3\n", "    1,500    1,250\n"} {
		if !strings.Contains(tr.board.picture(), want) {
			t.Errorf("no %q in\n%s", want, tr.board.picture())
		}
	}
}

func TestAnInterruptedTourEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := quick(writerFunc(func(p []byte) (int, error) {
		if bytes.Contains(p, []byte("2. A fault")) {
			cancel()
		}
		return len(p), nil
	}))
	o.Rate = 1_000_000
	if err := Run(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestABrokenPipeIsAnError(t *testing.T) {
	broken := errors.New("broken pipe")
	if err := Run(t.Context(), quick(writerFunc(func([]byte) (int, error) { return 0, broken }))); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}
