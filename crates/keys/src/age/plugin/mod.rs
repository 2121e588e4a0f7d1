//! Plugins of age: programs that wrap and unwrap file keys, for example with a hardware key
//! (c2sp.org/age-plugin).
//!
//! ```text
//! recipient = Bech32: age1NAME1…             identity = Bech32: AGE-PLUGIN-NAME-1…
//! program   = age-plugin-NAME --age-plugin=STATE_MACHINE    in a folder of PATH
//!
//! recipient-v1   us: add-recipient or add-identity …, wrap-file-key, extension-labels, done
//!                plugin: recipient-stanza …, labels, done
//! identity-v1    us: add-identity …, recipient-stanza …, done
//!                plugin: file-key, done
//! ```
//!
//! Both sides write stanzas, encoded as in age headers. In its phase, the plugin may also send
//! `msg`, `confirm`, `request-public`, `request-secret` and `error`; each of its commands gets a
//! response. One process serves all recipients, or all identities, of a plugin for one file.
//!
//! A plugin is a program with all rights of this process. [`Plugins`] permits plugins to run, and
//! connects them to the user. We trust a plugin no further: the lengths and number of its commands
//! and its time are limited, and the file key that it returns must match the MAC of the header.

#[cfg_attr(not(unix), allow(dead_code, reason = "no plugin is started"))]
mod command;
mod conversation;
#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod process;
#[cfg(unix)]
mod program;
mod unwrap;
mod wrap;

pub(super) use unwrap::unwrap;
pub(super) use wrap::wrap;

use super::text::{self, Case};
use crate::prelude::*;
use base::error::{PluginError, PluginProblem};
#[cfg(not(unix))]
use other as process;
use std::ffi::OsString;
use std::time::Duration;

/// Default time that a plugin may be silent, for example while it waits for the touch of a hardware
/// key.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);

/// Human-readable parts of the Bech32 encodings.
const RECIPIENT: &str = "age1";
const IDENTITY: &str = "AGE-PLUGIN-";

/// The kind of input that a plugin asks for: may it be shown?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Input {
    /// Text that may be shown while it is typed, such as the name of a slot.
    Public,
    /// A secret that must not be shown, such as a PIN.
    Secret,
}

/// The user interface for plugins. If several files are processed, several threads may call at
/// once.
///
/// `Ok(None)` tells the plugin that the user cannot be reached or has not responded. An error ends
/// the plugin; the operation returns it. All texts are the plugin's, of at most 4096 bytes, with
/// control characters as `\n` or `\u001b`.
pub trait Interaction: Send + Sync {
    /// Shows a message to the user, such as "Please touch the key".
    ///
    /// # Errors
    /// Return an error to end the plugin; the operation on the file returns it.
    fn message(&self, plugin: &str, text: &str) -> Result<Option<()>> {
        let _ = (plugin, text);
        Ok(None)
    }

    /// Asks the user for text, such as a PIN.
    ///
    /// # Errors
    /// Return an error to end the plugin; the operation on the file returns it.
    fn request(&self, plugin: &str, prompt: &str, input: Input) -> Result<Option<Zeroizing<String>>> {
        let _ = (plugin, prompt, input);
        Ok(None)
    }

    /// Asks the user to choose `yes` or `no` (texts of the plugin). Returns whether it was `yes`.
    /// Without `no`, the user can only confirm.
    ///
    /// # Errors
    /// Return an error to end the plugin; the operation on the file returns it.
    fn confirm(&self, plugin: &str, prompt: &str, yes: &str, no: Option<&str>) -> Result<Option<bool>> {
        let _ = (plugin, prompt, yes, no);
        Ok(None)
    }

    /// Called once if a plugin has been silent for five seconds; it may wait for a touch.
    fn waiting(&self, plugin: &str) {
        let _ = plugin;
    }

    /// Called about 20 times per second while a plugin works, to cancel the operation.
    ///
    /// # Errors
    /// Return an error (such as [`Error::Cancelled`]) to stop the plugin.
    fn check(&self) -> Result<()> {
        Ok(())
    }
}

