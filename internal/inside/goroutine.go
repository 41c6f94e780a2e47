package inside

import (
	"bytes"
	"runtime"
	"strconv"
)

// Goroutine reads the running goroutine's number from the first line of its stack trace, "goroutine 18 [running]:".
// Numbers are not used twice. It returns 0, which is nobody's, should the line ever look otherwise.
func Goroutine() uint64 {
	var buf [64]byte
	line := buf[:runtime.Stack(buf[:], false)]
	digits, _, _ := bytes.Cut(bytes.TrimPrefix(line, []byte("goroutine ")), []byte(" "))
	n, err := strconv.ParseUint(string(digits), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
