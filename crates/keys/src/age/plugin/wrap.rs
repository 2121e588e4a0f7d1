//! The state machine `recipient-v1`: a plugin wraps a file key for recipients and identities.

use super::command::Message;
use super::conversation::Conversation;
use super::{Address, Role};
use crate::age::file_key::FileKey;
use crate::age::header::{MAX_HEADER_LEN, Writer};
use crate::age::stanza;
use crate::prelude::*;
use base::error::PluginProblem;
use base64ct::{Base64Unpadded, Encoding};
use std::collections::BTreeSet;

const STANZA: PluginProblem =
    PluginProblem::Protocol("expected 'recipient-stanza 0' and the words of a stanza, found other arguments");
const TOO_MANY_STANZAS: PluginProblem =
    PluginProblem::Protocol("expected at most 4096 stanzas with 16 MiB, found more");
const NO_STANZA: PluginProblem = PluginProblem::Protocol("expected a stanza for the recipients, found none");
const LABELS: PluginProblem = PluginProblem::Protocol("expected 'labels' once, found it again");
const PASSPHRASE: PluginProblem = PluginProblem::Protocol(
    "expected a stanza that can be combined with others, found one of a passphrase without a label",
);

/// Wraps `file_key` for `addresses` of one plugin. Returns the labels of its stanzas; recipients of
/// a file must have equal labels.
pub(in crate::age) fn wrap(
    addresses: &[&Address],
    file_key: &FileKey,
    header: &mut Writer,
) -> Result<BTreeSet<String>> {
    let [first, ..] = addresses else { return Ok(BTreeSet::new()) };
    let space: usize = addresses.iter().map(|address| Message::space(address.text.len())).sum();
    let mut message = Message::new(space + 4 * Message::space(32))?;
    for address in addresses {
        let command = match address.role {
            Role::Recipient => "add-recipient",
            Role::Identity => "add-identity",
        };
        message.command(&[command, &address.text], b"");
    }
    message.command(&["wrap-file-key"], file_key.as_bytes());
    message.command(&["extension-labels"], b"");
    message.command(&["done"], b"");

    let secrets = [
        Zeroizing::new(Base64Unpadded::encode_string(file_key.as_bytes())),
        Zeroizing::new(base16ct::lower::encode_string(file_key.as_bytes())),
    ];
    let identities = addresses.iter().filter(|address| address.role == Role::Identity);
    let secrets = secrets.iter().map(|text| text.as_str()).chain(identities.map(|it| it.text.as_str()));
    let plugins = first.plugins()?;
    let mut plugin = Conversation::begin(first.name(), plugins, "recipient-v1", &message, secrets.collect())?;
    let (mut stanzas, mut len, mut labels) = (Vec::new(), 0, None);
    while let Some(command) = plugin.next(&["recipient-stanza", "labels"])? {
        if command.kind() == "labels" {
            let found: BTreeSet<_> = command.arguments().into_iter().map(str::to_owned).collect();
            if labels.replace(found).is_some() {
                return Err(plugin.failure(LABELS));
            }
        } else {
            if !matches!(command.arguments()[..], ["0", _, ..]) {
                return Err(plugin.failure(STANZA));
            }
            // The specification allows one per recipient, but plugins in use send more.
            len += command.len();
            if stanzas.len() == stanza::MAX_STANZAS || len > MAX_HEADER_LEN {
                return Err(plugin.failure(TOO_MANY_STANZAS));
            }
            stanzas.push(command);
        }
        plugin.ok()?;
    }
    let labels = labels.unwrap_or_default();
    let is_passphrase = stanzas.iter().any(|command| command.arguments()[1] == stanza::SCRYPT);
    let wrong = match () {
        () if stanzas.is_empty() => Some(NO_STANZA),
        // Readers would refuse a header with a passphrase and another recipient.
        () if is_passphrase && (labels.is_empty() || stanzas.len() > 1) => Some(PASSPHRASE),
        () => None,
    };
    let wrong = wrong.map(|problem| plugin.failure(problem));
    if let Some(error) = plugin.finish().or(wrong) {
        return Err(error);
    }
    for command in stanzas {
        header.stanza(&command.arguments()[1..], &command.body);
    }
    Ok(labels)
}
