package main

import (
	"flag"
	"fmt"
	"os"

	"linger/internal/config"
)

func main() {
	options := flag.String("options", "options_gen.go", "the Go `file` to write")
	doc := flag.String("doc", "docs/CONFIG.md", "the Markdown `file` to write")
	flag.Parse()
	if err := run(*options, *doc); err != nil {
		fmt.Fprintln(os.Stderr, "configgen:", err)
		os.Exit(1)
	}
}

func run(options, doc string) error {
	source, err := optionsFile(config.Keys())
	if err != nil {
		return err
	}
	if err := os.WriteFile(options, source, 0o644); err != nil {
		return err
	}
	return os.WriteFile(doc, docFile(config.Keys()), 0o644)
}
