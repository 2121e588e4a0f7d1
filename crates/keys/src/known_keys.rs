//! The user's file of known keys: the fingerprints of keys that were opened without one, as ssh
//! remembers hosts in `known_hosts`.
//!
//! The first open of a key trusts it and adds a line; a later open compares. The file is
//! `$XDG_STATE_HOME/sealane/known_keys`, by default `~/.local/state/sealane/known_keys`, or
//! `$SEALANE_KNOWN_KEYS`:
//!
//! ```text
//! # comment
//! key-sha256:4f0c… age:s3://bucket/sales.key.age
//! ```
//!
//! The rest of a line is the place of the key, with `%` and control characters percent-encoded. A
//! path that leads elsewhere by links or `..` has a line of its own and one for what it leads to.

use super::Existing;
use super::fingerprint::Fingerprint;
use super::store;
use base::{Error, Result, interrupt};
use engine::folder::private_folders;
use engine::io::open_regular;
use engine::place::parent;
use std::env;
use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Names the file of known keys.
const VARIABLE: &str = "SEALANE_KNOWN_KEYS";
/// About 20,000 keys.
const MAX_LEN: u64 = 4 << 20;
/// How often a lock is tried, every 20 ms: 10 seconds.
const TRIES: usize = 500;

static WARNED: AtomicBool = AtomicBool::new(false);

/// Checks that a key is the expected one: the one with the fingerprint of its reference, or else
/// the one that was found at this place before. A new place is remembered.
///
/// Returns a warning for the user if neither is possible, once per process.
///
/// # Errors
/// Returns [`Error::OtherKey`] for another key; and if the file of known keys cannot be trusted,
/// [`Error::Io`], and [`Error::LimitExceeded`] if it is too long.
pub fn check_key(place: &str, expected: Option<&Fingerprint>, found: &Fingerprint) -> Result<Option<String>> {
    let Some(expected) = expected else { return check_known(place, found) };
    if expected == found {
        return Ok(None);
    }
    let advice = "it was replaced, so nothing was read or written. If its owner replaced it, ask them for the new \
                  reference; else restore the key";
    Err(other(place, &expected.to_string(), found, advice.into()))
}

