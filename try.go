package linger

import "linger/internal/kerr"

// tryTopic is findTopic that takes what is known now, and otherwise asks for the topic so that a later try finds it.
func (c *core) tryTopic(topic string, d *draft) error {
	t, n, err := c.engine.Topic(topic, d.entry.Partition)
	if t == nil {
		c.engine.WantTopic(topic) // also what was refused may be allowed by now
		if err == nil {
			err = kerr.ErrWouldBlock
		}
	}
	d.known, d.count = t, n
	return err
}
