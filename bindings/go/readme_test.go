package sealane_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// surroundings has the code that a block of README needs around it, by a word of the block.
var surroundings = map[string]struct{ imports, before, after, output string }{
	"SealMessage": {
		imports: `"crypto/rand"`,
		after:   `fmt.Printf("%d %s", len(message), plaintext)`,
		output:  "33 hello",
	},
	"report.pdf": {
		imports: `"os"; "bytes"`,
		before:  `if err := os.WriteFile("report.pdf", bytes.Repeat([]byte("report "), 200_000), 0o600); err != nil { panic(err) }`,
		after:   `fmt.Printf("%d %s", n, part[:15])`,
		output:  "4096 rt report repor",
	},
	// Its ReadAt takes a uint64, unlike os.File's.
	"aesctrat": {
		before: `var file zeros`,
		after:  `fmt.Printf("%x", ciphertext[:16])`,
		output: "8a2c3b884cfa59ca342b2e58e2fccefa",
	},
}

// howto is the SHA-256 of the block in aesctrat's own README, which must run unchanged.
const howto = "e95feca7c97ca5c5dc9ebb49c212b8874cd888ada1ea389d1ce5e6f6ed533405"

const types = `
type zeros struct{}

func (zeros) ReadAt(p []byte, offset uint64) (int, error) { return len(p), nil }
`

// TestReadme compiles and runs README.md's blocks in their own modules, against a copy of this
// module with the library as an object file, as users have it. The aesctrat block keeps its import.
func TestReadme(t *testing.T) {
	object := os.Getenv("SEALANE_OBJECT")
	if object == "" {
		t.Skip("SEALANE_OBJECT does not name sealane.o; make -C bindings go does")
	}
	module := filepath.Join(t.TempDir(), "go")
	copyModule(t, module, object)
	text := string(must(os.ReadFile("README.md"))(t))
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(text, -1)
	if len(blocks) != len(surroundings) {
		t.Errorf("%d blocks, expected %d", len(blocks), len(surroundings))
	}
	for _, block := range blocks {
		for word, around := range surroundings {
			if !strings.Contains(block[1], word) {
				continue
			}
			if sum := sha256.Sum256([]byte(block[1])); word == "aesctrat" && hex.EncodeToString(sum[:]) != howto {
				t.Errorf("the block of aesctrat's README was changed; its SHA-256 is %x", sum)
			}
			imports, body, _ := strings.Cut(block[1], "\n\n")
			// The block leaves out error handling.
			body = regexp.MustCompile(`(?m)^.*\berr (:=|=) .*$`).ReplaceAllString(body, "$0\nif err != nil { panic(err) }")
			program := fmt.Sprintf("package main\n%s\nimport (\"fmt\"; %s)\n%s\nfunc main() {\n%s\n%s\n%s\n}\n",
				imports, around.imports, types, around.before, body, around.after)
			if found := runProgram(t, module, program); found != around.output {
				t.Errorf("the block with %s prints %q, expected %q", word, found, around.output)
			}
		}
	}
	if out := run(t, module, "go", "run", "./examples/tour"); !strings.Contains(out, `"line 77777" of 1100000 bytes`) {
		t.Errorf("the tour prints %s", out)
	}
}

// copyModule copies the module as in a release: with the header and this platform's library.
func copyModule(t *testing.T, to, object string) {
	t.Helper()
	run(t, ".", "cp", "-RL", ".", to)
	goos, goarch := run(t, ".", "go", "env", "GOOS"), run(t, ".", "go", "env", "GOARCH")
	name := fmt.Sprintf("sealane_%s_%s.syso", strings.TrimSpace(goos), strings.TrimSpace(goarch))
	check(t, os.WriteFile(filepath.Join(to, "internal/static", name), must(os.ReadFile(object))(t), 0o600))
}

// runProgram runs a program with the modules that README names, and returns its output.
func runProgram(t *testing.T, module, program string) string {
	t.Helper()
	folder := t.TempDir()
	source, err := format.Source([]byte(program))
	if err != nil {
		t.Fatalf("%v\n%s", err, program)
	}
	check(t, os.WriteFile(filepath.Join(folder, "main.go"), source, 0o600))
	check(t, os.WriteFile(filepath.Join(folder, "go.mod"), fmt.Appendf(nil, `module program

go 1.24

require github.com/starius/aesctrat v0.0.0

require example.invalid/sealane/go v0.0.0

replace (
	github.com/starius/aesctrat => %[1]s/compat/aesctrat
	example.invalid/sealane/go => %[1]s
)
`, module), 0o600))
	return run(t, folder, "go", "run", ".")
}

// run runs a command in a folder, without this test's build tags, and returns its output.
func run(t *testing.T, folder, name string, args ...string) string {
	t.Helper()
	command := exec.Command(name, args...)
	command.Dir = folder
	command.Env = append(os.Environ(), "GOFLAGS=-buildvcs=false", "GOPROXY=off", "GOWORK=off")
	var problems strings.Builder
	command.Stderr = &problems
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, problems.String())
	}
	return string(out)
}