/// Remembers a key that this user made, in place of an earlier one. If that fails, the user still
/// has the reference that pins the key, and the first use without it reports the reason.
pub fn remember_key(place: &str, key: &Fingerprint) {
    let _ = update(|lines| {
        for place in with_aliases(lines, place) {
            let line = line_of(&place, key);
            lines.retain(|known| !is_of(known, &place) || *known == line);
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    });
}

/// Accepts a key that this user is about to write beside the known one, so that the place opens
/// wherever the call stops. [`remember_key`] then forgets the earlier key.
///
/// # Errors
/// Returns [`Error::Io`] if the file knows another key for the place and cannot be written: the
/// new key would be refused.
pub fn accept_key(place: &str, key: &Fingerprint) -> Result<()> {
    let accepted = update(|lines| {
        for place in with_aliases(lines, place) {
            let line = line_of(&place, key);
            // An unknown place trusts its first key anyway.
            if lines.iter().any(|known| is_of(known, &place)) && !lines.contains(&line) {
                lines.push(line);
            }
        }
    });
    accepted.or_else(|error| if is_known(place) { Err(error) } else { Ok(()) })
}

/// Forgets the earlier keys of a place that now has the accepted one: a call stopped after writing
/// it. Errors as for [`remember_key`].
pub fn forget_earlier_keys(place: &str, key: &Fingerprint) {
    let _ = update(|lines| {
        for place in spellings(place) {
            let line = line_of(&place, key);
            if lines.iter().rfind(|known| is_of(known, &place)) == Some(&line) {
                lines.retain(|known| !is_of(known, &place) || *known == line);
            }
        }
    });
}

/// Returns whether a key of this place is known.
pub(super) fn is_known(place: &str) -> bool {
    let known = location().ok().and_then(|path| KnownKeys::read(path).ok());
    let places = spellings(place);
    known.is_some_and(|known| known.lines.iter().any(|line| places.iter().any(|it| is_of(line, it))))
}

/// Changes the lines of the file.
fn update(change: impl Fn(&mut Vec<String>)) -> Result<()> {
    // A user without a file of known keys remembers none.
    let Ok(path) = location() else { return Ok(()) };
    let known = KnownKeys::read(path)?;
    let mut new = known.lines.clone();
    change(&mut new);
    if new == known.lines {
        return Ok(());
    }
    make_folder(&known.path)?;
    let _lock = lock(&known.path)?;
    let mut known = KnownKeys::read(known.path)?;
    change(&mut known.lines);
    known.write()
}

/// Returns the file of known keys and the number of the line in it that has a key at `path`, as
/// this user's jobs have remembered it, unless its place begins with `except`. A file that cannot
/// be read knows nothing.
pub fn known_line(path: &Path, except: Option<&str>) -> Option<(PathBuf, usize)> {
    let asked = asked(location().ok()?, &escaped(&path.file_name()?.to_string_lossy()))?;
    if asked.lines.is_empty() {
        return None;
    }
    let paths = spellings(&std::path::absolute(path).ok()?.to_string_lossy());
    let is_at = |(_, place): &&(usize, String)| {
        let mut schemes = paths.iter().filter_map(|path| place.strip_suffix(escaped(path).as_str()));
        schemes.any(|it| Some(it) != except && (it == "key:" || it == "age:" || it.ends_with('#')))
    };
    asked.lines.iter().find(is_at).map(|(at, _)| (asked.known.clone(), *at))
}

/// The places in the file of known keys that end with a name, with the numbers of their lines.
struct Asked {
    file: PathBuf,
    found: Option<private::Stamp>,
    name: String,
    known: PathBuf,
    lines: Vec<(usize, String)>,
}

/// Returns the places with this name; `None` if there is no file, or none that can be read. Opening
/// a key reports why.
///
/// Each job on a single file asks, and parsing a thousand lines takes longer than a small file.
fn asked(file: PathBuf, name: &str) -> Option<Arc<Asked>> {
    static LAST: Mutex<Option<Arc<Asked>>> = Mutex::new(None);
    let found = private::stamp(&fs::symlink_metadata(&file).ok()?);
    // Never waits: in a forked child, a thread that does not exist there may hold the lock.
    let last = || LAST.try_lock().ok()?.clone();
    let is_same =
        |it: &Arc<Asked>| found.is_some() && (&it.file, &it.found, &*it.name) == (&file, &found, name);
    if let Some(last) = last().filter(is_same) {
        return Some(last);
    }
    let (known, text) = KnownKeys::text(file.clone()).ok()?;
    let known = KnownKeys::parse(known, &text).ok()?;
    let places = known.lines.iter().map(|line| line.split_once(' ').map_or("", |(_, place)| place));
    let named = (1..).zip(places).filter(|(_, place)| place.ends_with(name));
    let lines = named.map(|(at, place)| (at, place.to_owned())).collect();
    let asked = Arc::new(Asked { file, found, name: name.to_owned(), known: known.path, lines });
    if let Ok(mut last) = LAST.try_lock() {
        *last = Some(asked.clone());
    }
    Some(asked)
}

/// Checks that a key of this user is the one that was found at this place before, if any. It is not
/// remembered.
///
/// Otherwise an attacker who can write there could replace an encrypted key with a plain one.
///
/// # Errors
/// Returns the errors of [`check_key`].
pub(super) fn check_own_key(place: &str, found: &Fingerprint) -> Result<()> {
    let Ok(path) = location() else { return Ok(()) };
    match KnownKeys::read(path) {
        Err(Error::Io { source, .. }) if is_read_only(&source) => Ok(()),
        known => replaced(&known?, place, found).map_or(Ok(()), Err),
    }
}

fn check_known(place: &str, found: &Fingerprint) -> Result<Option<String>> {
    let (mut other, mut is_known) = (None, false);
    let look = |known: &mut KnownKeys| {
        other = replaced(known, place, found);
        is_known = spellings(place).iter().any(|place| known.lines.contains(&line_of(place, found)));
    };
    let why = match location() {
        Ok(path) => match add(path, place, found, look) {
            Err(Error::Io { source, .. }) if is_known && is_read_only(&source) => return Ok(None),
            Err(Error::Io { path, source }) if is_read_only(&source) => {
                format!("{}: {source}", path.unwrap_or_default().display())
            }
            added => {
                added?;
                return other.map_or(Ok(None), Err);
            }
        },
        Err(why) => why,
    };
    Ok((!WARNED.swap(true, Ordering::Relaxed)).then(|| {
        format!(
            "{place}: nothing shows that this is the right key, so anyone who can write to its storage can replace it, \
             forge data, and read what you write. Name a file that you can write in SEALANE_KNOWN_KEYS, or give the \
             reference with its fingerprint, …#{found}. (No key is remembered on this machine: {why})"
        )
    }))
}

/// Returns the error for a place that is known for another key only, in one of its spellings.
fn replaced(known: &KnownKeys, place: &str, found: &Fingerprint) -> Option<Error> {
    let (at, line) = spellings(place).iter().find_map(|place| {
        let of_place = || known.lines.iter().enumerate().filter(|(_, line)| is_of(line, place));
        let is_found = of_place().any(|(_, line)| *line == line_of(place, found));
        of_place().next().filter(|_| !is_found)
    })?;
    let expected = line.split(' ').next().unwrap_or_default();
    let advice = format!(
        "it was replaced since this user first opened it ({}, line {}), so nothing was read or written. If its owner \
         replaced it, remove this line; a new reference with its fingerprint works too. Else restore the key",
        known.path.display(),
        at + 1
    );
    Some(other(place, expected, found, advice))
}

fn other(place: &str, expected: &str, found: &Fingerprint, advice: String) -> Error {
    Error::OtherKey { name: place.into(), expected: expected.into(), found: found.to_string(), advice }
}

/// Adds the key to the file, unless it is there or `look` sees another one for its place.
fn add(path: PathBuf, place: &str, key: &Fingerprint, mut change: impl FnMut(&mut KnownKeys)) -> Result<()> {
    let places = spellings(place);
    let missing = |known: &KnownKeys| -> Vec<_> {
        let is_missing = |place: &&String| !known.lines.iter().any(|line| is_of(line, place));
        places.iter().filter(is_missing).map(|place| line_of(place, key)).collect()
    };
    let mut is_done = |known: &mut KnownKeys| {
        change(known);
        replaced(known, place, key).is_some() || missing(known).is_empty()
    };
    // The common case needs no lock, because the file is replaced as a whole.
    let mut known = KnownKeys::read(path)?;
    if is_done(&mut known) {
        return Ok(());
    }
    make_folder(&known.path)?;
    let _lock = lock(&known.path)?;
    let mut known = KnownKeys::read(known.path)?;
    if !is_done(&mut known) {
        let lines = missing(&known);
        known.lines.extend(lines);
        known.write()?;
    }
    Ok(())
}

fn is_read_only(error: &io::Error) -> bool {
    use ErrorKind::{AlreadyExists, NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem};
    // The first two are for folders below /dev/null, the home of some services. A refusal of ours
    // has no number.
    let kinds = [AlreadyExists, NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem];
    error.raw_os_error().is_some() && kinds.contains(&error.kind())
}

fn is_of(line: &str, place: &str) -> bool {
    line.split_once(' ').is_some_and(|(_, found)| found == escaped(place))
}

fn line_of(place: &str, key: &Fingerprint) -> String {
    format!("{key} {}", escaped(place))
}

/// Returns the place, and the one that its path leads to by links and `..`. Each is compared: who
/// can write there can also make the path lead elsewhere.
fn spellings(place: &str) -> Vec<String> {
    let is_named = place.starts_with("age:") || place.starts_with("key:");
    let at = if is_named { 4 } else { place.find('#').map_or(0, |at| at + 1) };
    let (scheme, path) = place.split_at(at);
    let path = Path::new(path);
    // A new file, or one that is gone, has only a folder.
    let in_folder = || Some(fs::canonicalize(path.parent()?).ok()?.join(path.file_name()?));
    let real = path.is_absolute().then(|| fs::canonicalize(path).ok().or_else(in_folder)).flatten();
    let real = real.map(|real| format!("{scheme}{}", real.display())).filter(|real| real != place);
    [Some(place.to_owned()), real].into_iter().flatten().collect()
}

/// Returns the spellings of a place, and the other places with its key that lead to it by links.
fn with_aliases(lines: &[String], place: &str) -> Vec<String> {
    let mut places = spellings(place);
    let Some(real) = places.last().cloned() else { return places };
    let is_here = |line: &&String| places.iter().any(|place| is_of(line, place));
    let keys: Vec<_> = lines.iter().filter(is_here).filter_map(|line| line.split(' ').next()).collect();
    let of_key = lines.iter().filter_map(|line| line.split_once(' ')).filter(|(key, _)| keys.contains(key));
    // A name with control characters stays as it is.
    let others = of_key.map(|(_, place)| place.replace("%25", "%"));
    let found: Vec<_> = others.filter(|other| spellings(other).contains(&real)).collect();
    places.extend(found);
    places
}

fn escaped(place: &str) -> String {
    let shown = |c: char| match c == '%' || c.is_control() {
        true => format!("%{:02X}", u32::from(c)),
        false => c.into(),
    };
    place.chars().map(shown).collect()
}

/// The content of the file.
struct KnownKeys {
    path: PathBuf,
    lines: Vec<String>,
}

impl KnownKeys {
    /// Reads the file; one that does not exist has no lines.
    fn read(path: PathBuf) -> Result<Self> {
        let (path, text) = Self::text(path)?;
        Self::parse(path, &text)
    }

    /// Returns the path and text of the file. A link of this user is followed.
    fn text(path: PathBuf) -> Result<(PathBuf, String)> {
        let about = |error| Error::io(&path, error);
        let found = match fs::symlink_metadata(&path) {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Ok((path, String::new()));
            }
            found => found.map_err(about)?,
        };
        if found.is_symlink() {
            private::check(&path, &found, 0)?;
            let target = fs::canonicalize(&path).map_err(about)?;
            return Self::text(target);
        }
        check_folder(parent(&path))?;
        let file = open_regular(&path)?;
        private::check(&path, &file.metadata().map_err(about)?, 0o077)?;
        let mut content = Vec::new();
        file.take(MAX_LEN + 1).read_to_end(&mut content).map_err(about)?;
        check_len(content.len())?;
        // The position of the first invalid byte does not help.
        let text = String::from_utf8(content).map_err(|_| {
            let text = "expected known keys in UTF-8, found other bytes; mend or remove this file";
            about(io::Error::new(ErrorKind::InvalidData, text))
        })?;
        Ok((path, text))
    }

    fn parse(path: PathBuf, text: &str) -> Result<Self> {
        let lines: Vec<_> = text.lines().map(str::to_owned).collect();
        for (at, line) in lines.iter().enumerate() {
            // No place begins with a space: this line would pin nothing.
            let found = line.split_once(' ').filter(|(_, place)| !place.starts_with(' '));
            let key = found.map(|(key, _)| key.parse::<Fingerprint>());
            if !line.is_empty() && !line.starts_with('#') && !matches!(key, Some(Ok(_))) {
                let text = format!(
                    "line {}: expected key-sha256:… and a place, found other text; mend or remove this line",
                    at + 1
                );
                return Err(Error::io(&path, io::Error::new(ErrorKind::InvalidData, text)));
            }
        }
        Ok(Self { path, lines })
    }

    fn write(&self) -> Result<()> {
        let text = self.lines.join("\n") + "\n";
        check_len(text.len())?;
        store::save_secret(&self.path, &text, Existing::Replace)
    }
}

