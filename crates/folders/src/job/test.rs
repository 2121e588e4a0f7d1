//! Tests of jobs over pairs of files. Their order is tested in `crates/sealane/tests/it/jobs.rs`.

use super::*;
use crate::bulk::Replica;
use base::Misuse;
use files::{DecryptWith, EncryptWith, Rotation};
use keys::{Keyring, Prefix};
use messages::Key;
use std::fs;
use std::ops::ControlFlow;

/// A folder with the files `0` to `9`, removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = Self(std::env::temp_dir().join(format!("sealane-job-{name}-{}", std::process::id())));
        let _ = fs::remove_dir_all(&folder.0);
        fs::create_dir_all(&folder.0).unwrap();
        for n in 0..10 {
            fs::write(folder.0.join(n.to_string()), vec![n; 20_000]).unwrap();
        }
        folder
    }

    fn pairs(&self) -> Vec<(PathBuf, PathBuf)> {
        (0..10).map(|n| (self.0.join(n.to_string()), self.0.join(format!("out/{n}.sealed")))).collect()
    }

    fn options(&self) -> JobOptions {
        JobOptions {
            manifest: Some(self.0.join("manifest")),
            batch: NonZeroUsize::new(3),
            ..JobOptions::default()
        }
    }

    /// Runs a job with a manifest. Returns the numbers of finished, processed and failed files.
    fn run(&self, operation: &Operation) -> Result<(usize, usize, usize), Error> {
        let mut job = Job::pairs(self.pairs(), self.options())?;
        let Summary { done, skipped, failed, .. } = run(&mut job, operation)?;
        Ok((skipped, done, failed))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn keys(operation: &Operation) -> JobKeys<'_> {
    JobKeys { operation, inventory: None, compare: None }
}

fn run(job: &mut Job, operation: &Operation) -> Result<Summary, Error> {
    let mut summary = Summary::default();
    let mut listen = |events: Vec<Event<'_>>| {
        if let [Event::Ended(found)] = events[..] {
            summary = found;
        }
        ControlFlow::Continue(())
    };
    job.run(&keys(operation), &|| false, &mut listen).map_err(|stopped| stopped.error)?;
    Ok(summary)
}

fn encrypt(key: u8, context: &[u8]) -> Operation {
    Operation::Encrypt(EncryptWith::key(&Key::from_bytes(&[key; 32]), context))
}

#[test]
fn a_second_run_skips_finished_files() {
    let folder = Folder::new("twice");
    fs::create_dir_all(folder.0.join("out/5.sealed")).unwrap();
    let operation = encrypt(1, b"c");
    assert_eq!(folder.run(&operation).unwrap(), (0, 9, 1));
    fs::remove_dir(folder.0.join("out/5.sealed")).unwrap();
    assert_eq!(folder.run(&operation).unwrap(), (9, 1, 0));
    assert_eq!(folder.run(&operation).unwrap(), (10, 0, 0));
    for (_, target) in folder.pairs() {
        operation.read_back(&target, Options::default()).unwrap();
    }
}

#[test]
fn another_key_or_context_does_not_continue_a_manifest() {
    let folder = Folder::new("key");
    folder.run(&encrypt(1, b"c")).unwrap();
    for other in [encrypt(2, b"c"), encrypt(1, b"other")] {
        let error = folder.run(&other).unwrap_err();
        assert!(matches!(&error, Error::KeyMismatch { manifest, .. } if manifest.ends_with("manifest")));
    }
    assert_eq!(folder.run(&encrypt(1, b"c")).unwrap(), (10, 0, 0));
}

#[test]
fn reading_back_finds_a_target_that_was_not_stored() {
    let folder = Folder::new("back");
    let (source, target) = &folder.pairs()[3];
    fs::create_dir(folder.0.join("out")).unwrap();
    let operation = encrypt(1, b"");
    operation.run(None, Replica::No, source, target, Options::default(), None).unwrap();
    let stored = fs::read(target).unwrap();
    fs::write(target, &stored[..stored.len() - 1]).unwrap();
    let result = operation.read_back(target, Options::default());
    assert!(matches!(result, Err(Error::DamagedChunk { index: 1, .. })), "{result:?}");
}

#[cfg(unix)]
#[test]
fn a_device_is_not_a_target() {
    let folder = Folder::new("device");
    let source = &folder.pairs()[0].0;
    let result =
        encrypt(1, b"").run(None, Replica::No, source, Path::new("/dev/null"), Options::default(), None);
    assert!(matches!(result, Err(Error::Io { path: Some(path), .. }) if path == Path::new("/dev/null")));
}

