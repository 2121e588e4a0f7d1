//! The commands of the protocol: stanzas, encoded as in age headers.

use crate::age::stanza::{self, COLUMNS, LINE_BYTES};
use base::error::PluginProblem;
use zeroize::Zeroizing;

/// Maximum length of a plugin's encoded command in bytes.
pub(super) const MAX_COMMAND_LEN: usize = 256 << 10;

const NO_STANZA: PluginProblem =
    PluginProblem::Protocol("expected a stanza, '-> ' and words, found other data");
const LONG_LINE: PluginProblem =
    PluginProblem::Protocol("expected lines of at most 64 columns of base64, found a longer line");
const NOT_BASE64: PluginProblem = PluginProblem::Protocol("expected canonical base64, found other data");

/// A command or response: the words of its first line, and its body.
pub(super) struct Command {
    words: Vec<String>,
    pub(super) body: Zeroizing<Vec<u8>>,
}

impl Command {
    /// Returns the command at the beginning of `bytes` and its length; `None` if it is incomplete.
    pub(super) fn parse(bytes: &[u8]) -> Result<Option<(Self, usize)>, PluginProblem> {
        let Some(end) = line_end(bytes, 0) else {
            // Other programs print text without an arrow and would never complete a stanza.
            let begins = bytes.iter().zip(b"-> ").all(|(is, should)| is == should);
            return if begins { Ok(None) } else { Err(NO_STANZA) };
        };
        let line = bytes[..end].strip_prefix(b"-> ").ok_or(NO_STANZA)?;
        let is_word = |word: &[u8]| !word.is_empty() && word.iter().all(u8::is_ascii_graphic);
        if !line.split(|&byte| byte == b' ').all(is_word) {
            return Err(NO_STANZA);
        }
        let (mut start, mut len) = (end + 1, 0);
        // Find the length before allocating: growing memory leaves copies of a secret behind.
        loop {
            let Some(end) = line_end(bytes, start) else {
                return if bytes.len() - start > COLUMNS { Err(LONG_LINE) } else { Ok(None) };
            };
            let columns = end - start;
            (start, len) = (end + 1, len + columns);
            match columns {
                ..COLUMNS => break,
                COLUMNS => {}
                _ => return Err(LONG_LINE),
            }
        }
        // bounded: less than a command.
        let mut body = Zeroizing::new(Vec::with_capacity(len * 3 / 4));
        for line in bytes[end + 1..start - 1].split(|&byte| byte == b'\n') {
            let mut decoded = Zeroizing::new([0; LINE_BYTES]);
            // The error of the decoder describes a file.
            body.extend_from_slice(stanza::decode_line(line, &mut decoded).map_err(|_| NOT_BASE64)?);
        }
        let words = line.split(|&byte| byte == b' ').map(|word| String::from_utf8_lossy(word).into_owned());
        Ok(Some((Self { words: words.collect(), body }, start)))
    }

    pub(super) fn kind(&self) -> &str {
        &self.words[0]
    }

    /// Returns the length of the decoded command in bytes.
    pub(super) fn len(&self) -> usize {
        self.words.iter().map(|word| word.len() + 1).sum::<usize>() + self.body.len()
    }

    pub(super) fn arguments(&self) -> Vec<&str> {
        self.words[1..].iter().map(String::as_str).collect()
    }
}

fn line_end(bytes: &[u8], start: usize) -> Option<usize> {
    Some(start + bytes[start..].iter().position(|&byte| byte == b'\n')?)
}

/// Text to send, with space for `len` bytes: growing would leave copies of secrets behind.
pub(super) struct Message(Zeroizing<String>);

impl Message {
    pub(super) fn new(len: usize) -> Result<Self, base::Error> {
        let empty = String::from_utf8(base::memory::with_capacity(len)?).unwrap_or_default();
        Ok(Self(Zeroizing::new(empty)))
    }

    /// Returns the space for a command with one argument.
    pub(super) fn space(argument: usize) -> usize {
        argument + 64
    }

    /// Appends a command; `words` are its type and arguments.
    pub(super) fn command(&mut self, words: &[&str], body: &[u8]) {
        stanza::write(&mut self.0, words, body);
    }

    /// Appends an encoded stanza of a file header.
    pub(super) fn stanza(&mut self, command: &str, line: &str, body: &str) {
        for part in ["-> ", command, " ", line, "\n", body, "\n"] {
            self.0.push_str(part);
        }
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn commands_round_trip() {
        for len in [0, 1, 47, 48, 49, 96, 1000] {
            let body: Vec<u8> = (0..len).map(|at| at as u8).collect();
            let mut message = Message::new(10).unwrap();
            message.command(&["recipient-stanza", "0", "kind"], &body);
            let text = message.as_bytes();
            let (command, end) = Command::parse(&[text, b"-> done\n"].concat()).unwrap().unwrap();
            assert_eq!((command.kind(), command.arguments()), ("recipient-stanza", vec!["0", "kind"]));
            assert_eq!((&command.body[..], end), (&body[..], text.len()));
            for end in 0..text.len() {
                assert!(Command::parse(&text[..end]).unwrap().is_none(), "{end} of {len}");
            }
        }
    }

    /// The length decides how many stanzas are too many, so it counts the body and each word with
    /// its separator.
    #[test]
    fn lengths() {
        for (text, len) in [("-> a\n\n", 2), ("-> ab cd e\n\n", 8), ("-> a b\nAAAA\n", 4 + 3)] {
            let (command, end) = Command::parse(text.as_bytes()).unwrap().unwrap();
            assert_eq!((command.len(), end), (len, text.len()), "{text}");
        }
    }

    /// Growing text leaves copies of secrets behind.
    #[test]
    fn the_space_of_a_message_is_enough() {
        for len in [0, 1, 1000] {
            let argument = "a".repeat(len);
            let mut message = Message::new(Message::space(len)).unwrap();
            let before = message.0.capacity();
            message.command(&["add-identity", &argument], b"");
            assert!(message.0.len() > len && message.0.capacity() == before, "{len}");
            let mut message = Message::new(Message::space(2 * len)).unwrap();
            let before = message.0.capacity();
            message.command(&["ok"], argument.as_bytes());
            assert!(message.0.capacity() == before, "{len}");
        }
    }

    #[test]
    fn stanzas_of_a_file() {
        let mut message = Message::new(100).unwrap();
        message.stanza("recipient-stanza 0", "X25519 abc", "AAAA");
        assert_eq!(message.as_bytes(), b"-> recipient-stanza 0 X25519 abc\nAAAA\n");
        let (command, _) = Command::parse(message.as_bytes()).unwrap().unwrap();
        assert_eq!((command.kind(), command.arguments()), ("recipient-stanza", vec!["0", "X25519", "abc"]));
    }

    #[test]
    fn other_data() {
        let long = [&b"-> a\n"[..], &[b'A'; 65]].concat();
        let texts: [&[u8]; 10] = [
            b"hello",
            b"-",
            b"->\n",
            b"-> \n",
            b"-> a  b\n",
            b"-> a\x01\n",
            b"-> \xff\n",
            b"-> a\n*\n",
            b"-> a\n-> done\n\n",
            &long,
        ];
        for text in texts {
            let found = Command::parse(text);
            match text {
                b"-" => assert!(found.unwrap().is_none()),
                _ => assert!(matches!(found, Err(PluginProblem::Protocol(_))), "{text:?}"),
            }
        }
    }
}