fn check_len(len: usize) -> Result<()> {
    match len as u64 > MAX_LEN {
        true => Err(Error::LimitExceeded(
            "the file of known keys has more than 4 MiB; remove the lines of keys that you no longer use",
        )),
        false => Ok(()),
    }
}

/// Returns the path of the file, or why this user has none.
fn location() -> Result<PathBuf, String> {
    if let Some(path) = variable(VARIABLE) {
        return Ok(path.into());
    }
    Ok(state_folder()?.join("known_keys"))
}

/// Returns the folder for what this user's programs remember.
///
/// # Errors
/// Returns why this user has none.
pub fn state_folder() -> Result<PathBuf, String> {
    // The specification of the XDG folders says to ignore relative paths.
    let state = variable("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    Ok(state.map_or_else(private::state_folder, Ok)?.join("sealane"))
}

fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

fn make_folder(path: &Path) -> Result<()> {
    let folder = parent(path);
    private_folders().recursive(true).create(folder).map_err(|e| Error::io(folder, e))?;
    check_folder(folder)
}

fn check_folder(folder: &Path) -> Result<()> {
    private::check(folder, &fs::metadata(folder).map_err(|e| Error::io(folder, e))?, 0o022)
}

/// Locks the file, so that no process loses a line of another. The lock has a file
/// of its own, because the file is replaced.
fn lock(path: &Path) -> Result<File> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let path = Path::new(&name);
    let mut options = File::options();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600).custom_flags(rustix::fs::OFlags::NOFOLLOW.bits() as i32);
    }
    let file = options.open(path).map_err(|e| Error::io(path, e))?;
    for _ in 0..TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => {
                interrupt::check()?;
                thread::sleep(Duration::from_millis(20));
            }
            Err(TryLockError::Error(error)) => return Err(Error::io(path, error)),
        }
    }
    let text = "another process holds the lock of the known keys for 10 seconds; end it, then try again";
    Err(Error::io(path, io::Error::new(ErrorKind::TimedOut, text)))
}