/// An interface without a user: no input, no output.
struct NoUser;

impl Interaction for NoUser {}

/// The permission to run plugins, with their user interface and limits. Cheap to clone.
///
/// ```no_run
/// use sealane::age::{self, Armor, Plugins, Recipient};
///
/// let plugins = Plugins::default();
/// let recipient: Recipient = "age1yubikey1…".parse()?;
/// let file = age::seal(b"hello", &[recipient.with_plugins(&plugins)], Armor::Binary)?;
/// # Ok::<(), sealane::Error>(())
/// ```
#[derive(Clone)]
pub struct Plugins {
    interaction: Arc<dyn Interaction>,
    timeout: Duration,
    path: Option<OsString>,
}

impl Default for Plugins {
    /// Plugins in the folders of `PATH`, without user interaction, with the default time limit.
    fn default() -> Self {
        Self::new(Arc::new(NoUser))
    }
}

impl Plugins {
    /// Plugins with the user interface `interaction`.
    pub fn new(interaction: Arc<dyn Interaction>) -> Self {
        Self { interaction, timeout: DEFAULT_TIMEOUT, path: None }
    }

    /// Sets how long a plugin may be silent, and ten times as long in all. Waiting for the user's
    /// input does not count.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Sets the folders to search for plugins, in the form of `PATH` and instead of it.
    #[must_use]
    pub fn path(self, path: impl Into<OsString>) -> Self {
        Self { path: Some(path.into()), ..self }
    }
}

debug_fields!(Plugins; |it| timeout: it.timeout, path: it.path);

/// Which text of a key pair the plugin gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A recipient: public text.
    Recipient,
    /// An identity: perhaps secret text.
    Identity,
}

/// A recipient or identity of a plugin. The text is wiped on drop, because an identity may be
/// secret.
#[derive(Clone)]
pub(super) struct Address {
    name: String,
    pub(super) text: Zeroizing<String>,
    pub(super) role: Role,
    plugins: Option<Plugins>,
}

impl Address {
    /// Returns the recipient with this text, if `prefix` belongs to one.
    pub(super) fn recipient(prefix: &str, text: &str) -> Option<Self> {
        let name = prefix.strip_prefix(RECIPIENT).filter(|name| is_name(name))?;
        Some(Self::new(name, text.to_owned().into(), Role::Recipient))
    }

    /// Returns the identity with this text, if `prefix` belongs to one.
    pub(super) fn identity(prefix: &str, text: &str) -> Option<Self> {
        let name = prefix.strip_prefix(IDENTITY)?.strip_suffix('-').filter(|name| is_name(name))?;
        Some(Self::new(&name.to_ascii_lowercase(), text.to_owned().into(), Role::Identity))
    }

    /// Returns an identity without data, for the plugin itself.
    pub(super) fn default_identity(name: &str) -> Result<Self> {
        if !is_name(name) {
            return Err(Error::Format(
                "expected the name of an age plugin: letters, digits, '+', '-', '.' and '_', without 'age-plugin-'",
            ));
        }
        let prefix = format!("{IDENTITY}{}-", name.to_ascii_uppercase());
        let text = text::encode(&prefix, &[], Case::Upper)?;
        Ok(Self::new(&name.to_ascii_lowercase(), text, Role::Identity))
    }

    fn new(name: &str, text: Zeroizing<String>, role: Role) -> Self {
        Self { name: name.to_owned(), text, role, plugins: None }
    }

    pub(super) fn with_plugins(self, plugins: &Plugins) -> Self {
        Self { plugins: Some(plugins.clone()), ..self }
    }

    /// Returns the name of the plugin in lower case.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the permission to run the plugin.
    pub(super) fn plugins(&self) -> Result<&Plugins> {
        self.plugins.as_ref().ok_or_else(|| failure(&self.name, PluginProblem::NotEnabled))
    }
}

