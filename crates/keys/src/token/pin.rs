//! PINs of tokens: from the URI, a file, the environment or the user.

use super::failure::Failure;
use crate::prelude::*;
use crate::store;
use std::env;
use std::sync::OnceLock;

/// The variable with the PIN, if the URI has neither a file nor the PIN.
const VARIABLE: &str = "SEALANE_PKCS11_PIN";

/// What a URI says about the PIN.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) enum Pin {
    /// The file with the PIN, perhaps with a line break at its end; `pin-source`
    File(PathBuf),
    /// The PIN itself, `pin-value`
    Given(Zeroizing<String>),
    /// Nothing: ask the environment or the user
    #[default]
    Elsewhere,
}

/// A PIN, and whether the user just typed it.
pub(super) struct Entered {
    pub(super) pin: Zeroizing<String>,
    pub(super) typed: bool,
}

/// Asks the user for the PIN of the token with this label. Returns `None` if there is no user to
/// ask.
pub type PinPrompt = fn(token: &str) -> Result<Option<Zeroizing<String>>>;

static PROMPT: OnceLock<PinPrompt> = OnceLock::new();

/// Sets this process's function to ask for a token's PIN, if neither the reference nor the
/// environment has one. The first call decides; later calls return `false`. There is no default:
/// the program sets a function that asks at the terminal.
pub fn set_pin_prompt(prompt: PinPrompt) -> bool {
    PROMPT.set(prompt).is_ok()
}

impl Pin {
    /// Returns the PIN for the token with this label, if any.
    pub(super) fn find(&self, token: &str) -> Result<Option<Entered>, Failure> {
        let (pin, typed) = match self {
            Self::Given(pin) => (pin.clone(), false),
            Self::File(path) => {
                let content = store::read(path).map_err(|error| {
                    Failure::Refused(format!("the PIN cannot be read from {}: {error}", path.display()))
                })?;
                (text(&content, "the file of pin-source")?, false)
            }
            Self::Elsewhere => match env::var_os(VARIABLE) {
                Some(content) => {
                    let content = Zeroizing::new(content.into_encoded_bytes());
                    (text(&content, "the environment variable SEALANE_PKCS11_PIN")?, false)
                }
                None => match PROMPT.get().map(|prompt| prompt(token)).transpose()?.flatten() {
                    Some(pin) => (pin, true),
                    None => return Ok(None),
                },
            },
        };
        match pin.is_empty() {
            true => {
                Err(Failure::Refused("expected a PIN, found an empty one; the token was not asked".into()))
            }
            false => Ok(Some(Entered { pin, typed })),
        }
    }
}

fn text(content: &[u8], place: &str) -> Result<Zeroizing<String>, Failure> {
    let line = content.strip_suffix(b"\n").unwrap_or(content);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    match std::str::from_utf8(line) {
        Ok(pin) if !pin.contains(['\n', '\0']) => Ok(Zeroizing::new(pin.to_owned())),
        _ => {
            Err(Failure::Refused(format!("expected one line of text in UTF-8 in {place}, found other bytes")))
        }
    }
}