#[test]
fn batches_have_a_limited_number_of_files_and_bytes() {
    let folder = Folder::new("batches");
    let lens = [10, 5_000_000, 20, PARALLEL_FILE_LEN, 3_000_000, 3_000_000, 0, 0, 0];
    for (n, len) in lens.into_iter().enumerate() {
        fs::File::create(folder.0.join(n.to_string())).unwrap().set_len(len).unwrap();
    }
    let mut job = Job::pairs(folder.pairs(), folder.options()).unwrap();
    let mut go_on = |_: Vec<Event<'_>>| ControlFlow::Continue(());
    job.plan(None, &mut go_on).unwrap();
    assert_eq!(job.finished_target(), None);
    job.start(None, &mut go_on).unwrap();
    let batches: Vec<_> = std::iter::from_fn(|| job.next_batch()).collect();
    assert_eq!(batches, [vec![1], vec![3], vec![0, 2, 4], vec![5, 6, 7], vec![8, 9]]);
    let total = lens.iter().sum::<u64>() + 20_000;
    assert_eq!(job.progress(), (0, total));
    for (at, (_, target)) in folder.pairs().into_iter().enumerate() {
        // A target taken by another process is not listed.
        if at != 4 {
            fs::write(target, "").unwrap();
        }
        job.record(at, at != 7).unwrap();
    }
    assert_eq!(job.progress(), (total, total));
    let mut summary = None;
    job.finish(None, &mut |events| {
        summary =
            events.into_iter().find_map(|event| if let Event::Ended(one) = event { Some(one) } else { None });
        ControlFlow::Continue(())
    })
    .unwrap();
    let expected = Summary { done: 9, failed: 1, bytes: total, source_bytes: total, ..Summary::default() };
    assert_eq!(summary, Some(expected));
    drop(job);
    let mut job = Job::pairs(folder.pairs(), folder.options()).unwrap();
    job.plan(None, &mut go_on).unwrap();
    assert_eq!(
        job.files().iter().map(|file| &file.source).collect::<Vec<_>>(),
        [&folder.0.join("4"), &folder.0.join("7")]
    );
}

