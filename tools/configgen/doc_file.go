package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"linger/internal/config"
)

// intro is the part of docs/CONFIG.md that is written by hand.
//
//go:embed intro.md
var intro string

// docFile is docs/CONFIG.md: the introduction, then a table for each group.
func docFile(keys []config.Key) []byte {
	var b bytes.Buffer
	b.WriteString("<!-- Written by tools/configgen; change the table in internal/config or tools/configgen/intro.md. -->\n\n")
	b.WriteString(intro)
	fmt.Fprintf(&b, "\n## All %d keys\n", len(keys))
	for _, g := range config.Groups() {
		fmt.Fprintf(&b, "\n### %s\n\n", g)
		b.WriteString("| Key | Go option | Type | Default | Range | What it does |\n| --- | --- | --- | --- | --- | --- |\n")
		for _, k := range sorted(keys, g) {
			param, _ := goForm(k)
			fmt.Fprintf(&b, "| `%s` | `%s(%s)` | %s | %s | %s | %s |\n",
				k.Name, k.Option, goType(param), strings.ToLower(k.Type.String()), docDefault(k), cell(docRange(k)), cell(docText(k)))
		}
	}
	return b.Bytes()
}

// sorted are the keys of a group, the important ones first, then by name.
func sorted(keys []config.Key, g config.Group) []config.Key {
	var of []config.Key
	for _, k := range keys {
		if k.Group == g {
			of = append(of, k)
		}
	}
	slices.SortFunc(of, func(a, b config.Key) int {
		if a.Importance != b.Importance {
			return int(a.Importance) - int(b.Importance)
		}
		return strings.Compare(a.Name, b.Name)
	})
	return of
}

func goType(param string) string {
	_, typ, _ := strings.Cut(param, " ")
	return typ
}

func docDefault(k config.Key) string {
	if k.Required {
		return "none; must be set"
	}
	text := k.DefaultText()
	if d, isTime := k.DefaultDuration(); isTime && k.DefaultText() != "0" {
		return fmt.Sprintf("%s (%s)", text, d)
	}
	return cell(text)
}

func docRange(k config.Key) string {
	r := k.Range()
	if u := k.Unit.String(); u != "" {
		r = strings.TrimPrefix(r+"; "+u, "; ")
	}
	return r
}

func docText(k config.Key) string {
	mark := map[config.Status]string{
		config.NoEffect: "**No effect:** ",
		config.Refused:  "**Refused:** ",
	}[k.Status]
	if mark == "" {
		return k.Doc
	}
	return k.Doc + " " + mark + k.Note + "."
}

// cell is text that may stand in a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
