package charset

import (
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
)

// tableSet is a set whose bytes come from a table of the library's, put right where Java differs.
type tableSet struct {
	names
	table encoding.Encoding
	// instead says what Java gives for r where the table has something else or nothing; "" leaves it to the table.
	instead func(r rune) string
	// foreign says that the table's bytes b stand for a character that Java's set does not have.
	foreign func(b string) bool
}

// Names as Java 17 lists them.
var tableSets = [...]tableSet{
	{names: "IBM437 ibm437 437 ibm-437 cspc8codepage437 cp437 windows-437", table: charmap.CodePage437},
	{names: "IBM850 cp850 cspc850multilingual 850 ibm-850", table: charmap.CodePage850},
	{names: "IBM852 csPCp852 ibm-852 852 cp852", table: charmap.CodePage852},
	{names: "IBM855 855 ibm-855 cp855 cspcp855", table: charmap.CodePage855},
	{names: "IBM00858 PC-Multilingual-850+euro ibm858 cp858 858 cp00858 ibm-858 ccsid00858", table: charmap.CodePage858},
	{names: "IBM860 860 cp860 csIBM860 ibm-860", table: charmap.CodePage860},
	{names: "IBM862 csIBM862 cp862 862 cspc862latinhebrew ibm-862", table: charmap.CodePage862},
	{names: "IBM863 csIBM863 ibm-863 863 cp863", table: charmap.CodePage863},
	{names: "IBM865 ibm-865 csIBM865 cp865 865", table: charmap.CodePage865},
	{names: "IBM866 866 ibm-866 csIBM866 cp866", table: charmap.CodePage866},
	{names: "ISO-8859-2 ISO8859-2 ibm912 l2 ISO_8859-2 8859_2 cp912 ISO_8859-2:1987 iso8859_2 iso-ir-101 latin2 912 csISOLatin2 ibm-912", table: charmap.ISO8859_2, instead: controls},
	{names: "ISO-8859-3 ISO8859-3 ibm913 8859_3 l3 cp913 ISO_8859-3 iso8859_3 latin3 csISOLatin3 913 ISO_8859-3:1988 ibm-913 iso-ir-109", table: charmap.ISO8859_3, instead: controls},
	{names: "ISO-8859-4 8859_4 latin4 l4 cp914 ISO_8859-4:1988 ibm914 ISO_8859-4 iso-ir-110 iso8859_4 csISOLatin4 iso8859-4 914 ibm-914", table: charmap.ISO8859_4, instead: controls},
	{names: "ISO-8859-5 ISO_8859-5:1988 csISOLatinCyrillic iso-ir-144 iso8859_5 cp915 8859_5 ibm-915 ISO_8859-5 ibm915 915 cyrillic ISO8859-5", table: charmap.ISO8859_5, instead: controls},
	{names: "ISO-8859-6 ASMO-708 8859_6 iso8859_6 ISO_8859-6 csISOLatinArabic ibm1089 arabic ibm-1089 1089 ECMA-114 iso-ir-127 ISO_8859-6:1987 ISO8859-6 cp1089", table: charmap.ISO8859_6, instead: controls},
	{names: "ISO-8859-7 greek 8859_7 greek8 ibm813 ISO_8859-7 iso8859_7 ELOT_928 cp813 ISO_8859-7:1987 sun_eu_greek csISOLatinGreek iso-ir-126 813 iso8859-7 ECMA-118 ibm-813", table: charmap.ISO8859_7, instead: controls},
	{names: "ISO-8859-8 8859_8 ISO_8859-8 ISO_8859-8:1988 cp916 iso-ir-138 ISO8859-8 hebrew iso8859_8 ibm-916 csISOLatinHebrew 916 ibm916", table: charmap.ISO8859_8, instead: controls},
	{names: "ISO-8859-9 ibm-920 ISO_8859-9 8859_9 ISO_8859-9:1989 ibm920 latin5 l5 iso8859_9 cp920 920 iso-ir-148 ISO8859-9 csISOLatin5", table: charmap.ISO8859_9},
	{names: "ISO-8859-13 iso_8859-13 ISO8859-13 iso8859_13 8859_13", table: charmap.ISO8859_13, instead: controls},
	{names: "ISO-8859-15 csISO885915 Latin-9 ISO8859-15 LATIN0 ISO8859_15_FDIS ISO8859_15 cp923 8859_15 L9 IBM923 csISOlatin9 ISO_8859-15 IBM-923 csISOlatin0 923 LATIN9", table: charmap.ISO8859_15, instead: controls},
	{names: "ISO-8859-16 ISO_8859-16:2001 ISO_8859-16 csISO885916 latin10 iso-ir-226 l10 ISO8859_16", table: charmap.ISO8859_16, instead: controls},
	{names: "KOI8-R koi8_r koi8 cskoi8r", table: charmap.KOI8R},
	{names: "windows-1250 cp1250 cp5346", table: charmap.Windows1250},
	{names: "windows-1251 cp5347 ansi-1251 cp1251", table: charmap.Windows1251},
	{names: "windows-1252 ibm-1252 cp1252 ibm1252 cp5348", table: charmap.Windows1252},
	{names: "windows-1253 cp1253 cp5349", table: charmap.Windows1253},
	{names: "windows-1254 cp1254 cp5350", table: charmap.Windows1254},
	{names: "windows-1255 cp1255", table: charmap.Windows1255, foreign: func(b string) bool { return b == "\xca" }},
	{names: "windows-1256 cp1256", table: charmap.Windows1256},
	{names: "windows-1257 cp1257 cp5353", table: charmap.Windows1257},
	{names: "windows-1258 cp1258", table: charmap.Windows1258},
	{names: "x-windows-874 ms-874 ms874 windows-874", table: charmap.Windows874},
	{names: "x-MacRoman MacRoman", table: charmap.Macintosh},

	{names: "GBK CP936 windows-936", table: simplifiedchinese.GBK, instead: gbk, foreign: notGBK},
	{names: "EUC-KR ksc5601-1987 csEUCKR ksc5601_1987 ksc5601 5601 euc_kr ksc_5601 ks_c_5601-1987 euckr", table: korean.EUCKR, instead: eucKR, foreign: notEUCKR},
	{names: "x-windows-949 windows949 ms949 windows-949 ms_949", table: korean.EUCKR, instead: windows949},
	{names: "Shift_JIS x-sjis sjis shift-jis ms_kanji csShiftJIS", table: japanese.ShiftJIS, instead: shiftJIS, foreign: notShiftJIS},
}

