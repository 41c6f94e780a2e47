package linger

// nowMs is the wall clock, at most 2 ms behind: while a batch takes records the engine keeps the coarse clock fresh, and
// otherwise it is read here, once for a batch that this record opens.
func (c *core) nowMs() int64 {
	if !c.acc.AnyOpen() {
		c.coarse.Refresh()
	}
	return c.coarse.Load()
}
