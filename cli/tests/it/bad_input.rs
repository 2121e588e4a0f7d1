//! Whatever is wrong: one line, the right exit status, no output file, and every other file as it was.
#![cfg(unix)]

use crate::common::{Room, data, works};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

const HEADER: usize = 56;
const CHUNK: usize = 16384 + 16;

/// A room with `plain`, of three chunks, and `sealed`.
fn room() -> Room {
    let room = Room::new();
    room.write("plain", &data(40_000));
    room.run("encrypt -k k -c ctx -o sealed plain").worked();
    room
}

/// A damaged file is refused on every way, and on none does a byte of plaintext come out of it.
fn refused_everywhere(room: &Room, damaged: &[u8], what: &str) {
    room.write("bad", damaged);
    let truncated_or_forged = if damaged.len() < HEADER { "truncated" } else { "" };
    for line in [
        "decrypt -o out bad",
        "decrypt bad",
        "verify bad",
        "cat --range : bad",
        "cat --range 20000:20001 bad",
    ] {
        // A range from an undamaged chunk may be read; the header and the end are verified all the same.
        if line.contains("20000") && !what.contains("truncated") {
            continue;
        }
        room.refuses(&format!("{line} -k k -c ctx"), 1, &format!("bad: {truncated_or_forged}"));
    }
    room.refuses_of("decrypt -k k -c ctx -o out", damaged, 1, "standard input: ");
    room.refuses_of("verify -k k -c ctx -", damaged, 1, "standard input: ");
    // From pipe to pipe the beginning may have gone out, but never as if it were all.
    room.pipe("decrypt -k k -c ctx", damaged).failed(1, "do not use the incomplete output");
}

#[test]
fn wrong_key_and_wrong_context() {
    let room = room();
    room.run("keygen -o other").worked();
    room.run("keygen -o short -t aes-128").worked();
    for unlock in ["-k other -c ctx", "-k short -c ctx", "-k k -c CTX", "-k k", "-k k -c ctxx"] {
        for line in ["decrypt -o out sealed", "decrypt sealed", "verify sealed", "cat --range 0:1 sealed"] {
            room.refuses(
                &format!("{line} {unlock}"),
                1,
                "sealed: authentication failed: wrong key, wrong context",
            );
        }
        room.refuses_of(
            &format!("decrypt -o out {unlock}"),
            &room.read("sealed"),
            1,
            "authentication failed",
        );
    }
}

/// The hint depends on what is known: after the header has verified the key, a failure is damage.
#[test]
fn the_hint_suggests_another_key_only_if_the_key_may_be_wrong() {
    let room = room();
    for name in ["me", "you"] {
        let public = room.run(&format!("keygen -t age -o {name}")).worked();
        room.write(format!("{name}.pub"), &public);
    }
    room.run("encrypt -R me.pub -o age plain").worked();
    room.run("encrypt -k k -c ctx --format tink-4kb -o tink plain").worked();
    let damage = |name: &str, at: usize| {
        let mut bytes = room.read(name);
        bytes[at] ^= 1;
        room.write("bad", &bytes);
    };
    let (key, tink) = ("-k k -c ctx", "-k k -c ctx --format tink-4kb");
    let age_chunk = room.read("age").len() - 100;
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
        room.refuses(&format!("decrypt {with} -o out bad"), 1, words);
        room.refuses(&format!("verify {with} bad"), 1, words);
        let piped = room.pipe(&format!("verify {with} -"), &room.read("bad"));
        // From a pipe, the first segment of a Tink file has verified the key already.
        let words = if at == 40_000 { "chunk 9 at byte 36864 " } else { words.trim_start_matches("bad: ") };
        piped.failed(1, words);
    }
    room.refuses("decrypt -i you -o out age", 1, "no matching key");
    room.refuses("decrypt -k k -c other --format tink-4kb -o out tink", 1, "wrong key, wrong context");
    room.refuses("decrypt -k k -c other -o out sealed", 1, "wrong key, wrong context");
}

#[test]
fn a_flipped_bit_anywhere() {
    let room = room();
    let sealed = room.read("sealed");
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
        refused_everywhere(&room, &damaged, "flipped");
    }
}

