package tlsconf

import (
	"os"
	"path/filepath"
	"testing"
)

// Whatever is in a store's file: no panic, and no more memory than the file has bytes for.
func FuzzStores(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.*"))
	if err != nil || len(files) == 0 {
		f.Fatal(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		if filepath.Ext(name) != ".p12" { // a key derivation of thousand million rounds is right by the format
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if read, err := readJKS(data, password{storeSecret, true}); err == nil {
			for _, k := range read.keys {
				_, _ = k.open(storeSecret)
			}
		}
		_, _ = readJKS(data, password{})
		_, _ = pemCertificates(string(data))
		_, _ = pemKey(string(data), password{})
		if blocks, err := pemBlocks(string(data), "CERTIFICATE"); err == nil && len(blocks) == 0 {
			t.Error("no entries and no error")
		}
	})
}
