//! Wrong input: one line, the right exit status, no output file, and all other files unchanged.

use crate::common::{Sandbox, data, works};
#[cfg(unix)]
use std::fs;

const HEADER: usize = 56;
const CHUNK: usize = 16384 + 16;

/// Returns a sandbox with `plain`, which has three chunks, and `sealed`.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("plain", &data(40_000));
    sandbox.run("encrypt -k k -c ctx -o sealed plain").succeeded();
    sandbox
}

/// Checks that every command refuses a damaged file and prints none of its plaintext.
fn refused_by_every_command(sandbox: &Sandbox, damaged: &[u8], what: &str) {
    sandbox.write("bad", damaged);
    let expected = if damaged.len() < HEADER { "truncated" } else { "" };
    for line in [
        "decrypt -o out bad",
        "decrypt bad",
        "verify bad",
        "cat --range : bad",
        "cat --range 20000:20001 bad",
    ] {
        // A range of an undamaged chunk may be read. The header and the end are verified in any
        // case.
        if line.contains("20000") && !what.contains("truncated") {
            continue;
        }
        sandbox.refuses(&format!("{line} -k k -c ctx"), 1, &format!("bad: {expected}"));
    }
    sandbox.refuses_input("decrypt -k k -c ctx -o out", damaged, 1, "standard input: ");
    sandbox.refuses_input("verify -k k -c ctx -", damaged, 1, "standard input: ");
    // From pipe to pipe the beginning may have been written, with an error at the end.
    sandbox.pipe("decrypt -k k -c ctx", damaged).failed(1, "do not use the incomplete output");
}

/// The hint depends on what is known: after the header has verified the key, a failure is damage.
#[test]
fn the_hint_suggests_another_key_only_if_the_key_may_be_wrong() {
    let sandbox = sandbox();
    for name in ["me", "you"] {
        let public = sandbox.run(&format!("keygen -t age -o {name}")).succeeded();
        sandbox.write(format!("{name}.pub"), &public);
    }
    sandbox.run("encrypt -R me.pub -o age plain").succeeded();
    sandbox.run("encrypt -k k -c ctx --format tink-4kb -o tink plain").succeeded();
    let damage = |name: &str, at: usize| {
        let mut bytes = sandbox.read(name);
        bytes[at] ^= 1;
        sandbox.write("bad", &bytes);
    };
    let (key, tink) = ("-k k -c ctx", "-k k -c ctx --format tink-4kb");
    let age_chunk = sandbox.read("age").len() - 100;
    for (name, at, with, words) in [
        (
            "sealed",
            0,
            key,
            "bad: authentication failed: wrong key, wrong context or changed data; check -k and -c",
        ),
        (
            "sealed",
            HEADER,
            key,
            "bad: authentication failed: chunk 0 at byte 56 was changed, or the file was cut off",
        ),
        (
            "sealed",
            HEADER + CHUNK,
            key,
            "chunk 1 at byte 16456 was changed, or the file was cut off there; the key is",
        ),
        (
            "sealed",
            33_000,
            key,
            "chunk 2 at byte 32856 was changed, or the file was cut off there; the key is right",
        ),
        ("age", 140, "-i me", "damaged header: "),
        (
            "age",
            age_chunk,
            "-i me",
            "was changed, or the file was cut off there; the key is right, so take another copy",
        ),
        // The header of a Tink file does not commit to the key. The last segment is read first.
        ("tink", 40_000, tink, "wrong key, wrong context or changed data"),
        (
            "tink",
            5000,
            tink,
            "chunk 1 at byte 4096 was changed, or the file was cut off there; the key is right",
        ),
    ] {
        damage(name, at);
        sandbox.refuses(&format!("decrypt {with} -o out bad"), 1, words);
        sandbox.refuses(&format!("verify {with} bad"), 1, words);
        let piped = sandbox.pipe(&format!("verify {with} -"), &sandbox.read("bad"));
        // From a pipe, the first segment of a Tink file has verified the key already.
        let words = if at == 40_000 { "chunk 9 at byte 36864 " } else { words.trim_start_matches("bad: ") };
        piped.failed(1, words);
    }
    sandbox.refuses("decrypt -i you -o out age", 1, "no matching key");
    sandbox.refuses("decrypt -k k -c other --format tink-4kb -o out tink", 1, "wrong key, wrong context");
    sandbox.refuses("decrypt -k k -c other -o out sealed", 1, "wrong key, wrong context");
}

