package deliver

import (
	"bytes"
	"runtime"
	"strconv"
)

// OnDeliveryGoroutine reports whether the caller is inside a callback (KIP-1118 needs to know for flush). It costs about a
// microsecond, so it is for calls that are rare.
func (d *Deliverer) OnDeliveryGoroutine() bool {
	n := goroutineNumber()
	return n != 0 && n == d.goroutine.Load()
}

// goroutineNumber reads the running goroutine's number from the first line of its stack trace, "goroutine 18 [running]:".
// Numbers are not used twice. It returns 0, which is nobody's, should the line ever look otherwise.
func goroutineNumber() uint64 {
	var buf [64]byte
	line := buf[:runtime.Stack(buf[:], false)]
	digits, _, _ := bytes.Cut(bytes.TrimPrefix(line, []byte("goroutine ")), []byte(" "))
	n, err := strconv.ParseUint(string(digits), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