func (s *tableSet) charset() *Charset {
	return &Charset{name: s.canonical(), append: s.appendRune}
}

// appendRune is safe for concurrent use: an encoder has state, so each call makes its own.
func (s *tableSet) appendRune(dst []byte, r rune) []byte {
	if r < 0x80 {
		return append(dst, byte(r)) // every set in the table has ASCII
	}
	if s.instead != nil {
		if b := s.instead(r); b != "" {
			return append(dst, b...)
		}
	}
	b, ok := s.look(r)
	if !ok || s.foreign != nil && s.foreign(b) {
		return append(dst, '?')
	}
	return append(dst, b...)
}

func (s *tableSet) look(r rune) (string, bool) {
	if one, ok := s.table.(*charmap.Charmap); ok {
		b, ok := one.EncodeRune(r)
		return string([]byte{b}), ok
	}
	b, err := s.table.NewEncoder().String(string(r))
	return b, err == nil
}

// controls: Java's ISO sets have the control characters from U+0080 to U+009F.
func controls(r rune) string {
	if 0x80 <= r && r <= 0x9f {
		return string([]byte{byte(r)})
	}
	return ""
}

// gbk: Java's GBK has the euro where GB 18030 has it, not in one byte, and another sign than the table at A892.
func gbk(r rune) string {
	switch r {
	case '€':
		return "\xa2\xe3"
	case '♁':
		return "\xa8\x92"
	case '⊕':
		return "?"
	}
	return ""
}

// notGBK: what GB 18030 added later. Java's private use characters are missing here, and become question marks.
func notGBK(b string) bool {
	return b == "\xa8\xbf" || "\xa9\x89" <= b && b <= "\xa9\x95" || "\xfe\x50" <= b && b <= "\xfe\xa0"
}

func eucKR(r rune) string {
	if r == '㉾' {
		return "\xa2\xe8"
	}
	return ""
}

// notEUCKR: the table is Microsoft's extension of KS X 1001, whose own bytes are all at or above A1.
func notEUCKR(b string) bool { return len(b) == 2 && (b[0] < 0xa1 || b[1] < 0xa1) }

// windows949 has two rows for private use.
func windows949(r rune) string {
	switch {
	case 0xe000 <= r && r < 0xe000+94:
		return string([]byte{0xc9, byte(0xa1 + r - 0xe000)})
	case 0xe000+94 <= r && r < 0xe000+188:
		return string([]byte{0xfe, byte(0xa1 + r - 0xe000 - 94)})
	}
	return ""
}

// shiftJIS: where JIS X 0208 has a sign that Unicode has twice, Java takes one twin and the table, which is Microsoft's, the other.
func shiftJIS(r rune) string {
	switch r {
	case '\u00a2':
		return "\x81\x91"
	case '\u00a3':
		return "\x81\x92"
	case '\u00a5':
		return "\x5c"
	case '\u00ac':
		return "\x81\xca"
	case '\u2014':
		return "\x81\x5c"
	case '\u2016':
		return "\x81\x61"
	case '\u203e':
		return "\x7e"
	case '\u2212':
		return "\x81\x7c"
	case '\u301c':
		return "\x81\x60"
	case '\u2015', '\u2225', '\uff0d', '\uff5e', '\uffe0', '\uffe1', '\uffe2':
		return "?"
	}
	return ""
}

// notShiftJIS: the rows that NEC and IBM added.
func notShiftJIS(b string) bool { return len(b) == 2 && (b[0] == 0x87 || b[0] >= 0xed) }