#[test]
fn truncation_at_and_off_borders() {
    let room = room();
    let sealed = room.read("sealed");
    let borders = [HEADER, HEADER + CHUNK, HEADER + 2 * CHUNK];
    let around = borders.into_iter().flat_map(|border| [border - 1, border, border + 1, border + 16]);
    for len in around.chain([0, 1, 24, 1000, sealed.len() - 17, sealed.len() - 16, sealed.len() - 1]) {
        refused_everywhere(&room, &sealed[..len], "truncated");
    }
}

#[test]
fn trailing_bytes() {
    let room = room();
    let sealed = room.read("sealed");
    for more in [1, 15, 16, 17, CHUNK - 7248, CHUNK] {
        refused_everywhere(&room, &[&sealed[..], &vec![0; more]].concat(), "longer");
    }
    refused_everywhere(&room, &[&sealed[..], &sealed[..]].concat(), "twice");
}

#[test]
fn chunks_out_of_order() {
    let room = room();
    let sealed = room.read("sealed");
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
        refused_everywhere(&room, &parts.concat(), what);
    }
}

#[test]
fn a_file_that_was_never_encrypted() {
    let room = room();
    refused_everywhere(&room, &data(100_000), "plain");
    refused_everywhere(&room, b"hello", "short");
}

#[test]
fn nothing_comes_out_of_a_long_truncated_file() {
    let room = Room::new();
    room.write("plain", &data(20 << 20));
    room.run("encrypt -k k -o sealed plain").worked();
    let sealed = room.read("sealed");
    room.write("bad", &sealed[..HEADER + 1000 * CHUNK]);
    room.refuses("decrypt -k k bad", 1, "bad: ");
    let said = room.shell("$SEALANE decrypt -k k <bad");
    said.failed(1, "standard input: ");
    assert!(said.out.is_empty());
}

#[test]
fn a_missing_source() {
    let room = room();
    for line in ["encrypt -k k -o out missing", "decrypt -k k -o out missing", "decrypt -k k missing"] {
        room.refuses(line, 1, "missing: no such file or folder");
    }
    room.refuses("verify -k k missing", 1, "missing: no such file or folder");
    room.refuses("cat -k k --range : missing", 1, "missing: no such file or folder");
    room.refuses("encrypt -k k -o out plain/below", 1, "plain/below: a part of the path is not a folder");
    symlink("nowhere", room.path("dangling")).unwrap();
    room.refuses("encrypt -k k -o out dangling", 1, "dangling: no such file");
}

#[test]
fn a_folder_as_source() {
    let room = room();
    room.folder("folder");
    for line in ["encrypt -o out", "encrypt", "decrypt -o out", "decrypt", "verify", "cat --range :"] {
        for folder in ["folder", "folder/", ".", ".."] {
            room.refuses(&format!("{line} -k k {folder}"), 1, "is a folder; name a file");
        }
    }
}

#[test]
fn a_target_that_cannot_be() {
    let room = room();
    room.folder("folder");
    room.folder("folder/plain");
    room.refuses("encrypt -k k -o folder plain", 1, "folder/plain: is a folder");
    room.refuses_of(
        "encrypt -k k -o folder",
        b"data",
        2,
        "folder: is a folder, and standard input has no name",
    );
    room.refuses("encrypt -k k -o new/ plain", 1, "new/");
    room.refuses("encrypt -k k -o missing/out plain", 1, "missing/out: no such file or folder");
    room.refuses("encrypt -k k -o plain/out plain", 1, "plain/out: a part of the path is not a folder");
    room.refuses(
        "encrypt -k k -o out plain sealed",
        2,
        "out: expected an existing folder for several inputs",
    );
    room.refuses("encrypt -k k plain sealed", 2, "expected an existing folder for several inputs");
    room.refuses("encrypt -k k -o folder plain folder/../plain", 2, "another input has the same name");
    room.refuses("encrypt -k k -o folder plain -", 2, "standard input has no name");
    room.refuses(&format!("encrypt -k k -o {} plain", "x".repeat(300)), 1, "name too long");
}