#[test]
fn a_flipped_bit_is_refused() {
    let sandbox = sandbox();
    let sealed = sandbox.read("sealed");
    let last = sealed.len() - 1;
    for at in [
        0,
        23,
        24,
        55,
        HEADER,
        HEADER + 16383,
        HEADER + 16384,
        HEADER + CHUNK - 1,
        HEADER + CHUNK,
        30_000,
        last - 16,
        last,
    ] {
        let mut damaged = sealed.clone();
        damaged[at] ^= 1 << (at % 8);
        refused_by_every_command(&sandbox, &damaged, "flipped");
    }
}

#[test]
fn truncation_at_and_around_chunk_borders_is_refused() {
    let sandbox = sandbox();
    let sealed = sandbox.read("sealed");
    let borders = [HEADER, HEADER + CHUNK, HEADER + 2 * CHUNK];
    let around = borders.into_iter().flat_map(|border| [border - 1, border, border + 1, border + 16]);
    for len in around.chain([0, 1, 24, 1000, sealed.len() - 17, sealed.len() - 16, sealed.len() - 1]) {
        refused_by_every_command(&sandbox, &sealed[..len], "truncated");
    }
}

// claim: file-changed
#[test]
fn trailing_bytes_are_refused() {
    let sandbox = sandbox();
    let sealed = sandbox.read("sealed");
    for more in [1, 15, 16, 17, CHUNK - 7248, CHUNK] {
        refused_by_every_command(&sandbox, &[&sealed[..], &vec![0; more]].concat(), "longer");
    }
    refused_by_every_command(&sandbox, &[&sealed[..], &sealed[..]].concat(), "twice");
}

// claim: file-changed
#[test]
fn chunks_in_another_order_are_refused() {
    let sandbox = sandbox();
    let sealed = sandbox.read("sealed");
    let (header, chunks) = sealed.split_at(HEADER);
    let (a, b, c) = (&chunks[..CHUNK], &chunks[CHUNK..2 * CHUNK], &chunks[2 * CHUNK..]);
    for (what, parts) in [
        ("swapped", vec![header, b, a, c]),
        ("doubled", vec![header, a, a, b, c]),
        ("doubled last", vec![header, a, b, c, c]),
        ("left out", vec![header, a, c]),
        ("left out last", vec![header, a, b]),
        ("first left out", vec![header, b, c]),
    ] {
        refused_by_every_command(&sandbox, &parts.concat(), what);
    }
}

#[test]
fn a_plain_file_is_refused() {
    let sandbox = sandbox();
    refused_by_every_command(&sandbox, &data(100_000), "plain");
    refused_by_every_command(&sandbox, b"hello", "short");
}

// claim: file-no-output
#[cfg(unix)]
#[test]
fn a_long_truncated_file_has_no_output() {
    let sandbox = Sandbox::new();
    sandbox.write("plain", &data(20 << 20));
    sandbox.run("encrypt -k k -o sealed plain").succeeded();
    let sealed = sandbox.read("sealed");
    sandbox.write("bad", &sealed[..HEADER + 1000 * CHUNK]);
    sandbox.refuses("decrypt -k k bad", 1, "bad: ");
    let outcome = sandbox.shell("$SEALANE decrypt -k k <bad");
    outcome.failed(1, "standard input: ");
    assert!(outcome.out.is_empty());
}

#[test]
fn a_name_that_is_too_long_is_refused() {
    // Windows reports it as the name of a missing file.
    let words = if cfg!(unix) { "name too long" } else { "no such file or folder" };
    sandbox().refuses(&format!("encrypt -k k -o {} plain", "x".repeat(300)), 1, words);
}

#[test]
#[cfg(target_os = "linux")]
fn lists_without_an_end() {
    let sandbox = sandbox();
    sandbox.refuses("encrypt -R /dev/zero -o x plain", 1, "the list has more than 16 MiB");
    sandbox.refuses(
        "encrypt --recursive -k k --exclude-from /dev/zero -o x .",
        1,
        "the list has more than 16 MiB",
    );
}