#[cfg(unix)]
mod private {
    use super::{Error, ErrorKind, Path, PathBuf, Result, fs, io, variable};
    use std::os::unix::fs::MetadataExt;
    use std::sync::OnceLock;

    /// Checks that no other user owns the file, or has one of the rights.
    pub(super) fn check(path: &Path, found: &fs::Metadata, rights: u32) -> Result<()> {
        let text = if found.uid() != rustix::process::geteuid().as_raw() {
            "another user owns it; name a file of your own in SEALANE_KNOWN_KEYS".to_owned()
        } else if found.mode() & rights != 0 {
            format!(
                "others have access (mode {:o}); check the keys, then run 'chmod go='",
                found.mode() & 0o7777
            )
        } else {
            return Ok(());
        };
        let text = format!("the known keys cannot be believed: {text}");
        Err(Error::io(path, io::Error::new(ErrorKind::PermissionDenied, text)))
    }

    /// What changes whenever a file is written or replaced.
    pub(super) type Stamp = (u64, u64, u64, i64, i64);

    /// Returns the stamp of a file; `None` for a link, which does not show when its target changes.
    pub(super) fn stamp(found: &fs::Metadata) -> Option<Stamp> {
        let stamp = (found.dev(), found.ino(), found.size(), found.ctime(), found.ctime_nsec());
        (!found.is_symlink()).then_some(stamp)
    }