impl PartialEq for Address {
    fn eq(&self, other: &Self) -> bool {
        self.role == other.role && bool::from(self.text.as_bytes().ct_eq(other.text.as_bytes()))
    }
}

/// Groups addresses by plugin, in order of first appearance.
pub(super) fn by_plugin<'a>(addresses: impl Iterator<Item = &'a Address>) -> Vec<Vec<&'a Address>> {
    let mut groups: Vec<Vec<&Address>> = Vec::new();
    for address in addresses {
        match groups.iter_mut().find(|group| group[0].name == address.name) {
            Some(group) => group.push(address),
            None => groups.push(vec![address]),
        }
    }
    groups
}

/// Returns whether a text can be a plugin's name. As a part of a file name, it has no path
/// separators.
fn is_name(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "+-._".contains(c);
    !name.is_empty() && name.chars().all(allowed)
}

fn failure(plugin: &str, problem: PluginProblem) -> Error {
    PluginError { plugin: plugin.to_owned(), problem }.into()
}

#[cfg(test)]
mod test {
    use super::*;

    // claim: plugin-path
    #[test]
    fn names() {
        for name in ["yubikey", "a", "se", "fido2-hmac", "x.y_z+1", ".."] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "a/b", "a\\b", "../a", "a b", "ä", "a\n", "a:b", "a%", "\0"] {
            assert!(!is_name(name), "{name}");
            assert!(matches!(Address::default_identity(name), Err(Error::Format(_))), "{name}");
            assert!(Address::recipient(&format!("age1{name}"), "").is_none());
            assert!(Address::identity(&format!("AGE-PLUGIN-{name}-"), "").is_none());
        }
    }

    #[test]
    fn the_identity_without_data() {
        let identity = Address::default_identity("Batchpass").unwrap();
        assert_eq!(identity.name(), "batchpass");
        assert_eq!(*identity.text, "AGE-PLUGIN-BATCHPASS-1JCS0Q9");
        let (prefix, bytes) = text::decode(&identity.text).unwrap();
        assert!(bytes.is_empty());
        assert!(Address::identity(prefix, &identity.text).unwrap() == identity);
    }

    #[test]
    fn recipients_and_identities_differ() {
        let recipient = Address::recipient("age1a", "text").unwrap();
        assert_eq!((recipient.name(), recipient.role), ("a", Role::Recipient));
        assert_eq!(*recipient.text, "text");
        let identity = Address::identity("AGE-PLUGIN-A-", "text").unwrap();
        assert_eq!((identity.name(), identity.role), ("a", Role::Identity));
        assert!(recipient != identity, "the roles differ");
        assert!(recipient != Address::recipient("age1a", "other").unwrap());
        assert!(recipient == Address::recipient("age1a", "text").unwrap());
        for prefix in ["age", "age1", "agea", "AGE-PLUGIN-A-"] {
            assert!(Address::recipient(prefix, "text").is_none(), "{prefix}");
        }
        for prefix in ["AGE-PLUGIN-", "AGE-PLUGIN--", "AGE-PLUGIN-A", "age1a"] {
            assert!(Address::identity(prefix, "text").is_none(), "{prefix}");
        }
    }

    #[test]
    fn without_a_user_there_is_no_response() {
        let user = NoUser;
        assert!(user.message("a", "text").unwrap().is_none());
        assert!(user.request("a", "text", Input::Secret).unwrap().is_none());
        assert!(user.confirm("a", "text", "yes", None).unwrap().is_none());
        assert!(user.check().is_ok());
    }

    #[test]
    fn groups_keep_the_order() {
        let all = ["b", "a", "b", "c", "a"].map(|name| Address::default_identity(name).unwrap());
        let groups = by_plugin(all.iter());
        let names: Vec<_> = groups.iter().map(|group| (group[0].name(), group.len())).collect();
        assert_eq!(names, [("b", 2), ("a", 2), ("c", 1)]);
    }
}
