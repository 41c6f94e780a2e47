package transport

import (
	"bufio"
	"fmt"
)

// DefaultFrameLimit in bytes.
const DefaultFrameLimit = 100 << 20

func (c *connection) check(r *bufio.Reader, size int32) error {
	if size < 0 || int(size) > c.t.frameLimit {
		return fmt.Errorf("bad length %d", size)
	}
	return nil
}
