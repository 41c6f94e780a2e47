package faults

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"

	"go.uber.org/goleak"
)

// atOnce is how many scenarios run at a time. Most of their time is waiting.
const atOnce = "6"

// driver is the path of the built driver.
var driver string

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	flag.Parse()
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "test.parallel" })
	if !chosen {
		if err := flag.Set("test.parallel", atOnce); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	folder, err := os.MkdirTemp("", "faults")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	if driver, err = buildDriver(folder); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}

// TestFaults plays every scenario and compares its facts with Java's. What the scenarios show:
//
// IDEM-01, IDEM-16, B05: idem_drop_once_applied, idem_request_timed_out_applied, idem_5_in_flight_first_lost_answer
// IDEM-02: plain_acks1_duplicate
// IDEM-06, IDEM-10, RESP-01, RESP-02: idem_baseline, idem_baseline_single_batches
// IDEM-07, RESP-07: idem_too_large_split, idem_too_large_split_in_flight, idem_too_large_single
// IDEM-11: idem_retry_… (seven errors), idem_close_once, idem_truncated_answer
// IDEM-17, IDEM-21, SND-29: idem_5_in_flight_first_fails, …_third_fails, …_timeout
// IDEM-19, IDEM-20: idem_out_of_order_next_in_line, idem_out_of_order_always, idem_5_in_flight_first_fatal
// IDEM-24, TMO-03: idem_delivery_timeout_in_flight, …_applied, idem_expire_retrying
// IDEM-25: idem_unknown_producer_retention, idem_unknown_producer_no_log_start
// RESP-04: plain_retries_0, idem_retries_exhausted
// RESP-06: idem_fatal_… (eleven errors), idem_two_partitions_one_fatal
// RESP-08, RESP-09: leader_moved_hint, leader_moved_in_flight
// RESP-10: idem_invalid_record_errors, idem_invalid_record_no_errors
// RESP-12: idem_duplicate_sequence
// TMO-01, NET-08: idem_drop_once, idem_5_in_flight_timeout, idem_request_timed_out_not_applied
// TMO-04: idem_expire_in_accumulator, idem_muted_expiry
// NET-10, BRK-01: plain_acks0, plain_acks0_error
// NET-16: versions_…
// NET-17: idem_throttle
// SND-28: plain_reorder
// ERR-01: idem_record_larger_than_max_request, idem_buffer_exhausted, meta_missing_topic
// META-03: meta_unknown_topic_3
// META-08: meta_topic_authorization
// META-11: meta_invalid_topic
// META-16: leader_moved_no_hint
// CLOSE-02, CLOSE-04, CLOSE-06: idem_close_waits
// CLOSE-05: idem_close_timeout_0, idem_close_timeout_expires
// CLOSE-12: idem_send_after_close
// CLOSE-14: idem_fatal_cluster_authorization_failed, idem_fatal_producer_fenced
func TestFaults(t *testing.T) {
	folders := []string{"testdata", "testdata/own"}
	if f := os.Getenv("LINGER_FAULTS"); f != "" {
		folders = []string{f}
	}
	var all []*scenario
	for _, f := range folders {
		some, err := load(f)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, some...)
	}
	byName := map[string]*scenario{}
	waiting, unrecorded := 0, 0
	for _, s := range all {
		byName[s.Name] = s
		switch {
		case s.want == nil:
			unrecorded++
		case slices.Contains(leftOut, s.Area):
			waiting++
		}
	}
	t.Logf("%d scenarios; %d of the areas %v are left out until there are transactions, %d have no recorded facts, %d are known to differ",
		len(all), waiting, leftOut, unrecorded, len(known))
	for _, s := range all {
		if s.want == nil || slices.Contains(leftOut, s.Area) {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			if d, ok := known[s.Name]; ok {
				wantKnown(t, s, d)
				return
			}
			wantAgreement(t, s, accepted(s, byName))
		})
	}
}

// tries is how often a scenario may be played. Scripts count on pauses of some ten milliseconds, which a busy machine does
// not always keep.
const tries = 3

// wantAgreement plays s until its facts are among those accepted.
func wantAgreement(t *testing.T, s *scenario, wants []map[string]any) {
	for try := 1; ; try++ {
		got, err := s.run(driver)
		var ds []difference
		if err == nil {
			ds = nearest(s, wants, got)
		}
		switch {
		case err == nil && len(ds) == 0:
			return
		case try == tries && err != nil:
			t.Fatal(err)
		case try == tries:
			t.Fatalf("%s: %s\ndiffers from Java in %v:\n%s", s.Name, s.About, factsThatDiffer(ds), report(ds))
		case err != nil:
			t.Logf("try %d: %v", try, err)
		default:
			t.Logf("try %d differs:\n%s", try, report(ds))
		}
	}
}

// accepted are the facts that s may give: those recorded and, when a race decides, those of the other way.
func accepted(s *scenario, byName map[string]*scenario) []map[string]any {
	wants := []map[string]any{s.want}
	if other := byName[races[s.Name].or]; other != nil {
		wants = append(wants, other.want)
	}
	return wants
}

// nearest is how got differs from the first of wants, or nothing if it agrees with any.
func nearest(s *scenario, wants []map[string]any, got map[string]any) []difference {
	race := races[s.Name]
	var first []difference
	for i, want := range wants {
		ds := differences(race.agree(want), race.agree(got))
		if len(ds) == 0 {
			return nil
		}
		if i == 0 {
			first = ds
		}
	}
	return first
}

// wantKnown plays a scenario that differs as its entry says, and in nothing else.
func wantKnown(t *testing.T, s *scenario, d disagreement) {
	got, err := s.run(driver)
	if err != nil {
		t.Fatal(err)
	}
	ds := differences(s.want, got)
	if differ := factsThatDiffer(ds); !slices.Equal(differ, d.facts) {
		t.Errorf("differs in %v, and the table of known disagreements says %v (%s):\n%s", differ, d.facts, d.why, report(ds))
	}
}