/// A file system of 128 KiB, which is full quickly and can be made read-only.
#[cfg(unix)]
struct Mount<'a>(&'a Sandbox);

#[cfg(unix)]
impl<'a> Mount<'a> {
    fn new(sandbox: &'a Sandbox) -> Option<Self> {
        sandbox.folder("small");
        let path = sandbox.path("small");
        let args = ["-t", "tmpfs", "-o", "size=128k", "tmpfs"].map(AsRef::as_ref);
        let mounted = works("mount", &[&args[..], &[path.as_os_str()]].concat());
        if !mounted {
            eprintln!("NOT TESTED: a full and a read-only file system; mounting one takes root");
        }
        mounted.then_some(Self(sandbox))
    }

    fn make_read_only(&self) {
        assert!(works("mount", &["-o".as_ref(), "remount,ro".as_ref(), self.0.path("small").as_os_str()]));
    }
}

#[cfg(unix)]
impl Drop for Mount<'_> {
    fn drop(&mut self) {
        works("umount", &[self.0.path("small").as_os_str()]);
    }
}

/// `ulimit -f` counts blocks of 512 bytes. Its signal would end the program.
// claim: disk-errors
#[cfg(unix)]
#[test]
fn a_limit_of_the_length_of_files_is_reported() {
    let sandbox = Sandbox::new();
    sandbox.write("plain", &data(1 << 20));
    sandbox.run("encrypt -k k -o sealed plain").succeeded();
    let before = sandbox.content();
    for command in ["encrypt -k k -o out plain", "decrypt -k k -o out sealed"] {
        let line = format!("ulimit -f 100; $SEALANE {command}");
        sandbox.shell(&line).failed(1, "out: the file would be longer than the limit");
        assert_eq!(sandbox.content(), before, "{command}");
    }
}

// claim: disk-errors
#[cfg(unix)]
#[test]
fn a_full_disk_and_a_read_only_disk_are_reported() {
    let sandbox = Sandbox::new();
    sandbox.write("plain", &data(1 << 20));
    sandbox.run("encrypt -k k -o sealed plain").succeeded();
    let Some(mount) = Mount::new(&sandbox) else { return };
    sandbox.write("small/keep", b"as it was");
    let full = "small/out: the disk is full";
    for _ in 0..3 {
        // Three times, because incomplete files would fill the disk.
        sandbox.refuses("encrypt -k k -o small/out plain", 1, full);
        sandbox.refuses("decrypt -k k -o small/out sealed", 1, full);
        sandbox.refuses_input("encrypt -k k -o small/out", &data(1 << 20), 1, full);
        sandbox.refuses_input("decrypt -k k -o small/out", &sandbox.read("sealed"), 1, full);
        sandbox.refuses("encrypt -k k -o small/keep plain", 1, "small/keep: the disk is full");
    }
    sandbox.shell("$SEALANE encrypt -k k plain >small/out").failed(1, "standard output: the disk is full");
    fs::remove_file(sandbox.path("small/out")).unwrap();
    mount.make_read_only();
    sandbox.refuses("encrypt -k k -o small/out plain", 1, "small/out: the file system is read-only");
    sandbox.refuses("decrypt -k k -o small/keep sealed", 1, "small/keep: the file system is read-only");
    sandbox.refuses("keygen -o small/key", 1, "small/key: the file system is read-only");
}

/// The key alone cannot show it: chunked-encryption@v1 has no mark.
#[test]
fn a_file_that_is_not_encrypted_is_named() {
    let sandbox = Sandbox::new();
    for (mark, found) in
        [("PAR1", "a Parquet file"), ("caf\u{e9}\n", "text"), ("name,price\n", "text"), ("%PDF-", "PDF")]
    {
        sandbox.write("plain", mark.repeat(100).as_bytes());
        let said = format!("plain: authentication failed: expected an encrypted file, found {found}");
        for command in ["decrypt -o out", "verify", "cat"] {
            sandbox.refuses(&format!("{command} -k k plain"), 1, &said);
        }
        sandbox.refuses_input("decrypt -k k -o out", &sandbox.read("plain"), 1, &said["plain".len()..]);
    }
}
