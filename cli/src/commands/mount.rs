//! `sealane mount`: a vault or an encrypted file as a file system, read only.

use crate::args::DecryptWith;
use crate::console;
use crate::keys::{self, Inputs};
use crate::prelude::*;
use crate::vault::{Place, Vaults};
use crate::{mount, signal, url};
use sealane::os::path_of;
use sealane::vault::{EntryKind, SingleFile, Vault, split};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixDatagram;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// Mount a vault or an encrypted file, read only
///
/// The files appear in the folder POINT, decrypted as they are read. A damaged part is an error of
/// the read, and a line in the log. Ends with 'umount POINT'.
#[derive(Args)]
#[command(after_help = "\
Examples:
  sealane mount -i me.key vault point
  sealane mount -k key.jwk --foreground disk.sealed point")]
pub(crate) struct Mount {
    #[command(flatten)]
    with: DecryptWith,
    /// Stay in the foreground until Ctrl-C or umount
    #[arg(short, long)]
    foreground: bool,
    /// In the background: append faults to FILE. Default: the log of the system
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "foreground")]
    log: Option<PathBuf>,
    /// The process in the background, which a process in the foreground waits for.
    #[arg(long, hide = true)]
    detach: bool,
    /// A vault, a folder in one, or an encrypted file
    #[arg(value_name = "VAULT")]
    input: PathBuf,
    /// Empty folder in which the files appear
    #[arg(value_name = "POINT", value_hint = ValueHint::DirPath)]
    point: PathBuf,
}

impl Run for Mount {
    fn run(&self, Context { console, .. }: &Context<'_>) -> Result<()> {
        if self.foreground || self.detach {
            return self.serve(console);
        }
        // Those of the process, which are others if a program in Python calls this command.
        let arguments: Vec<_> = std::env::args_os().skip(1).collect();
        if !arguments.iter().any(|argument| argument == "mount") {
            return Err(Failure::misuse(
                "only a process of its own can mount in the background; use --foreground",
            ));
        }
        let about = |e| Failure::io("the process in the background", &e);
        let program = std::env::current_exe().map_err(about)?;
        let mut command = Command::new(program);
        // Python finds its packages by this name, where the program is Python.
        if let Some(name) = std::env::args_os().next() {
            command.arg0(name);
        }
        let child = command.args(arguments).arg("--detach").stdout(Stdio::piped()).spawn();
        let mut child = child.map_err(about)?;
        // It asks for the passphrase and reports its errors itself. A byte says that it has
        // mounted.
        let ready = child.stdout.take().is_some_and(|mut out| out.read_exact(&mut [0]).is_ok());
        if !ready {
            let ended = child.wait().map_err(about)?;
            console.end_with(ended.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1));
        }
        Ok(())
    }
}

impl Mount {
    fn serve(&self, console: &Console) -> Result<()> {
        let point = empty_folder(&self.point)?;
        let log = self.log.as_ref().map(|path| File::options().create(true).append(true).open(path));
        let log = log.transpose().map_err(|e| Failure::io("--log", &e))?;
        let is_printed = self.foreground || log.is_some();
        let log_fault = if is_printed { |text: &str| console::announce(false, text) } else { log_to_system };
        let (vault, root, below): (Arc<dyn Vault>, _, _) =
            match Vaults::new(&self.with, console).find(&self.input)? {
                Some(place) if place.kind()? == EntryKind::File => {
                    let file = SingleFile::of(&*place.vault, &place.path).map_err(|e| place.about(e))?;
                    (Arc::new(file), place.root.join(path_of(split(&place.path).0)), Vec::new())
                }
                Some(Place { vault, root, path, .. }) => (vault, root, path),
                None => {
                    let inputs = Inputs::named(std::slice::from_ref(&self.input));
                    let with = keys::decrypt_with(&self.with, inputs, console)?;
                    let file = SingleFile::open(&self.input, &with);
                    let file = file.map_err(|e| Failure::about(&name(&self.input), e))?;
                    (Arc::new(file), self.input.parent().unwrap_or(Path::new("")).to_owned(), Vec::new())
                }
            };
        let root = match url::of(&root) {
            Some(_) => root,
            None => std::path::absolute(root.join(".")).unwrap_or(root),
        };
        let mount = mount::Mount { vault, root, below, log: log_fault };
        let (mut unmounter, thread) = mount.start(&point).map_err(|e| refused(&self.point, &e))?;
        if self.detach {
            detach(log.as_ref()).map_err(|e| Failure::io("the process in the background", &e))?;
        }
        while !thread.is_finished() && !signal::requested() {
            sleep(Duration::from_millis(50));
        }
        if unmounter.unmount().is_err() {
            // A file is still open. The place is free now; the file can be read until this
            // process ends.
            let _ = nix::mount::umount2(&point, nix::mount::MntFlags::MNT_DETACH);
        }
        Ok(())
    }
}

/// Returns the absolute path of an empty folder: a mount would hide files. The root of a file
/// system is refused too: when our mount ends, fuser 0.18 also unmounts the one below.
fn empty_folder(point: &Path) -> Result<PathBuf> {
    let found = || -> io::Result<_> {
        let folder = point.metadata()?;
        let problem = if !folder.is_dir() {
            Some("a file")
        } else if point.join("..").metadata()?.dev() != folder.dev() {
            Some("the root of a file system")
        } else {
            point.read_dir()?.next().map(|_| "files, which a mount would hide")
        };
        Ok((std::path::absolute(point)?, problem))
    };
    match found().map_err(|e| Failure::io(&name(point), &e))? {
        (point, None) => Ok(point),
        (_, Some(what)) => {
            Err(Failure::misuse(format!("{}: expected an empty folder, found {what}", name(point))))
        }
    }
}

/// Returns the failure for a mount that the system refuses.
fn refused(point: &Path, error: &io::Error) -> Failure {
    let advice = match error.kind() {
        ErrorKind::NotFound => "only root mounts without fusermount3; install the package fuse3",
        _ => "mounting needs /dev/fuse, and fusermount3 of the package fuse3 or root",
    };
    Failure::io(&name(point), error).and(advice)
}

/// Tells the process in the foreground that the mount is there, and leaves its terminal.
fn detach(log: Option<&File>) -> io::Result<()> {
    io::stdout().write_all(b"\n")?;
    io::stdout().flush()?;
    rustix::process::setsid()?;
    let null = File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(log.unwrap_or(&null))?;
    // So that no other file system is in use.
    std::env::set_current_dir("/")
}

/// Writes a line to the log of the system: as an error (3) of a user's program (1).
fn log_to_system(text: &str) {
    let line = format!("<{}>sealane[{}]: {}", 8 + 3, std::process::id(), console::escaped(text));
    // Without a log the reader still gets its error.
    let _ = UnixDatagram::unbound().and_then(|socket| socket.send_to(line.as_bytes(), "/dev/log"));
}