    /// Returns `~/.local/state`. The home must be this user's: `sudo` may keep HOME.
    pub(super) fn state_folder() -> Result<PathBuf, String> {
        /// The first home that was checked: each job on a single file asks.
        static OWN: OnceLock<PathBuf> = OnceLock::new();
        let home = PathBuf::from(variable("HOME").ok_or("HOME is not set")?);
        if OWN.get() != Some(&home) {
            let found = fs::metadata(&home).map_err(|error| format!("{}: {error}", home.display()))?;
            if found.uid() != rustix::process::geteuid().as_raw() {
                return Err(format!("{}: another user owns this home", home.display()));
            }
            let _ = OWN.set(home.clone());
        }
        Ok(home.join(".local").join("state"))
    }
}

/// On Windows, the folder's access list protects the file.
#[cfg(not(unix))]
mod private {
    use super::{Path, PathBuf, Result, fs, variable};

    pub(super) fn check(_: &Path, _: &fs::Metadata, _: u32) -> Result<()> {
        Ok(())
    }

    pub(super) type Stamp = ();

    pub(super) fn stamp(_: &fs::Metadata) -> Option<Stamp> {
        None
    }

    pub(super) fn state_folder() -> Result<PathBuf, String> {
        variable("LOCALAPPDATA").map(PathBuf::from).ok_or_else(|| "LOCALAPPDATA is not set".into())
    }
}

