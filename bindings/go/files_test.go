package sealane_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/iotest"

	"example.invalid/sealane/go"
)

// keys returns both sides of a new symmetric key.
func keys(t testing.TB, options *sealane.KeyOptions) (*sealane.EncryptWith, *sealane.DecryptWith) {
	t.Helper()
	key := random(32)
	return must(sealane.EncryptWithKey(key, options))(t), must(sealane.DecryptWithKey(key, options))(t)
}

// sizes are around the boundaries of 16 KiB chunks and of a stream's pieces.
var sizes = []int{0, 1, 16383, 16384, 16385, 100_000, 1<<20 + 1, 3 << 20}

// TestStreams writes with Encrypt and Create, in pieces of many lengths, and reads with Decrypt and
// Open.
func TestStreams(t *testing.T) {
	age := must(sealane.GenerateKey("age"))(t)
	recipient := must(age.PublicKey())(t)
	text := must(age.Encode(""))(t)
	type pair struct {
		encrypt *sealane.EncryptWith
		decrypt *sealane.DecryptWith
	}
	pairs := map[string]pair{
		"age":   {must(sealane.EncryptWithRecipients([]string{recipient}, nil))(t), must(sealane.DecryptWithIdentities(text))(t)},
		"armor": {must(sealane.EncryptWithRecipients([]string{recipient}, &sealane.AgeOptions{Armor: true}))(t), must(sealane.DecryptWithSecretKey(age, nil))(t)},
	}
	for _, format := range []sealane.Format{"", sealane.Chunked, sealane.Tink4KB, sealane.Tink1MB} {
		encrypt, decrypt := keys(t, &sealane.KeyOptions{Format: format, Context: []byte("context")})
		pairs["key "+string(format)] = pair{encrypt, decrypt}
	}
	for name, with := range pairs {
		t.Run(name, func(t *testing.T) {
			for _, size := range sizes {
				plaintext := random(size)
				var file bytes.Buffer
				writer := must(sealane.Encrypt(&file, with.encrypt))(t)
				for at, step := 0, 1; at < size; at, step = at+step, step*7 {
					end := min(at+step, size)
					if n := must(writer.Write(plaintext[at:end]))(t); n != end-at {
						t.Fatalf("wrote %d of %d bytes", n, end-at)
					}
				}
				check(t, writer.Close())
				wants(t, writer.Close(), fs.ErrClosed)
				_, err := writer.Write([]byte{1})
				wants(t, err, fs.ErrClosed)

				reader := must(sealane.Decrypt(iotest.DataErrReader(bytes.NewReader(file.Bytes())), with.decrypt))(t)
				equal(t, must(io.ReadAll(reader))(t), plaintext)
				equal(t, must(sealane.DecryptBytes(file.Bytes(), with.decrypt))(t), plaintext)
				path := write(t, "file", nil)
				created := must(sealane.Create(path, with.encrypt))(t)
				must(io.Copy(created, bytes.NewReader(plaintext)))(t)
				if after := must(os.ReadFile(path))(t); len(after) != 0 {
					t.Fatal("the file changed before Close")
				}
				check(t, created.CloseSynced())
				opened := must(sealane.Open(path, with.decrypt))(t)
				if opened.Size() != int64(size) {
					t.Fatalf("the size is %d, expected %d", opened.Size(), size)
				}
				var copied bytes.Buffer
				must(io.Copy(&copied, opened))(t)
				equal(t, copied.Bytes(), plaintext)
				if size > 0 {
					position := must(opened.Seek(-1, io.SeekEnd))(t)
					equal(t, must(io.ReadAll(opened))(t), plaintext[position:])
				}
				check(t, opened.Close())
			}
		})
	}
}

// TestReaders runs the tests of io.Reader, io.ReaderAt and io.Seeker.
func TestReaders(t *testing.T) {
	encrypt, decrypt := keys(t, &sealane.KeyOptions{Format: sealane.Tink4KB})
	plaintext := random(9000)
	file := must(sealane.EncryptBytes(plaintext, encrypt))(t)
	reader := must(sealane.NewReader(bytes.NewReader(file), int64(len(file)), decrypt))(t)
	defer reader.Close()
	check(t, iotest.TestReader(reader, plaintext))
	// A stream has no Seek.
	for _, source := range []io.Reader{bytes.NewReader(file), iotest.DataErrReader(bytes.NewReader(file)), iotest.HalfReader(bytes.NewReader(file))} {
		stream := must(sealane.Decrypt(source, decrypt))(t)
		check(t, iotest.TestReader(stream, plaintext))
	}
}

