package oracle

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

//go:embed testdata/*.json
var files embed.FS

// Load decodes the set in file (such as "murmur2.json") into v, a pointer to the set's shape.
//
// With LINGER_ORACLE=folder the file of that name in folder is read instead; when the folder lacks it the test is
// skipped and says so, since a folder may hold a few sets only. A folder that holds no set at all fails the test: it
// is surely a wrong path. Numbers keep their digits when v asks for json.Number.
func Load(t testing.TB, file string, v any) {
	t.Helper()
	text, err := read(t, file)
	if err != nil {
		t.Fatalf("oracle set %s: %v", file, err)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(v); err != nil {
		t.Fatalf("oracle set %s: %v", file, err)
	}
}

func read(t testing.TB, file string) ([]byte, error) {
	t.Helper()
	folder, set := os.LookupEnv("LINGER_ORACLE")
	if !set {
		return files.ReadFile("testdata/" + file)
	}
	have, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return nil, err
	}
	if len(have) == 0 {
		return nil, fmt.Errorf("LINGER_ORACLE=%s holds no .json file", folder)
	}
	text, err := os.ReadFile(filepath.Join(folder, file))
	if os.IsNotExist(err) {
		t.Skipf("LINGER_ORACLE=%s has no %s", folder, file)
	}
	return text, err
}
