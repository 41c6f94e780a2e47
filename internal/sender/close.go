package sender

import (
	"fmt"

	"linger/internal/accumulator"
	"linger/internal/clock"
	"linger/internal/kerr"
)

// close carries an asked-for close forward: first everything buffered and in flight is sent and delivered, then the
// links go, then the turn says Done (Java: Sender.run after its loop).
func (s *Sender) close(now clock.Instant) {
	if !s.closing {
		return
	}
	if s.forced {
		s.abort(kerr.ErrForceClosed)
	}
	if s.sched.Incomplete() > 0 || s.undelivered > 0 && !s.forced {
		return
	}
	s.client.CloseAll(now)
	s.finished = s.client.Connections().Links == 0 && s.inFlight == 0 && s.sealing == 0
	s.fx.Done = s.finished
}

// abort fails whatever has not ended: queued, sealing and in flight.
func (s *Sender) abort(err error) {
	s.batches = s.sched.Unended(s.batches[:0])
	for _, b := range s.batches {
		s.failBatch(b, accumulator.Ending{BaseOffset: -1, LogAppendMs: -1, Err: err}, err, false)
	}
	clear(s.batches)
}

func (s *Sender) log(l Level, format string, args ...any) {
	s.fx.Logs = append(s.fx.Logs, LogLine{Level: l, Text: fmt.Sprintf(format, args...)})
}

// takeLogs passes on what the client machine has to say.
func (s *Sender) takeLogs() {
	s.clientLogs = s.client.Logs(s.clientLogs[:0])
	for _, l := range s.clientLogs {
		s.fx.Logs = append(s.fx.Logs, LogLine{Level: Level(l.Level), Text: l.Text})
	}
}