// TestRandomAccess reads ranges in many goroutines.
func TestRandomAccess(t *testing.T) {
	encrypt, decrypt := keys(t, nil)
	plaintext := random(3 << 20)
	file := must(sealane.EncryptBytes(plaintext, encrypt))(t)
	readers := []*sealane.Reader{
		must(sealane.NewReader(bytes.NewReader(file), int64(len(file)), decrypt))(t),
		must(sealane.Open(write(t, "file", file), decrypt))(t),
	}
	for _, reader := range readers {
		var group sync.WaitGroup
		for worker := range 4 {
			group.Add(1)
			go func() {
				defer group.Done()
				for i := range 60 {
					offset := (i*99_991 + worker*777_777) % len(plaintext)
					length := (i * i * 997) % (1 << 20)
					found := make([]byte, length)
					n, err := reader.ReadAt(found, int64(offset))
					if expected := plaintext[offset:min(offset+length, len(plaintext))]; !bytes.Equal(found[:n], expected) {
						t.Errorf("%d bytes at %d differ: %v", length, offset, err)
					}
					if (err == io.EOF) != (offset+length > len(plaintext)) {
						t.Errorf("%d bytes at %d: %v", length, offset, err)
					}
				}
			}()
		}
		group.Wait()
		_, err := reader.ReadAt(make([]byte, 1), int64(len(plaintext))+1<<40)
		wants(t, err, io.EOF)
		_, err = reader.ReadAt(make([]byte, 1), -1)
		wants(t, err, sealane.ErrMisuse)
		check(t, reader.Close())
		wants(t, reader.Close(), fs.ErrClosed)
		_, err = reader.ReadAt(make([]byte, 1), 0)
		wants(t, err, fs.ErrClosed)
	}
}

// TestCloseWaitsForReads closes a reader and a key while other goroutines use them. Calls either
// work or say that it is closed.
func TestCloseWaitsForReads(t *testing.T) {
	encrypt, decrypt := keys(t, nil)
	plaintext := random(1 << 20)
	file := must(sealane.EncryptBytes(plaintext, encrypt))(t)
	for range 10 {
		reader := must(sealane.NewReader(bytes.NewReader(file), int64(len(file)), decrypt))(t)
		key := must(sealane.GenerateKey("aes-256"))(t)
		started := make(chan struct{}, 4)
		var group sync.WaitGroup
		for range 4 {
			group.Add(1)
			go func() {
				defer group.Done()
				found := make([]byte, 300_000)
				for {
					_, err := reader.ReadAt(found, 1000)
					if err == nil && !bytes.Equal(found, plaintext[1000:301_000]) {
						t.Error("the bytes differ")
					}
					_, keyErr := key.Encode("")
					if err != nil || keyErr != nil {
						if !errors.Is(err, fs.ErrClosed) && !errors.Is(keyErr, fs.ErrClosed) {
							t.Error(err, keyErr)
						}
						return
					}
					select {
					case started <- struct{}{}:
					default:
					}
				}
			}()
		}
		<-started
		check(t, reader.Close())
		check(t, key.Close())
		group.Wait()
	}
}

