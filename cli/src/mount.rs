//! A vault as a file system of Linux, read only, through `/dev/fuse`.
//!
//! The kernel sends requests, which several threads answer. Every name that it has asked for keeps
//! its number until the end. Folders and attributes are listed again after [`LIFETIME`].

use crate::prelude::*;
use fuser::{
    Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, LockOwner,
    MountOption, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen,
    ReplyStatfs, Request, Session,
};
use sealane::file::job::leads_out;
use sealane::vault::{Contents, Entry, EntryKind, Vault, join, list, split};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

/// How long the kernel and this process keep a list of names.
const LIFETIME: Duration = Duration::from_secs(1);

thread_local! {
    /// Plaintext of the request that this thread answers: new memory for each costs as much as to
    /// decrypt it.
    static PLAIN: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// What is mounted.
pub(crate) struct Mount {
    pub(crate) vault: Arc<dyn Vault>,
    /// The folder of the vault that is the top of the mount.
    pub(crate) below: Vec<u8>,
    /// Where the vault lies.
    pub(crate) root: PathBuf,
    /// Where faults are written.
    pub(crate) log: fn(&str),
}

struct Mounted {
    mount: Mount,
    state: Mutex<State>,
    began: SystemTime,
}

/// The entries of a folder, and when they were listed.
type Listed = (Instant, Arc<Vec<Entry>>);

#[derive(Default)]
struct State {
    /// Paths in the vault; the number of an inode is its index + 1.
    paths: Vec<Arc<[u8]>>,
    numbers: BTreeMap<Arc<[u8]>, u64>,
    listed: BTreeMap<Arc<[u8]>, Listed>,
    /// Stored paths that are not listed, each in the log already.
    reported: BTreeSet<Vec<u8>>,
    open: BTreeMap<u64, Open>,
    last_open: u64,
    /// Length and time of each file when it was opened last.
    versions: BTreeMap<u64, (u64, SystemTime)>,
}

#[derive(Clone)]
enum Open {
    File(Arc<dyn Contents>),
    Folder(Arc<Vec<Entry>>),
}

impl Mount {
    /// Mounts at `point` and answers on threads. Dropping the session unmounts.
    pub(crate) fn start(
        self,
        point: &Path,
    ) -> io::Result<(fuser::SessionUnmounter, JoinHandle<io::Result<()>>)> {
        let mut config = Config::default();
        config.mount_options = vec![
            MountOption::RO,
            MountOption::NoSuid,
            MountOption::NoDev,
            MountOption::FSName("sealane".into()),
            MountOption::DefaultPermissions,
        ];
        config.n_threads = std::thread::available_parallelism().map(|n| n.get().min(8)).ok();
        config.clone_fd = true;
        let top: Arc<[u8]> = self.below.clone().into();
        let state = State { paths: vec![top.clone()], numbers: [(top, 1)].into(), ..State::default() };
        let mounted = Mounted { mount: self, state: Mutex::new(state), began: SystemTime::now() };
        let mut session = Session::new(mounted, point, &config)?;
        let unmounter = session.unmount_callable();
        Ok((unmounter, Builder::new().name("sealane".into()).spawn(|| session.run())?))
    }
}

impl Mounted {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn path(&self, number: INodeNo) -> Result<Arc<[u8]>, Errno> {
        self.state().paths.get(number.0 as usize - 1).cloned().ok_or(Errno::ENOENT)
    }

    /// Writes a fault to the log. A name that is not there is none.
    fn fault(&self, path: &[u8], error: Error) -> Errno {
        match error {
            Error::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => Errno::ENOENT,
            error => {
                self.report(path, error);
                Errno::EIO
            }
        }
    }

    fn report(&self, path: &[u8], error: Error) {
        let path = self.mount.root.join(OsStr::from_bytes(path));
        (self.mount.log)(Failure::about(&name(&path), error).text());
    }

    fn list(&self, path: &Arc<[u8]>) -> Result<Arc<Vec<Entry>>, Errno> {
        if let Some((at, entries)) = self.state().listed.get(path)
            && at.elapsed() < LIFETIME
        {
            return Ok(entries.clone());
        }
        let found = list(&*self.mount.vault, path).map_err(|error| self.fault(path, error))?;
        let entries = Arc::new(found.entries);
        let mut state = self.state();
        state.listed.retain(|_, (at, _)| at.elapsed() < LIFETIME);
        state.listed.insert(path.clone(), (Instant::now(), entries.clone()));
        let mut is_new = |(path, _): &(Vec<u8>, Error)| state.reported.insert(path.clone());
        let problems: Vec<_> = found.problems.into_iter().filter(&mut is_new).collect();
        drop(state);
        for (path, error) in problems {
            self.report(&path, error);
        }
        Ok(entries)
    }

    /// Refuses a link out of the mount: the system would follow it to an unverified file.
    fn checked_link(&self, path: &[u8], text: Vec<u8>) -> Result<Vec<u8>, Error> {
        let below = &path[self.mount.below.len()..];
        let place = Path::new(OsStr::from_bytes(below.strip_prefix(b"/").unwrap_or(below)));
        match leads_out(place, Path::new(OsStr::from_bytes(&text))) {
            true => Err(Error::Format("the link leads out of the mount, where nothing is verified")),
            false => Ok(text),
        }
    }

    fn attributes(&self, path: &[u8]) -> Result<FileAttr, Errno> {
        let (mut kind, mut size, mut time) = (FileType::Directory, 0, self.began);
        if *path != *self.mount.below {
            let (folder, name) = split(path);
            let entries = self.list(&folder.into())?;
            let at = entries.binary_search_by(|entry| (*entry.name).cmp(name));
            // The dropped value says where the name would be.
            let at = at.map_err(|_| Errno::ENOENT)?;
            let entry = &entries[at];
            (kind, size, time) = (type_of(entry.kind), entry.len, entry.modified.unwrap_or(self.began));
        }
        // For the user who mounts. No right to write matters, because the file system is read only.
        let perm = if kind == FileType::RegularFile { 0o600 } else { 0o700 };
        Ok(FileAttr {
            ino: INodeNo(self.number(path)),
            size,
            blocks: size.div_ceil(512),
            atime: time,
            mtime: time,
            ctime: time,
            crtime: time,
            kind,
            perm,
            nlink: 1,
            uid: rustix::process::getuid().as_raw(),
            gid: rustix::process::getgid().as_raw(),
            rdev: 0,
            blksize: 1 << 17,
            flags: 0,
        })
    }

    fn number(&self, path: &[u8]) -> u64 {
        let mut state = self.state();
        if let Some(number) = state.numbers.get(path) {
            return *number;
        }
        let path: Arc<[u8]> = path.into();
        state.paths.push(path.clone());
        let number = state.paths.len() as u64;
        state.numbers.insert(path, number);
        number
    }

    fn keep(&self, open: Open) -> FileHandle {
        let mut state = self.state();
        state.last_open += 1;
        let handle = state.last_open;
        state.open.insert(handle, open);
        FileHandle(handle)
    }

    fn opened(&self, handle: FileHandle) -> Option<Open> {
        self.state().open.get(&handle.0).cloned()
    }
}

fn type_of(kind: EntryKind) -> FileType {
    match kind {
        EntryKind::File => FileType::RegularFile,
        EntryKind::Folder => FileType::Directory,
        EntryKind::Link => FileType::Symlink,
        EntryKind::Special => FileType::NamedPipe,
    }
}

impl Filesystem for Mounted {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let path = self.path(parent).map(|folder| join(&folder, name.as_bytes()));
        match path.and_then(|path| self.attributes(&path)) {
            Ok(found) => reply.entry(&LIFETIME, &found, Generation(0)),
            Err(error) => reply.error(error),
        }
    }

    fn getattr(&self, _: &Request, number: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.path(number).and_then(|path| self.attributes(&path)) {
            Ok(found) => reply.attr(&LIFETIME, &found),
            Err(error) => reply.error(error),
        }
    }

    fn readlink(&self, _: &Request, number: INodeNo, reply: ReplyData) {
        let text = self.path(number).and_then(|path| {
            let text = self.mount.vault.read_link(&path);
            let checked = text.and_then(|text| self.checked_link(&path, text));
            checked.map_err(|error| self.fault(&path, error))
        });
        match text {
            Ok(text) => reply.data(&text),
            Err(error) => reply.error(error),
        }
    }

    fn open(&self, _: &Request, number: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let opened = self.path(number).and_then(|path| {
            let contents = self.mount.vault.open(&path).map_err(|error| self.fault(&path, error))?;
            let found = self.attributes(&path)?;
            let version = (found.size, found.mtime);
            let is_same = self.state().versions.insert(number.0, version) == Some(version);
            // What the kernel keeps of the same version was verified.
            let flags = if is_same { FopenFlags::FOPEN_KEEP_CACHE } else { FopenFlags::empty() };
            Ok((contents, flags))
        });
        match opened {
            Ok((file, flags)) => reply.opened(self.keep(Open::File(file.into())), flags),
            Err(error) => reply.error(error),
        }
    }

    fn read(
        &self,
        _: &Request,
        number: INodeNo,
        handle: FileHandle,
        offset: u64,
        len: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let Some(Open::File(file)) = self.opened(handle) else { return reply.error(Errno::EBADF) };
        let rest = usize::try_from(file.size().saturating_sub(offset)).unwrap_or(usize::MAX);
        let len = rest.min(len as usize);
        PLAIN.with_borrow_mut(|plain| {
            plain.resize(plain.len().max(len), 0);
            let plain = &mut plain[..len];
            match file.read_at(offset, plain) {
                Ok(n) => reply.data(&plain[..n]),
                Err(error) => {
                    reply.error(self.path(number).map_or_else(|e| e, |path| self.fault(&path, error)));
                }
            }
            sealane::wipe(plain);
        });
    }

    fn release(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        self.state().open.remove(&handle.0);
        reply.ok();
    }

    fn opendir(&self, _: &Request, number: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        match self.path(number).and_then(|path| self.list(&path)) {
            Ok(entries) => reply.opened(self.keep(Open::Folder(entries)), FopenFlags::empty()),
            Err(error) => reply.error(error),
        }
    }

    fn readdir(
        &self,
        _: &Request,
        number: INodeNo,
        handle: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let (Some(Open::Folder(entries)), Ok(path)) = (self.opened(handle), self.path(number)) else {
            return reply.error(Errno::EBADF);
        };
        let dots = [".", ".."].map(|name| (number.0, FileType::Directory, name.as_bytes()));
        let entries = entries.iter().map(|entry| (0, type_of(entry.kind), &*entry.name));
        for (at, (number, kind, name)) in dots.into_iter().chain(entries).enumerate().skip(offset as usize) {
            let number = if number == 0 { self.number(&join(&path, name)) } else { number };
            if reply.add(INodeNo(number), at as u64 + 1, kind, OsStr::from_bytes(name)) {
                break;
            }
        }
        reply.ok();
    }

    fn releasedir(&self, _: &Request, _: INodeNo, handle: FileHandle, _: OpenFlags, reply: ReplyEmpty) {
        self.state().open.remove(&handle.0);
        reply.ok();
    }

    /// What `df` shows: the disk that the vault lies on.
    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        match rustix::fs::statvfs(&self.mount.root) {
            Ok(disk) => reply.statfs(
                disk.f_blocks,
                disk.f_bfree,
                disk.f_bavail,
                disk.f_files,
                disk.f_ffree,
                disk.f_bsize as u32,
                disk.f_namemax as u32,
                disk.f_frsize as u32,
            ),
            // A store has no disk.
            Err(_) => reply.statfs(0, 0, 0, 0, 0, 4096, 255, 4096),
        }
    }
}
