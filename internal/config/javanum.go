package config

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// parseJavaInt reads a decimal integer as Long.parseLong does: an optional sign, then decimal digits of any script of
// the Basic Multilingual Plane. Nothing else: no blanks, no underscores, no 0x.
func parseJavaInt(s string) (int64, bool) {
	var b strings.Builder
	for i, r := range s {
		switch {
		case i == 0 && (r == '+' || r == '-'):
			b.WriteRune(r)
		case r <= 0xFFFF && unicode.IsDigit(r):
			b.WriteByte('0' + digitValue(r))
		default:
			return 0, false
		}
	}
	n, err := strconv.ParseInt(b.String(), 10, 64)
	return n, err == nil
}

// digitValue is 0 to 9 for a decimal digit of the Basic Multilingual Plane: each script's ten stand in a row.
func digitValue(r rune) byte {
	for _, row := range unicode.Nd.R16 {
		if rune(row.Lo) <= r && r <= rune(row.Hi) {
			return byte((r - rune(row.Lo)) % 10)
		}
	}
	return 0
}

// javaFloat is the grammar of Double.parseDouble, which is narrower than Go's (no "inf", no underscores) and wider
// (a type suffix, NaN with a sign).
var javaFloat = regexp.MustCompile(`^[+-]?(NaN|Infinity|` +
	`(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[fFdD]?|` +
	`0[xX](?:[0-9a-fA-F]+\.?|[0-9a-fA-F]*\.[0-9a-fA-F]+)[pP][+-]?[0-9]+[fFdD]?)$`)

func parseJavaDouble(s string) (float64, bool) {
	m := javaFloat.FindStringSubmatch(s)
	if m == nil {
		return 0, false
	}
	if m[1] != "Infinity" {
		s = strings.TrimRight(s, "fFdD") // a hexadecimal number ends in its exponent, so no digit is lost
	}
	f, err := strconv.ParseFloat(s, 64)
	if m[1] == "NaN" {
		f, err = math.NaN(), nil
	}
	return f, err == nil || math.IsInf(f, 0) // too large is infinite in Java, not an error
}

// javaDouble is Double.toString: at least one digit after the point; an exponent from 1e7 up and below 1e-3.
func javaDouble(f float64) string {
	switch a := math.Abs(f); {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 0):
		return strings.TrimPrefix(strings.Replace(strconv.FormatFloat(f, 'g', -1, 64), "Inf", "Infinity", 1), "+")
	case a != 0 && (a < 1e-3 || a >= 1e7):
		mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, 64), "e")
		n, _ := strconv.Atoi(exponent)
		return withPoint(mantissa) + "E" + strconv.Itoa(n)
	}
	return withPoint(strconv.FormatFloat(f, 'f', -1, 64))
}

func withPoint(s string) string {
	if strings.Contains(s, ".") {
		return s
	}
	return s + ".0"
}
