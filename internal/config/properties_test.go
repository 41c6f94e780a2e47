package config

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// pair is a setting of a properties file.
type pair struct{ Key, Value string }

func pairs(settings []Setting) []pair {
	var all []pair
	for _, s := range settings {
		all = append(all, pair{s.Key, s.Value.(string)})
	}
	return all
}

// The right column is what java.util.Properties makes of the text.
func TestParseProperties(t *testing.T) {
	tests := map[string]struct {
		text string
		want []pair
	}{
		"nothing":                              {"", nil},
		"three separators":                     {"a=1\nb:2\nc 3\n", []pair{{"a", "1"}, {"b", "2"}, {"c", "3"}}},
		"blanks around a separator":            {"  a \t= \f 1  \n", []pair{{"a", "1  "}}},
		"one separator only":                   {"a==1\nb = :2\nc  =\n", []pair{{"a", "=1"}, {"b", ":2"}, {"c", ""}}},
		"a key alone":                          {"a\nb", []pair{{"a", ""}, {"b", ""}}},
		"an empty key":                         {"=x\n", []pair{{"", "x"}}},
		"comments and empty lines":             {"# a=1\n  ! b=2\n\n \t\nc=3#x", []pair{{"c", "3#x"}}},
		"a comment is not continued":           {"# a \\\nb=1", []pair{{"b", "1"}}},
		"a continued value":                    {"a=1,\\\n   2,\\\n3", []pair{{"a", "1,2,3"}}},
		"a continued value in a Windows file":  {"a=1,\\\r\n   2\r\nb=3\r\n", []pair{{"a", "1,2"}, {"b", "3"}}},
		"a continued key":                      {"ke\\\n  y=v", []pair{{"key", "v"}}},
		"a separator after a continuation":     {"k \\\n = v", []pair{{"k", "v"}}},
		"a comment sign in a continuation":     {"a=1\\\n#2", []pair{{"a", "1#2"}}},
		"a continuation ends at an empty line": {"a=1\\\n\nb=2", []pair{{"a", "1"}, {"b", "2"}}},
		"two backslashes are one, and no more": {"a=x\\\\\nb=1", []pair{{"a", `x\`}, {"b", "1"}}},
		"a backslash at the very end":          {"a=x\\", []pair{{"a", "x"}}},
		"a backslash alone begins nothing":     {"\\\n#x\n\\\na=1", []pair{{"a", "1"}}},
		"old Mac line ends":                    {"a=1\rb=2", []pair{{"a", "1"}, {"b", "2"}}},
		"escapes":                              {`a\ b\=\:=\t\n\r\f\q\\`, []pair{{"a b=:", "\t\n\r\fq\\"}}},
		"a character by number":                {`a=\u00e9\u4E2D`, []pair{{"a", "é中"}}},
		"a character of two numbers":           {`a=\ud83d\ude00`, []pair{{"a", "😀"}}},
		"references stay":                      {"a=${env:X}", []pair{{"a", "${env:X}"}}},
		"a key that comes twice":               {"a=1\na=2", []pair{{"a", "1"}, {"a", "2"}}},
		"UTF-8":                                {"a=é中", []pair{{"a", "é中"}}},
		"UTF-8 with a mark before":             {"\ufeffa=1", []pair{{"a", "1"}}},
		"Latin-1":                              {"a=\xe9", []pair{{"a", "é"}}},
		"other blanks are no blanks":           {"a\u00a0b=\u00a01", []pair{{"a\u00a0b", "\u00a01"}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseProperties([]byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, pairs(got)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestAMalformedEscapeNamesItsLineAndShowsNothing(t *testing.T) {
	for _, text := range []string{"x=1\n\nssl.key.password=hunter2\\u12", "x=1\n\nhunter2\\u12g4=1", "x=1\n\nhunter2=\\u+123"} {
		_, err := ParseProperties([]byte(text))
		if err == nil || !strings.Contains(err.Error(), "line 3") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestWhatIsEscapedIsReadBack(t *testing.T) {
	escape := func(s string) string {
		return strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\f", `\f`, " ", `\ `, "=", `\=`,
			":", `\:`, "#", `\#`, "!", `\!`).Replace(s)
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Filter(utf8.ValidString)
		key, value := text.Draw(t, "key"), text.Draw(t, "value")
		got, err := ParseProperties([]byte("\n" + escape(key) + "=" + escape(value) + "\n"))
		if err != nil || !cmp.Equal(pairs(got), []pair{{key, value}}) {
			t.Fatalf("%q=%q is read as %v %v", key, value, got, err)
		}
	})
}

func FuzzParseProperties(f *testing.F) {
	f.Add([]byte("a=1\\\r\n 2\n#c\n\\u0041:\\"))
	f.Fuzz(func(t *testing.T, text []byte) {
		settings, err := ParseProperties(text)
		if err != nil && settings != nil {
			t.Error("settings came with an error")
		}
		for _, s := range settings {
			if !utf8.ValidString(s.Key) || !utf8.ValidString(s.Value.(string)) {
				t.Errorf("%q=%q is no text", s.Key, s.Value)
			}
		}
	})
}

// CFG-71 (reading a Java file as it is)
func TestAPropertiesFileBecomesAConfiguration(t *testing.T) {
	settings, err := ParseProperties([]byte("# client\nbootstrap.servers = a:1, \\\r\n\tb:2\nlinger.ms: 20\nacks all\n" +
		"key.serializer=k\nvalue.serializer=v\n"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := Parse(settings)
	if err != nil || c.LingerMs != 20 || len(c.Bootstrap) != 2 || c.Acks != -1 {
		t.Errorf("%+v %v", c, err)
	}
}