// TestDamagedFiles changes, cuts and extends a file. Bytes before the damage may be returned, wrong
// bytes never.
func TestDamagedFiles(t *testing.T) {
	encrypt, decrypt := keys(t, &sealane.KeyOptions{Format: sealane.Tink4KB, Context: []byte("name")})
	plaintext := random(20_000)
	file := must(sealane.EncryptBytes(plaintext, encrypt))(t)
	damaged := map[string][]byte{"empty": nil, "longer": append(bytes.Clone(file), 0)}
	for at := 0; at < len(file); at += 499 {
		changed := bytes.Clone(file)
		changed[at] ^= 0x40
		damaged[fmt.Sprintf("changed at %d", at)] = changed
		damaged[fmt.Sprintf("cut at %d", at)] = file[:at]
	}
	for name, bad := range damaged {
		if _, err := sealane.DecryptBytes(bad, decrypt); err == nil {
			t.Errorf("%s: DecryptBytes", name)
		}
		stream := must(sealane.Decrypt(bytes.NewReader(bad), decrypt))(t)
		found, err := io.ReadAll(stream)
		if err == nil || !bytes.HasPrefix(plaintext, found) {
			t.Errorf("%s: Decrypt returns %d bytes and %v", name, len(found), err)
		}
		if _, again := stream.Read(make([]byte, 1)); again != err {
			t.Errorf("%s: the error changed from %v to %v", name, err, again)
		}
		reader, err := sealane.NewReader(bytes.NewReader(bad), int64(len(bad)), decrypt)
		if err == nil {
			_, err = io.Copy(io.Discard, reader)
			check(t, reader.Close())
		}
		if err == nil {
			t.Errorf("%s: NewReader", name)
		}
	}
	// The stream before the damage arrives.
	changed := bytes.Clone(file)
	changed[len(changed)-1] ^= 1
	stream := must(sealane.Decrypt(bytes.NewReader(changed), decrypt))(t)
	found, err := io.ReadAll(stream)
	wants(t, err, sealane.ErrAuthentication)
	if len(found) < 12_000 {
		t.Errorf("%d bytes before the damage", len(found))
	}
	// Another context.
	_, other := keys(t, nil)
	_, err = sealane.DecryptBytes(file, other)
	if err == nil {
		t.Error("another key and context open the file")
	}
	// A file that ends too early is also an io.ErrUnexpectedEOF.
	age := must(sealane.GenerateKey("age"))(t)
	file = must(sealane.EncryptBytes(plaintext, must(sealane.EncryptWithRecipients([]string{must(age.PublicKey())(t)}, nil))(t)))(t)
	with := must(sealane.DecryptWithSecretKey(age, nil))(t)
	_, err = io.ReadAll(must(sealane.Decrypt(bytes.NewReader(file[:30]), with))(t))
	wants(t, err, sealane.ErrTruncated)
	wants(t, err, io.ErrUnexpectedEOF)
	_, err = sealane.DecryptBytes([]byte("no age file at all, but some text"), with)
	wants(t, err, sealane.ErrFormat)
	third := must(sealane.DecryptWithSecretKey(must(sealane.GenerateKey("age"))(t), nil))(t)
	_, err = sealane.DecryptBytes(file, third)
	wants(t, err, sealane.ErrNoMatchingKey)
}

// readerAt is a source whose behavior is a function.
type readerAt func(p []byte, off int64) (int, error)

func (r readerAt) ReadAt(p []byte, off int64) (int, error) { return r(p, off) }

var errBroken = errors.New("the object store is on fire")

// TestSourcesThatLie opens files in sources that break the rules of io.ReaderAt.
func TestSourcesThatLie(t *testing.T) {
	encrypt, decrypt := keys(t, nil)
	plaintext := random(2 << 20)
	file := must(sealane.EncryptBytes(plaintext, encrypt))(t)
	whole := bytes.NewReader(file)
	size := int64(len(file))

	// Short reads without an error are completed.
	short := readerAt(func(p []byte, off int64) (int, error) {
		n, _ := whole.ReadAt(p[:min(len(p), 1000)], off)
		return n, nil
	})
	reader := must(sealane.NewReader(short, size, decrypt))(t)
	equal(t, must(io.ReadAll(reader))(t), plaintext)
	check(t, reader.Close())

	var broken atomic.Bool
	for name, lie := range map[string]struct {
		read readerAt
		kind error
	}{
		"an error": {func(p []byte, off int64) (int, error) { return 0, errBroken }, errBroken},
		"bytes and an error": {func(p []byte, off int64) (int, error) {
			n, _ := whole.ReadAt(p[:len(p)/2], off)
			if n == 0 {
				return 0, errBroken
			}
			return n, errBroken
		}, errBroken},
		"an errno":        {func(p []byte, off int64) (int, error) { return 0, syscall.ECONNRESET }, syscall.ECONNRESET},
		"too many bytes":  {func(p []byte, off int64) (int, error) { return len(p) + 1, nil }, nil},
		"negative counts": {func(p []byte, off int64) (int, error) { return -1, nil }, nil},
		"nothing":         {func(p []byte, off int64) (int, error) { return 0, nil }, io.ErrNoProgress},
		"an early end":    {func(p []byte, off int64) (int, error) { return 0, io.EOF }, nil},
	} {
		broken.Store(false)
		source := readerAt(func(p []byte, off int64) (int, error) {
			if broken.Load() {
				return lie.read(p, off)
			}
			return whole.ReadAt(p, off)
		})
		reader := must(sealane.NewReader(source, size, decrypt))(t)
		broken.Store(true)
		for _, length := range []int{10, 1 << 20} {
			n, err := reader.ReadAt(make([]byte, length), 500_000)
			if n != 0 || err == nil || err == io.EOF || lie.kind != nil && !errors.Is(err, lie.kind) {
				t.Errorf("%s: %d bytes and %v, expected %v", name, n, err, lie.kind)
			}
		}
		check(t, reader.Close())
		if _, err := sealane.NewReader(source, size, decrypt); err == nil || lie.kind != nil && !errors.Is(err, lie.kind) {
			t.Errorf("%s: NewReader returns %v, expected %v", name, err, lie.kind)
		}
	}

	// Wrong sizes.
	for _, wrong := range []int64{0, 1, size - 1, size + 1, 1 << 62} {
		if _, err := sealane.NewReader(whole, wrong, decrypt); err == nil {
			t.Errorf("a file of %d bytes is opened with the size %d", size, wrong)
		}
	}
	_, err := sealane.NewReader(whole, -1, decrypt)
	wants(t, err, sealane.ErrMisuse)

	// A panic continues in the caller's goroutine after the library has returned.
	broken.Store(false)
	source := readerAt(func(p []byte, off int64) (int, error) {
		if broken.Load() {
			panic("on purpose")
		}
		return whole.ReadAt(p, off)
	})
	reader = must(sealane.NewReader(source, size, decrypt))(t)
	for range 3 {
		broken.Store(true)
		if value := panics(t, func() { reader.ReadAt(make([]byte, 1<<20), 0) }); value != "on purpose" {
			t.Errorf("the panic is %v", value)
		}
		broken.Store(false)
		must(reader.ReadAt(make([]byte, 1<<20), 0))(t)
	}
	check(t, reader.Close())
}

