//go:build !linux

package perf

import "time"

type pacer struct{ t *time.Ticker }

func newPacer(every time.Duration) (*pacer, error) { return &pacer{time.NewTicker(every)}, nil }

func (p *pacer) wait() error { <-p.t.C; return nil }

func (p *pacer) stop() { p.t.Stop() }
