// Command bench measures calls of the Go module beside those of crypto/cipher and
// golang.org/x/crypto.
//
// The implementations of a row are called in turns, so that a change of the processor's frequency
// meets all of them. A figure is the time that a tenth of the rounds does not exceed, because other
// programs of the machine only make calls slower.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// implementation is one of those that a row compares.
type implementation struct {
	name string
	call func()
}

// row is a line of a table.
type row struct {
	name  string
	bytes int // that a call processes, or 0
	// messages that a call processes. The times are those of one of them.
	messages int
	// implementations of the same result. The first is that of the standard library.
	implementations []implementation
}

// table is a table of the output.
type table struct {
	title string
	rows  func() []row
}

var tables = []table{
	{"Empty call", emptyCall},
	{"AES-256-GCM, Seal into a buffer of the caller", gcmSeal},
	{"AES-256-GCM, Open into a buffer of the caller", gcmOpen},
	{"AES-256-GCM, a new key and one message of 64 bytes", newKeys},
	{"AES-256-GCM with random nonces, each message of a batch of 1,000", batches},
	{"ChaCha20-Poly1305, Seal into a buffer of the caller", chachaSeal},
	{"AES-128-CTR at offset 5", counterMode},
	{"The table of aesctrat, in MB/s", aesctratTable},
	{"Files of 64 MiB, in memory", files},
	{"Files of 256 MiB on disk, beside the program", filesOnDisk},
}

var (
	rounds = flag.Int("rounds", 301, "number of rounds")
	slice  = flag.Duration("slice", time.Millisecond, "time of one implementation in a round")
	filter = flag.String("filter", "", "part of a title")
)

func main() {
	flag.Parse()
	fmt.Printf("%s, %s/%s, %d rounds of %v\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, *rounds, *slice)
	defer func() {
		for _, folder := range removeAtEnd {
			os.RemoveAll(folder)
		}
	}()
	for _, t := range tables {
		if strings.Contains(t.title, *filter) {
			print(t)
		}
	}
	if program == "" {
		fmt.Fprintln(os.Stderr, "NOT RUN: files beside the program; name it: SEALANE_PROGRAM=target/release/sealane")
	}
	if !haveSeed {
		fmt.Fprintln(os.Stderr, "NOT RUN: the package aesctrat itself; name a clone of it: make -C bindings bench AESCTRAT=/path/to/aesctrat")
	}
}

// print measures and prints a table. Ratios are the time of the first implementation divided by
// that of each.
func print(t table) {
	for i, r := range t.rows() {
		if i == 0 {
			fmt.Printf("\n%s\n\n", t.title)
			fmt.Print("| |")
			for _, each := range r.implementations {
				fmt.Printf(" %s |", each.name)
			}
			fmt.Printf(" ratio of the last to the first |\n|---|%s---|\n", strings.Repeat("---|", len(r.implementations)))
		}
		times := measure(r)
		fmt.Printf("| %s |", r.name)
		for _, ns := range times {
			fmt.Printf(" %s |", figure(ns, r.bytes))
		}
		fmt.Printf(" %.2f |\n", times[0]/times[len(times)-1])
	}
}

// figure formats the time of a call in nanoseconds, and its speed if it processes many bytes.
func figure(ns float64, bytes int) string {
	switch {
	case bytes >= 1024:
		return fmt.Sprintf("%.0f ns, %.0f MB/s", ns, float64(bytes)/ns*1e3)
	case ns < 1000:
		return fmt.Sprintf("%.1f ns", ns)
	}
	return fmt.Sprintf("%.0f ns", ns)
}

// measure returns the time of a call of each implementation in nanoseconds.
func measure(r row) []float64 {
	counts := make([]int, len(r.implementations))
	for i, each := range r.implementations {
		for counts[i] = 1; repeat(each.call, counts[i]) < *slice/2; counts[i] *= 2 {
		}
	}
	times := make([][]float64, len(r.implementations))
	for began, round := time.Now(), 0; round < *rounds; round++ {
		// A row of files takes at most five seconds, or three rounds.
		if round >= 3 && time.Since(began) > 5*time.Second {
			break
		}
		for i, each := range r.implementations {
			taken := repeat(each.call, counts[i])
			times[i] = append(times[i], float64(taken.Nanoseconds())/float64(counts[i]*max(1, r.messages)))
		}
	}
	fast := make([]float64, len(times))
	for i := range times {
		slices.Sort(times[i])
		fast[i] = times[i][len(times[i])/10]
	}
	return fast
}

func repeat(call func(), count int) time.Duration {
	began := time.Now()
	for range count {
		call()
	}
	return time.Since(began)
}
