//! Commands of an age plugin: whatever a plugin prints, wrapping and unwrapping a file key end
//! without a panic. Its stanzas are written to a header that parses, and it cannot make a file open
//! with another file key.

use sealane::Error;
use sealane::age::plugin::Interaction;
use sealane::age::{self, Armor, Header, Identity, Kind, Parsed, Plugins};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A plugin that prints the file beside it, and reads and forgets what it is sent.
const SCRIPT: &str = "#!/bin/sh\nexec 3<&0\ncat <&3 >/dev/null &\nexec cat \"$0.out\"\n";

/// A user that sees each message and responds to each question.
struct User;

impl Interaction for User {
    fn message(&self, _: &str, text: &str) -> Result<Option<()>, Error> {
        assert!(text.len() <= 4096);
        Ok(Some(()))
    }

    fn confirm(&self, _: &str, text: &str, yes: &str, no: Option<&str>) -> Result<Option<bool>, Error> {
        assert!(text.len() <= 4096);
        Ok(no.map(|no| yes.len() < no.len()))
    }
}

/// The folder of the plugin, which is removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new(output: &[u8]) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = format!("sealane-fuzz-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let folder = Self(std::env::temp_dir().join(name));
        let program = folder.0.join("age-plugin-fuzz");
        fs::create_dir(&folder.0).expect("a new folder");
        fs::write(&program, SCRIPT).expect("the program");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).expect("the program");
        }
        fs::write(program.with_extension("out"), output).expect("the output");
        folder
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn run(output: &[u8]) {
    let folder = Folder::new(output);
    let plugins = Plugins::new(Arc::new(User)).path(&folder.0).timeout(Duration::from_secs(5));
    let plugin = Identity::from_plugin("fuzz").expect("a name").with_plugins(&plugins);

    if let Ok(file) = age::seal(b"hello", &[plugin.recipient().with_plugins(&plugins)], Armor::Binary) {
        assert!(matches!(Header::parse(&file), Ok(Parsed::Ready(_))), "a header that we wrote");
    }
    let other = Identity::generate(Kind::X25519).expect("random bytes").recipient();
    let file = age::seal(b"hello", &[other], Armor::Binary).expect("a recipient");
    assert!(age::open(&file, &[plugin]).is_err(), "a file that is for another identity");
}
