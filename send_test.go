package linger_test

import (
	"testing"
)

func TestSendSmoke(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 2)
		p := c.producer()
		md := mustWait(t, mustSend(t, p, plain("hello"), nil))
		t.Log(md, c.values("t", int(md.Partition)), c.calls)
	})
}