#[cfg(test)]
#[cfg(unix)]
mod test {
    use super::*;
    use messages::Key;
    use std::os::unix::fs::PermissionsExt;

    fn key(byte: u8) -> Fingerprint {
        Fingerprint::of_key(&Key::from_bytes(&[byte; 32])).unwrap()
    }

    // claim: dataset-key-known
    #[test]
    fn lines_are_added_once_and_kept() {
        let folder = env::temp_dir().join(format!("sealane-known-keys-{}", std::process::id()));
        let path = folder.join("state").join("keys");
        let keep = |_: &mut KnownKeys| {};
        for place in ["age:/a b", "age:/a b", "age:/a\nkey-sha256:00 x", "age:/100%", "age:/a"] {
            add(path.clone(), place, &key(1), keep).unwrap();
            // Another key for the same place.
            add(path.clone(), place, &key(2), keep).unwrap();
        }
        let one = key(1);
        let expected =
            ["a b", "a%0Akey-sha256:00 x", "100%25", "a"].map(|place| format!("{one} age:/{place}\n"));
        assert_eq!(fs::read_to_string(&path).unwrap(), expected.concat());
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(path.parent().unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o700);
        add(path.clone(), "age:/a", &key(2), |known| known.lines.retain(|line| !is_of(line, "age:/a")))
            .unwrap();
        assert!(fs::read_to_string(&path).unwrap().ends_with(&format!("\n{} age:/a\n", key(2))));
        // Another way to a known file.
        let at = |name: &str| format!("age:{}", folder.join(name).display());
        std::os::unix::fs::symlink("state", folder.join("link")).unwrap();
        add(path.clone(), &at("link/x"), &key(1), keep).unwrap();
        for place in ["link/x", "state/x", "link/../state/x", "state/../link/x"] {
            let known = KnownKeys::read(path.clone()).unwrap();
            assert!(replaced(&known, &at(place), &key(1)).is_none(), "{place}");
            assert!(replaced(&known, &at(place), &key(2)).is_some(), "{place}");
        }
        // A link that now leads elsewhere.
        fs::create_dir(folder.join("other")).unwrap();
        fs::remove_file(folder.join("link")).unwrap();
        std::os::unix::fs::symlink("other", folder.join("link")).unwrap();
        let known = KnownKeys::read(path.clone()).unwrap();
        assert!(replaced(&known, &at("link/x"), &key(2)).is_some());
        // A second space would belong to the place, and the line would pin no key.
        fs::write(&path, format!("{one}  age:/a\n")).unwrap();
        assert!(matches!(KnownKeys::read(path), Err(Error::Io { .. })));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn an_answer_follows_the_file() {
        let folder = env::temp_dir().join(format!("sealane-asked-{}", std::process::id()));
        make_folder(&folder.join("keys")).unwrap();
        let path = folder.join("keys");
        let lines = || asked(path.clone(), "/.sealane").map(|it| it.lines.clone());
        assert_eq!(lines(), None);
        for place in ["key:/a/.sealane", "key:/b/.sealane"] {
            let text = format!("{0} key:/x\n{0} {place}\n", key(1));
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            for _ in 0..2 {
                assert_eq!(lines(), Some(vec![(2, place.to_owned())]));
            }
            // Longer than the file system's times are apart.
            thread::sleep(Duration::from_millis(20));
        }
        fs::remove_dir_all(folder).unwrap();
        assert_eq!(lines(), None);
    }
}
