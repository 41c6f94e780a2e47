package human

import (
	"fmt"
	"math"
	"testing"
	"time"
)

func TestNumbersAsPeopleReadThem(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Count(0), "0"}, {Count(999), "999"}, {Count(1000), "1,000"}, {Count(1234567), "1,234,567"}, {Count(100000), "100,000"},
		{Count(-1), "-1"}, {Count(-123456), "-123,456"}, {Count(math.MaxInt64), "9,223,372,036,854,775,807"},
		{Plural(1, "record"), "1 record"}, {Plural(0, "record"), "0 records"}, {Plural(1200, "record"), "1,200 records"},
		{PluralY(1, "retr"), "1 retry"}, {PluralY(2, "retr"), "2 retries"},
		{Bytes(0), "0 B"}, {Bytes(999), "999 B"}, {Bytes(1000), "1.0 kB"}, {Bytes(999_949), "999.9 kB"}, {Bytes(999_950), "1.0 MB"},
		{Bytes(12_345_678), "12.3 MB"}, {Bytes(math.MaxInt64), "9223.4 PB"},
		{Duration(0), "0 µs"}, {Duration(850 * time.Microsecond), "850 µs"}, {Duration(4210 * time.Microsecond), "4.2 ms"},
		{Duration(9960 * time.Microsecond), "10 ms"}, {Duration(31 * time.Millisecond), "31 ms"}, {Duration(999_600 * time.Microsecond), "1.00 s"},
		{Duration(2347 * time.Millisecond), "2.35 s"}, {Duration(125400 * time.Millisecond), "2m5s"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func ExampleBytes() {
	fmt.Println(Bytes(567_198), Count(9285), Duration(4321*time.Microsecond))
	// Output: 567.2 kB 9,285 4.3 ms
}