#[test]
fn source_and_target_are_one() {
    let room = room();
    symlink("sealed", room.path("soft")).unwrap();
    fs::hard_link(room.path("sealed"), room.path("hard")).unwrap();
    for line in ["encrypt -k k", "decrypt -k k -c ctx"] {
        for (from, to) in [
            ("sealed", "sealed"),
            ("sealed", "./sealed"),
            ("sealed", "soft"),
            ("soft", "sealed"),
            ("sealed", "hard"),
            ("hard", "soft"),
        ] {
            room.refuses(&format!("{line} -o {to} {from}"), 2, "source and destination are the same file");
        }
        room.refuses(&format!("{line} -o . sealed"), 2, "source and destination are the same file");
        let before = room.content();
        room.shell(&format!("$SEALANE {line} sealed >>sealed")).failed(2, "are the same file");
        room.shell(&format!("$SEALANE {line} <sealed >>hard")).failed(2, "are the same file");
        room.shell(&format!("$SEALANE {line} -o soft <sealed")).failed(2, "are the same file");
        assert!(room.content() == before);
    }
}

#[test]
fn a_target_that_is_read_only() {
    let room = room();
    room.write("target", b"precious");
    fs::set_permissions(room.path("target"), Permissions::from_mode(0o444)).unwrap();
    room.refuses("encrypt -k k -o target plain", 1, "target: permission denied");
    room.refuses("decrypt -k k -c ctx -o target sealed", 1, "target: permission denied");
}

#[test]
fn a_full_device() {
    let room = room();
    room.refuses("encrypt -k k -o /dev/full plain", 1, "/dev/full: the disk is full");
    room.refuses("decrypt -k k -c ctx -o /dev/full sealed", 1, "/dev/full: the disk is full");
    for line in [
        "encrypt -k k plain",
        "decrypt -k k -c ctx sealed",
        "cat -k k -c ctx --range : sealed",
        "keygen",
        "providers",
    ] {
        room.shell(&format!("$SEALANE {line} >/dev/full")).failed(1, "standard output: the disk is full");
    }
}

/// A file system of 128 KiB, which is full at once and can be made read-only.
struct Mount<'a>(&'a Room);

impl<'a> Mount<'a> {
    fn new(room: &'a Room) -> Option<Self> {
        room.folder("small");
        let path = room.path("small");
        let args = ["-t", "tmpfs", "-o", "size=128k", "tmpfs"].map(AsRef::as_ref);
        let mounted = works("mount", &[&args[..], &[path.as_os_str()]].concat());
        if !mounted {
            eprintln!("NOT TESTED: a full and a read-only file system; mounting one takes root");
        }
        mounted.then_some(Self(room))
    }

    fn make_read_only(&self) {
        assert!(works("mount", &["-o".as_ref(), "remount,ro".as_ref(), self.0.path("small").as_os_str()]));
    }
}

impl Drop for Mount<'_> {
    fn drop(&mut self) {
        works("umount", &[self.0.path("small").as_os_str()]);
    }
}

#[test]
fn a_full_disk_and_a_read_only_one() {
    let room = Room::new();
    room.write("plain", &data(1 << 20));
    room.run("encrypt -k k -o sealed plain").worked();
    let Some(mount) = Mount::new(&room) else { return };
    room.write("small/keep", b"as it was");
    let full = "small/out: the disk is full";
    for _ in 0..3 {
        // Three times: what a failure leaves behind would fill the disk.
        room.refuses("encrypt -k k -o small/out plain", 1, full);
        room.refuses("decrypt -k k -o small/out sealed", 1, full);
        room.refuses_of("encrypt -k k -o small/out", &data(1 << 20), 1, full);
        room.refuses_of("decrypt -k k -o small/out", &room.read("sealed"), 1, full);
        room.refuses("encrypt -k k -o small/keep plain", 1, "small/keep: the disk is full");
    }
    room.shell("$SEALANE encrypt -k k plain >small/out").failed(1, "standard output: the disk is full");
    fs::remove_file(room.path("small/out")).unwrap();
    mount.make_read_only();
    room.refuses("encrypt -k k -o small/out plain", 1, "small/out: the file system is read-only");
    room.refuses("decrypt -k k -o small/keep sealed", 1, "small/keep: the file system is read-only");
    room.refuses("keygen -o small/key", 1, "small/key: the file system is read-only");
}