// TestStreamsThatLie gives Decrypt and Encrypt readers and writers that break the rules.
func TestStreamsThatLie(t *testing.T) {
	encrypt, decrypt := keys(t, nil)
	for name, lie := range map[string]struct {
		read readFunc
		kind error
	}{
		"nothing":         {func(p []byte) (int, error) { return 0, nil }, io.ErrNoProgress},
		"an error":        {func(p []byte) (int, error) { return 0, errBroken }, errBroken},
		"too many bytes":  {func(p []byte) (int, error) { return len(p) + 1, nil }, nil},
		"negative counts": {func(p []byte) (int, error) { return -1, nil }, nil},
		"an early end":    {func(p []byte) (int, error) { return 0, io.EOF }, nil},
	} {
		stream := must(sealane.Decrypt(lie.read, decrypt))(t)
		n, err := stream.Read(make([]byte, 100))
		if n != 0 || err == nil || err == io.EOF || lie.kind != nil && !errors.Is(err, lie.kind) {
			t.Errorf("%s: %d bytes and %v, expected %v", name, n, err, lie.kind)
		}
	}
	for name, lie := range map[string]struct {
		write writeFunc
		kind  error
	}{
		"a short write": {func(p []byte) (int, error) { return len(p) - 1, nil }, io.ErrShortWrite},
		"a long write":  {func(p []byte) (int, error) { return len(p) + 1, nil }, io.ErrShortWrite},
		"an error":      {func(p []byte) (int, error) { return 0, errBroken }, errBroken},
	} {
		writer := must(sealane.Encrypt(lie.write, encrypt))(t)
		_, err := writer.Write(random(1 << 20))
		if !errors.Is(err, lie.kind) {
			t.Errorf("%s: %v, expected %v", name, err, lie.kind)
		}
		wants(t, writer.Close(), lie.kind)
	}
}

