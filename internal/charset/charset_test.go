package charset

import (
	"errors"
	"hash/crc32"
	"strings"
	"testing"
)

// Each set encodes every character outside surrogates and private use, up to U+1FFFF, as Java 17 does: the checksum over the
// encodings, one character at a time, is Java's. The table also says that no set is left out.
func TestEachSetGivesJavasBytesForEveryCharacter(t *testing.T) {
	want := map[string]uint32{
		"UTF-8":          0x569d4bc4,
		"US-ASCII":       0x56204f29,
		"ISO-8859-1":     0x31e82385,
		"UTF-16":         0x5a85bdab,
		"UTF-16BE":       0xbfa8f4dc,
		"UTF-16LE":       0x92034734,
		"x-UTF-16LE-BOM": 0xfb52e64f,
		"UTF-32":         0x1621c61c,
		"UTF-32BE":       0x1621c61c,
		"UTF-32LE":       0x83aca5d7,
		"X-UTF-32BE-BOM": 0x9f6785f1,
		"X-UTF-32LE-BOM": 0xed2d0e1f,
		"IBM437":         0x11ec2b7b,
		"IBM850":         0x77c97fe4,
		"IBM852":         0x8654c9ef,
		"IBM855":         0xee3cc6b1,
		"IBM00858":       0xcfbf42eb,
		"IBM860":         0x203a3768,
		"IBM862":         0x5c68e566,
		"IBM863":         0x965219ca,
		"IBM865":         0xeed1180f,
		"IBM866":         0x8db9b8dc,
		"ISO-8859-2":     0xc0548aff,
		"ISO-8859-3":     0xa6585604,
		"ISO-8859-4":     0x921602ba,
		"ISO-8859-5":     0x492fa508,
		"ISO-8859-6":     0x016ece0c,
		"ISO-8859-7":     0x5b06b70c,
		"ISO-8859-8":     0x5178cf32,
		"ISO-8859-9":     0x5cba735f,
		"ISO-8859-13":    0x9b919016,
		"ISO-8859-15":    0x575ad93d,
		"ISO-8859-16":    0x567e6fe5,
		"KOI8-R":         0xab0766d2,
		"windows-1250":   0xfab2c2a9,
		"windows-1251":   0x534e0481,
		"windows-1252":   0x146f5d1a,
		"windows-1253":   0xc400e210,
		"windows-1254":   0xa356036e,
		"windows-1255":   0xe04d4673,
		"windows-1256":   0x352d023e,
		"windows-1257":   0x8f0e5dd8,
		"windows-1258":   0xdc0f39d9,
		"x-windows-874":  0x4a2d7eb4,
		"x-MacRoman":     0x9565320b,
		"GBK":            0xc3b52d3c,
		"EUC-KR":         0x46582661,
		"x-windows-949":  0x85b0bdf4,
		"Shift_JIS":      0x0c4445f3,
	}
	if got := len(unicodeSets) + len(tableSets); got != len(want) {
		t.Errorf("%d sets, %d of them checked", got, len(want))
	}
	for name, sum := range want {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := Lookup(name)
			if err != nil {
				t.Fatal(err)
			}
			if c.Name() != name {
				t.Errorf("its name is %s", c.Name())
			}
			crc := crc32.NewIEEE()
			var buf []byte
			for r := rune(0); r < 0x20000; r++ {
				if r < 0xd800 || r >= 0xf900 {
					buf = c.Append(buf[:0], string(r))
					crc.Write(buf)
				}
			}
			if got := crc.Sum32(); got != sum {
				t.Errorf("checksum %08x, Java's is %08x", got, sum)
			}
		})
	}
}

func TestTextBecomesBytes(t *testing.T) {
	tests := []struct{ name, set, text, want string }{
		{"nothing has no byte order mark either", "UTF-16", "", ""},
		{"one byte order mark a text", "UTF-16", "ab", "\xfe\xff\x00a\x00b"},
		{"characters beyond the first plane are two units", "UTF-16LE", "🙂", "\x3d\xd8\x42\xde"},
		{"a set without a character has a question mark", "ISO-8859-1", "aé中🙂", "a\xe9??"},
		{"two bytes in GBK", "GBK", "aé中🙂", "a\xa8\xa6\xd6\xd0?"},
		{"a broken string is a question mark where there is no U+FFFD", "US-ASCII", "a\xffb", "a?b"},
		{"a broken string is U+FFFD where there is one", "UTF-16BE", "a\xff", "\x00a\xff\xfd"},
		{"private use is not in our GBK", "GBK", "\ue000", "?"},
		{"private use is in windows-949", "windows-949", "\ue000\ue05e", "\xc9\xa1\xfe\xa1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := Lookup(tt.set)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(c.Append([]byte("x"), tt.text)); got != "x"+tt.want {
				t.Errorf("got % x, want % x", got[1:], tt.want)
			}
		})
	}
}

func TestNamesAreFoundAsJavaFindsThem(t *testing.T) {
	for alias, want := range map[string]string{
		"utf8": "UTF-8", "Utf-8": "UTF-8", "latin1": "ISO-8859-1", "ISO8859_1": "ISO-8859-1", "ascii": "US-ASCII",
		"Cp1252": "windows-1252", "CP936": "GBK", "sjis": "Shift_JIS", "UnicodeLittle": "x-UTF-16LE-BOM",
	} {
		if c, err := Lookup(alias); err != nil || c.Name() != want {
			t.Errorf("%s: got %v, %v, want %s", alias, c, err, want)
		}
	}
	seen := make(map[string]string)
	for _, s := range unicodeSets {
		noteNames(t, seen, s.names)
	}
	for _, s := range tableSets {
		noteNames(t, seen, s.names)
	}
}

func noteNames(t *testing.T, seen map[string]string, n names) {
	t.Helper()
	for name := range strings.FieldsSeq(string(n)) {
		if !legal(name) {
			t.Errorf("%s is no legal name", name)
		}
		if owner := seen[strings.ToLower(name)]; owner != "" && owner != n.canonical() {
			t.Errorf("%s names both %s and %s", name, owner, n.canonical())
		}
		seen[strings.ToLower(name)] = n.canonical()
	}
}

func TestWrongNamesSayWhatIsWrong(t *testing.T) {
	for name, exception := range map[string]string{
		"": "IllegalCharsetNameException", " utf8": "IllegalCharsetNameException", "a b": "IllegalCharsetNameException",
		"-x": "IllegalCharsetNameException", "中": "IllegalCharsetNameException",
		"nope": "UnsupportedCharsetException", "UTF-9": "UnsupportedCharsetException", "x": "UnsupportedCharsetException",
	} {
		_, err := Lookup(name)
		e, ok := errors.AsType[*NameError](err)
		if !ok || e.JavaException() != exception || e.Name != name || !strings.Contains(e.Error(), name) {
			t.Errorf("%q: got %v, want an error in place of %s", name, err, exception)
		}
	}
}
