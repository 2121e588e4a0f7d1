//! The state machine `identity-v1`: a plugin unwraps a file key with identities.

use super::command::Message;
use super::conversation::Conversation;
use super::{Address, failure};
use crate::age::file_key::FileKey;
use crate::age::header::Header;
use base::Result;
use base::error::PluginProblem;

const FILE_KEY: PluginProblem =
    PluginProblem::Protocol("expected 'file-key 0' once, with a file key of 16 bytes, found another one");

/// Unwraps the file key of `header` with `addresses`, identities of one plugin; `None` if the file
/// is for others. The file key matches the MAC of the header.
pub(in crate::age) fn unwrap(addresses: &[&Address], header: &Header) -> Result<Option<FileKey>> {
    let [first, ..] = addresses else { return Ok(None) };
    let plugins = first.plugins()?;
    let identities: usize = addresses.iter().map(|address| Message::space(address.text.len())).sum();
    let stanzas: usize = header.stanzas().map(|it| Message::space(it.line.len() + it.body.len())).sum();
    let mut message = Message::new(identities + stanzas + Message::space(0))?;
    for address in addresses {
        message.command(&["add-identity", &address.text], b"");
    }
    for stanza in header.stanzas() {
        message.stanza("recipient-stanza 0", stanza.line, stanza.body);
    }
    message.command(&["done"], b"");

    let secrets = addresses.iter().map(|address| address.text.as_str()).collect();
    let mut plugin = Conversation::begin(first.name(), plugins, "identity-v1", &message, secrets)?;
    let mut file_key = None;
    while let Some(command) = plugin.next(&["file-key"])? {
        let found = FileKey::from_bytes(&command.body).filter(|_| command.arguments() == ["0"]);
        let found = found.ok_or_else(|| plugin.failure(FILE_KEY))?;
        if file_key.replace(found).is_some() {
            return Err(plugin.failure(FILE_KEY));
        }
        plugin.ok()?;
    }
    match (plugin.finish(), file_key) {
        (_, Some(file_key)) => match header.verify(&file_key) {
            Ok(()) => Ok(Some(file_key)),
            // The header's error does not name the plugin.
            Err(_) => Err(failure(first.name(), PluginProblem::WrongFileKey)),
        },
        (Some(error), None) => Err(error),
        (None, None) => Ok(None),
    }
}