type readFunc func(p []byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

type writeFunc func(p []byte) (int, error)

func (f writeFunc) Write(p []byte) (int, error) { return f(p) }

// TestWholeFiles encrypts, verifies and decrypts files with options.
func TestWholeFiles(t *testing.T) {
	encrypt, decrypt := keys(t, nil)
	plaintext := random(5 << 20)
	folder := t.TempDir()
	source, sealed, back := filepath.Join(folder, "source"), filepath.Join(folder, "sealed"), filepath.Join(folder, "back")
	check(t, os.WriteFile(source, plaintext, 0o600))
	var reports []int64
	options := &sealane.FileOptions{Threads: 2, Synced: true, Progress: func(done, total int64) error {
		if total != int64(len(plaintext)) {
			t.Errorf("the total is %d, expected %d", total, len(plaintext))
		}
		reports = append(reports, done)
		return nil
	}}
	check(t, sealane.EncryptFile(source, sealed, encrypt, options))
	if len(reports) == 0 || reports[len(reports)-1] != int64(len(plaintext)) {
		t.Errorf("the progress was %v", reports)
	}
	check(t, sealane.VerifyFile(sealed, decrypt, nil))
	check(t, sealane.DecryptFile(sealed, back, decrypt, &sealane.FileOptions{Threads: 1}))
	equal(t, must(os.ReadFile(back))(t), plaintext)

	// Cancelled by an error; the error is returned and nothing is left behind.
	check(t, os.Remove(back))
	err := sealane.DecryptFile(sealed, back, decrypt, &sealane.FileOptions{Progress: func(done, total int64) error { return errBroken }})
	wants(t, err, sealane.ErrCancelled)
	wants(t, err, errBroken)
	value := panics(t, func() {
		sealane.VerifyFile(sealed, decrypt, &sealane.FileOptions{Progress: func(done, total int64) error { panic("on purpose") }})
	})
	if value != "on purpose" {
		t.Errorf("the panic is %v", value)
	}
	if names := must(os.ReadDir(folder))(t); len(names) != 2 {
		t.Errorf("the folder contains %v", names)
	}
	wants(t, sealane.VerifyFile(sealed, decrypt, &sealane.FileOptions{Threads: -1}), sealane.ErrMisuse)

	// Progress may use the package.
	check(t, sealane.EncryptFile(source, sealed, encrypt, &sealane.FileOptions{Progress: func(done, total int64) error {
		_, err := sealane.EncryptBytes([]byte("while a file is encrypted"), encrypt)
		return err
	}}))

	// Damage.
	file := must(os.ReadFile(sealed))(t)
	file[len(file)/2] ^= 1
	check(t, os.WriteFile(sealed, file, 0o600))
	wants(t, sealane.VerifyFile(sealed, decrypt, nil), sealane.ErrAuthentication)
	wants(t, sealane.DecryptFile(sealed, back, decrypt, nil), sealane.ErrAuthentication)
	if _, err := os.Stat(back); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a damaged file has a result")
	}
}

