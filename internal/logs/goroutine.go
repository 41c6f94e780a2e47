package logs

import "log/slog"

// Start begins to write lines on a goroutine of the queue's own. Stop ends it and waits for it.
func (q *Queue) Start() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.to == slog.DiscardHandler {
		close(q.done)
		return
	}
	q.phase = running
	go q.loop()
}

// Stop returns when every line is written and the goroutine has ended. It waits as long as the handler takes, and must not
// be called by one. Call it once, after Start.
func (q *Queue) Stop() {
	q.mu.Lock()
	if q.phase == running {
		q.phase = stopping
	}
	q.mu.Unlock()
	q.more.Signal()
	<-q.done
}

// loop is the queue's goroutine. Stop stops it and waits for it.
func (q *Queue) loop() {
	ended := false
	defer func() {
		if ended {
			close(q.done)
			return
		}
		go q.loop() // the handler ended the goroutine (runtime.Goexit): its line is lost, the others are not
	}()
	for {
		l, ok := q.take()
		if !ok {
			break
		}
		q.write(l)
	}
	ended = true
}
