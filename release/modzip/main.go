// Modzip writes a Go module in the layout of a module proxy:  modzip FOLDER MODULE VERSION PROXY
//
// The go command downloads it with GOPROXY=file://PROXY. The zip is what proxy.golang.org would make of a tag.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

func main() {
	if len(os.Args) != 5 {
		fail(fmt.Errorf("expected FOLDER MODULE VERSION PROXY"))
	}
	folder, path, version, proxy := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	escaped, err := module.EscapePath(path)
	fail(err)
	to := filepath.Join(proxy, filepath.FromSlash(escaped), "@v")
	fail(os.MkdirAll(to, 0o755))
	name := func(extension string) string { return filepath.Join(to, version+extension) }

	archive, err := os.Create(name(".zip"))
	fail(err)
	fail(zip.CreateFromDir(archive, module.Version{Path: path, Version: version}, folder))
	fail(archive.Close())
	manifest, err := os.ReadFile(filepath.Join(folder, "go.mod"))
	fail(err)
	fail(os.WriteFile(name(".mod"), manifest, 0o644))
	fail(os.WriteFile(name(".info"), fmt.Appendf(nil, "{\"Version\":%q}\n", version), 0o644))
	fail(os.WriteFile(filepath.Join(to, "list"), []byte(version+"\n"), 0o644))
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "modzip:", err)
		os.Exit(1)
	}
}