// TestPathErrors names the path and the operation.
func TestPathErrors(t *testing.T) {
	encrypt, decrypt := keys(t, nil)
	folder := t.TempDir()
	missing, there := filepath.Join(folder, "missing"), filepath.Join(folder, "there")
	check(t, os.WriteFile(there, random(1000), 0o600))
	inside := filepath.Join(folder, "no folder", "file")
	long := filepath.Join(folder, strings.Repeat("x", 300))
	for name, call := range map[string]struct {
		err  error
		path string
		kind error
	}{
		"encrypt":         {sealane.EncryptFile(missing, there, encrypt, nil), missing, fs.ErrNotExist},
		"decrypt":         {sealane.DecryptFile(missing, there, decrypt, nil), missing, fs.ErrNotExist},
		"verify":          {sealane.VerifyFile(missing, decrypt, nil), missing, fs.ErrNotExist},
		"open":            {second(sealane.Open(missing, decrypt)), missing, fs.ErrNotExist},
		"load":            {second(sealane.LoadSecretKey(missing, "")), missing, fs.ErrNotExist},
		"a long name":     {second(sealane.Open(long, decrypt)), long, syscall.ENAMETOOLONG},
		"an empty path":   {second(sealane.Open("", decrypt)), "", fs.ErrNotExist},
		"a zero byte":     {second(sealane.Open("a\x00b", decrypt)), "a\x00b", syscall.EINVAL},
		"create":          {second(sealane.Create("a\x00b", encrypt)), "a\x00b", syscall.EINVAL},
		"encrypt, target": {sealane.EncryptFile(there, inside, encrypt, nil), "", fs.ErrNotExist},
		"create in none":  {createAndClose(inside, encrypt), "", fs.ErrNotExist},
	} {
		var pathErr *fs.PathError
		if !errors.As(call.err, &pathErr) || !errors.Is(call.err, call.kind) {
			t.Errorf("%s: found %v, expected a PathError with %v", name, call.err, call.kind)
		} else if call.path != "" && pathErr.Path != call.path {
			t.Errorf("%s: the path is %q, expected %q", name, pathErr.Path, call.path)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func createAndClose(path string, with *sealane.EncryptWith) error {
	writer, err := sealane.Create(path, with)
	if err != nil {
		return err
	}
	return writer.Close()
}

// TestAbort leaves nothing behind.
func TestAbort(t *testing.T) {
	encrypt, decrypt := keys(t, nil)
	folder := t.TempDir()
	path := filepath.Join(folder, "file")
	writer := must(sealane.Create(path, encrypt))(t)
	must(writer.Write(random(1 << 20)))(t)
	writer.Abort()
	writer.Abort()
	wants(t, writer.Close(), fs.ErrClosed)
	_, err := writer.Write([]byte{1})
	wants(t, err, fs.ErrClosed)
	if names := must(os.ReadDir(folder))(t); len(names) != 0 {
		t.Errorf("the folder contains %v", names)
	}
	writer = must(sealane.Create(path, encrypt))(t)
	must(writer.Write([]byte("kept")))(t)
	check(t, writer.Close())
	writer.Abort()
	wants(t, writer.Close(), fs.ErrClosed)
	reader := must(sealane.Open(path, decrypt))(t)
	equal(t, must(io.ReadAll(reader))(t), []byte("kept"))
	check(t, reader.Close())
}

// TestProgram exchanges files with the program sealane, in both directions.
func TestProgram(t *testing.T) {
	program := os.Getenv("SEALANE_PROGRAM")
	if program == "" {
		t.Skip("SEALANE_PROGRAM does not name the program sealane; make -C bindings go does")
	}
	folder := t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	run := func(args ...string) {
		t.Helper()
		if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	plaintext := random(300_000)
	check(t, os.WriteFile(in("plaintext"), plaintext, 0o600))
	same := func(name string) {
		t.Helper()
		equal(t, must(os.ReadFile(in(name)))(t), plaintext)
	}

	// A symmetric key of each side.
	run("keygen", "-o", in("key.jwk"))
	key := must(sealane.LoadSecretKey(in("key.jwk"), ""))(t)
	ours := must(sealane.GenerateKey("aes-256"))(t)
	check(t, ours.Save(in("ours.jwk"), nil))
	for name, key := range map[string]*sealane.SecretKey{"key.jwk": key, "ours.jwk": ours} {
		encrypt := must(sealane.EncryptWithSecretKey(key, nil))(t)
		decrypt := must(sealane.DecryptWithSecretKey(key, nil))(t)
		check(t, sealane.EncryptFile(in("plaintext"), in(name+".sealed"), encrypt, nil))
		run("decrypt", "-k", in(name), "-o", in(name+".back"), in(name+".sealed"))
		same(name + ".back")
		created := must(sealane.Create(in(name+".created"), encrypt))(t)
		must(created.Write(plaintext))(t)
		check(t, created.Close())
		run("decrypt", "-k", in(name), "-o", in(name+".created.back"), in(name+".created"))
		same(name + ".created.back")
		run("encrypt", "-k", in(name), "-o", in(name+".theirs"), in("plaintext"))
		reader := must(sealane.Open(in(name+".theirs"), decrypt))(t)
		equal(t, must(io.ReadAll(reader))(t), plaintext)
		check(t, reader.Close())
	}

	// An age identity, with armor, by a stream.
	identity := must(sealane.GenerateKey("age"))(t)
	check(t, identity.Save(in("identity"), nil))
	recipient := must(identity.PublicKey())(t)
	file := must(os.Create(in("armored.age")))(t)
	writer := must(sealane.Encrypt(file, must(sealane.EncryptWithRecipients([]string{recipient}, &sealane.AgeOptions{Armor: true}))(t)))(t)
	must(writer.Write(plaintext))(t)
	check(t, writer.Close())
	check(t, file.Close())
	run("decrypt", "-i", in("identity"), "-o", in("armored.back"), in("armored.age"))
	same("armored.back")
	run("encrypt", "-r", recipient, "-o", in("theirs.age"), in("plaintext"))
	check(t, sealane.DecryptFile(in("theirs.age"), in("theirs.back"), must(sealane.DecryptWithSecretKey(identity, nil))(t), nil))
	same("theirs.back")

	// A passphrase.
	with := must(sealane.EncryptWithPassphrase("correct horse", &sealane.AgeOptions{WorkFactor: 10}))(t)
	check(t, sealane.EncryptFile(in("plaintext"), in("passphrase.age"), with, nil))
	check(t, os.WriteFile(in("passphrase"), []byte("correct horse"), 0o600))
	phrase := must(os.Open(in("passphrase")))(t)
	defer phrase.Close()
	command := exec.Command(program, "decrypt", "-p", "--passphrase-fd", "3", "-o", in("passphrase.back"), in("passphrase.age"))
	command.ExtraFiles = []*os.File{phrase}
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	same("passphrase.back")
}
