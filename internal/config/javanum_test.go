package config

import (
	"math"
	"testing"
)

func TestIntegersAreReadAsJavaReadsThem(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "+5": 5, "-7": -7, "007": 7, "9223372036854775807": math.MaxInt64, "٣": 3, "７０": 70, "-९": -9,
	} {
		if got, ok := parseJavaInt(text); !ok || got != want {
			t.Errorf("%q is %d %t, want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "+", "-", "1_0", "0x1", "1.0", "1e3", " 1", "--1", "𝟗", "Ⅳ", "²"} {
		if got, ok := parseJavaInt(text); ok {
			t.Errorf("%q is %d", text, got)
		}
	}
}

func TestFractionsAreReadAsJavaReadsThem(t *testing.T) {
	for text, want := range map[string]float64{
		"1": 1, "1.": 1, ".5": 0.5, "-1e3": -1000, "1E-2": 0.01, "1f": 1, "2.5D": 2.5, "0x1p4": 16, "0x.8p0": 0.5, "0xDp0d": 13,
		"1e400": math.Inf(1), "-1e400": math.Inf(-1), "1e-400": 0, "Infinity": math.Inf(1), "-Infinity": math.Inf(-1),
	} {
		if got, ok := parseJavaDouble(text); !ok || got != want {
			t.Errorf("%q is %v %t, want %v", text, got, ok, want)
		}
	}
	if got, ok := parseJavaDouble("-NaN"); !ok || !math.IsNaN(got) {
		t.Errorf("-NaN is %v %t", got, ok)
	}
	for _, text := range []string{"", ".", "inf", "nan", "1_0", "0x1", "1e", "e5", "1ff", "infinity", "+-1"} {
		if got, ok := parseJavaDouble(text); ok {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func TestFractionsAreWrittenAsJavaWritesThem(t *testing.T) {
	for want, f := range map[string]float64{
		"0.0": 0, "1.0": 1, "-0.01": -0.01, "0.001": 0.001, "9.9E-4": 0.00099, "9999999.0": 9999999, "1.0E7": 1e7,
		"1.2345678E7": 12345678, "NaN": math.NaN(), "Infinity": math.Inf(1), "-Infinity": math.Inf(-1),
	} {
		if got := javaDouble(f); got != want {
			t.Errorf("%v is written %s, want %s", f, got, want)
		}
	}
}
