package charset

import (
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// unicodeSet is a set whose bytes follow from the rune by a rule.
type unicodeSet struct {
	names
	prefix string
	append func(dst []byte, r rune) []byte
}

func (s *unicodeSet) charset() *Charset {
	return &Charset{name: s.canonical(), prefix: s.prefix, append: s.append}
}

// The sets that each Java has, and its other Unicode ones. Names as Java 17 lists them.
var unicodeSets = [...]unicodeSet{
	{"UTF-8 UTF8 unicode-1-1-utf-8", "", utf8.AppendRune},
	{"US-ASCII ASCII ANSI_X3.4-1968 cp367 csASCII iso-ir-6 iso_646.irv:1983 ANSI_X3.4-1986 ascii7 default ISO_646.irv:1991 ISO646-US IBM367 646 us", "", upTo(0x7f)},
	{"ISO-8859-1 latin1 819 ISO8859-1 l1 ISO_8859-1:1987 ISO_8859-1 8859_1 iso-ir-100 cp819 ISO8859_1 IBM819 IBM-819 csISOLatin1", "", upTo(0xff)},
	{"UTF-16 UTF_16 unicode utf16 UnicodeBig", "\xfe\xff", utf16In(binary.BigEndian)},
	{"UTF-16BE X-UTF-16BE UTF_16BE ISO-10646-UCS-2 UnicodeBigUnmarked", "", utf16In(binary.BigEndian)},
	{"UTF-16LE UnicodeLittleUnmarked UTF_16LE X-UTF-16LE", "", utf16In(binary.LittleEndian)},
	{"x-UTF-16LE-BOM UnicodeLittle", "\xff\xfe", utf16In(binary.LittleEndian)},
	{"UTF-32 UTF_32 UTF32", "", utf32In(binary.BigEndian)},
	{"UTF-32BE X-UTF-32BE UTF_32BE", "", utf32In(binary.BigEndian)},
	{"UTF-32LE X-UTF-32LE UTF_32LE", "", utf32In(binary.LittleEndian)},
	{"X-UTF-32BE-BOM UTF_32BE_BOM UTF-32BE-BOM", "\x00\x00\xfe\xff", utf32In(binary.BigEndian)},
	{"X-UTF-32LE-BOM UTF_32LE_BOM UTF-32LE-BOM", "\xff\xfe\x00\x00", utf32In(binary.LittleEndian)},
}

// upTo is a set of one byte for each of the first code points.
func upTo(last rune) func([]byte, rune) []byte {
	return func(dst []byte, r rune) []byte {
		if r > last {
			r = '?'
		}
		return append(dst, byte(r))
	}
}

func utf16In(order binary.AppendByteOrder) func([]byte, rune) []byte {
	return func(dst []byte, r rune) []byte {
		if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
			return order.AppendUint16(order.AppendUint16(dst, uint16(high)), uint16(low))
		}
		return order.AppendUint16(dst, uint16(r))
	}
}

func utf32In(order binary.AppendByteOrder) func([]byte, rune) []byte {
	return func(dst []byte, r rune) []byte { return order.AppendUint32(dst, uint32(r)) }
}