/// Files completed before the listener stops the job are in the manifest.
#[test]
fn a_listener_stops_a_job() {
    let folder = Folder::new("stop");
    let operation = encrypt(1, b"");
    let mut job =
        Job::pairs(folder.pairs(), JobOptions { batch: NonZeroUsize::new(1), ..folder.options() }).unwrap();
    let mut heard = 0;
    let result = job.run(&keys(&operation), &|| false, &mut |events| {
        heard += events.iter().filter(|event| matches!(event, Event::Done { .. })).count();
        if heard > 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(matches!(result.unwrap_err().error, Error::Cancelled));
    drop(job);
    let written = folder.pairs().iter().filter(|(_, target)| target.exists()).count();
    assert!(written >= heard && heard > 0);
    assert_eq!(folder.run(&operation).unwrap(), (written, 10 - written, 0));
}

#[test]
fn files_under_the_primary_key_are_skipped() {
    let folder = Folder::new("rotation");
    let key_type = "aes-256-gcm".parse().unwrap();
    let mut ring = Keyring::generate(key_type, Prefix::default_for(&key_type)).unwrap();
    let [old, new, foreign] = ["old", "new", "foreign"].map(|name| folder.0.join(name));
    let seal = |ring: &Keyring, path: &Path| {
        let with = EncryptWith::keyring(ring, b"context").unwrap();
        fs::write(path, files::encrypt(b"text", &with).unwrap()).unwrap();
    };
    seal(&ring, &old);
    ring.rotate().unwrap();
    seal(&ring, &new);
    fs::write(&foreign, "foreign").unwrap();
    let operation = Operation::Rotate(Rotation::new(&ring, b"context", &[]).unwrap());
    let inputs = vec![old.clone(), new, foreign.clone()];
    let mut job = Job::new(JobOptions { inputs, in_place: true, ..JobOptions::default() }).unwrap();
    let mut failed = Vec::new();
    let result = job.run(&keys(&operation), &|| false, &mut |events| {
        for event in events {
            if let Event::Failed { path, error, .. } = event {
                failed.push((path.to_owned(), error));
            }
        }
        ControlFlow::Continue(())
    });
    result.unwrap();
    assert!(matches!(&failed[..], [(path, Error::Truncated)] if *path == foreign), "{failed:?}");
    assert_eq!(job.files().iter().map(|file| &file.source).collect::<Vec<_>>(), [&old]);
    assert!(operation.is_current(&old).unwrap());
    operation.read_back(&old, Options::default()).unwrap();
    let with = DecryptWith::keyring(&ring, b"context").unwrap();
    assert!(!Operation::Verify(with.clone()).is_current(&old).unwrap());
    assert!(files::verify_file(&old, &with, Options::default()).is_ok());
}

/// Cases from the first implementation of jobs, in Python.
#[cfg(unix)]
#[test]
fn collisions_of_pairs_are_refused() {
    use std::os::unix::fs::symlink;

    let folder = Folder::new("collisions");
    let at = |path: &str| folder.0.join(path);
    fs::create_dir(at("plain")).unwrap();
    for name in ["a", "b", "c"] {
        fs::write(at("plain").join(name), name).unwrap();
    }
    symlink(at("plain"), at("link")).unwrap();
    symlink(at("plain/b"), at("to b")).unwrap();
    fs::hard_link(at("plain/b"), at("hard")).unwrap();
    symlink(at("plain/c"), at("notes")).unwrap();
    let check = |pairs: &[[&str; 2]], manifest: Option<&str>| {
        let pairs = pairs.iter().map(|pair| pair.map(|path| folder.0.join(path)).into()).collect();
        let options = JobOptions { manifest: manifest.map(at), ..JobOptions::default() };
        Job::pairs(pairs, options).err()
    };
    for pairs in [
        [["plain/a", "x"], ["plain/b", "x"]],
        [["plain/a", "x"], ["plain/b", "plain/../x"]],
        [["plain/a", "none/x"], ["plain/b", "none/../none/x"]],
        [["plain/a", "plain/x"], ["plain/b", "link/x"]],
        [["plain/a", "to b"], ["plain/c", "plain/b"]],
    ] {
        let found = check(&pairs, None);
        assert!(matches!(found, Some(Error::Misuse(Misuse::DuplicateTarget(_)))), "{pairs:?} {found:?}");
    }
    for pairs in [
        [["plain/a", "x"], ["plain/b", "plain/b"]],
        [["plain/a", "plain/b"], ["plain/b", "x"]],
        [["plain/a", "x"], ["x", "y"]],
        [["plain/a", "to b"], ["plain/b", "x"]],
        [["plain/a", "hard"], ["plain/b", "x"]],
        [["plain/a", "link/b"], ["plain/b", "x"]],
    ] {
        let found = check(&pairs, None);
        assert!(matches!(found, Some(Error::Misuse(Misuse::OutputIsInput { .. }))), "{pairs:?} {found:?}");
    }
    for (pair, manifest) in [
        (["plain/a", "new"], "new"),
        (["plain/a", "plain/c"], "notes"),
        (["new", "x"], "new"),
        (["plain/c", "x"], "notes"),
    ] {
        let found = check(&[pair], Some(manifest));
        assert!(matches!(found, Some(Error::Folder(FolderError::ManifestAmong(_)))), "{pair:?} {found:?}");
    }
    assert!(check(&[["plain/a", "x"], ["plain/b", "y"]], Some("new")).is_none());
    assert!(!at("new").exists() && !at("x").exists());
}

#[test]
fn a_manifest_below_an_input_is_an_error_or_left_out() {
    let folder = Folder::new("below");
    let manifest = folder.0.join("5");
    let options = |below| JobOptions {
        inputs: vec![folder.0.clone()],
        output: Some(folder.0.with_extension("out")),
        manifest: Some(manifest.clone()),
        manifest_below_inputs: below,
        ..JobOptions::default()
    };
    let refused = Job::new(options(false)).unwrap_err();
    assert!(matches!(refused, Error::Folder(FolderError::ManifestAmong(path)) if path == manifest));
    let job = Job::new(options(true)).unwrap();
    assert!(job.tree.pairs.len() == 9 && job.tree.pairs.iter().all(|(source, _)| *source != manifest));
    // As a target, it is always an error.
    let options = JobOptions { manifest: Some(folder.0.with_extension("out").join("7")), ..options(true) };
    fs::create_dir_all(folder.0.with_extension("out")).unwrap();
    let refused = Job::new(options).unwrap_err();
    fs::remove_dir_all(folder.0.with_extension("out")).unwrap();
    assert!(matches!(refused, Error::Folder(FolderError::ManifestAmong(_))));
}
