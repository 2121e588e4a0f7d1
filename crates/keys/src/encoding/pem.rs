//! PEM (RFC 7468): DER in base64 between a BEGIN line and an END line with a label.
//!
//! We write keys in lines of 64 characters. As RFC 7468, section 2 allows, we read lines of any
//! length and white space anywhere in the base64: MIME encoders write 76 characters, and
//! environment variables hold one line. Everything else is strict: the labels must be equal, and
//! the base64 canonical.

use crate::prelude::*;
use base64ct::{Base64, Encoding};
use pkcs8::der::pem;

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
const DASHES: &str = "-----";

const EXPECTED: Error =
    Error::Format("expected a PEM file (RFC 7468): base64 between -----BEGIN and -----END lines");

const NO_KEY: Error =
    Error::Format("expected a key in PEM: -----BEGIN PRIVATE KEY----- or -----BEGIN PUBLIC KEY-----");

/// A decoded PEM block: label and binary content.
pub(crate) struct Block {
    pub(crate) label: String,
    pub(crate) der: Zeroizing<Vec<u8>>,
}

/// Returns whether `text` has a BEGIN line, as every PEM file does.
pub(crate) fn is_pem(text: &str) -> bool {
    line_start(text, BEGIN).is_some()
}

/// Decodes the only key of `text`. Text around it is ignored, as RFC 7468, section 2 permits, and
/// so are blocks that are no keys: certificates, and the parameters that `openssl ecparam` writes.
/// An age identity is no remark, and is refused.
///
/// # Errors
/// Returns [`Error::Format`] unless `text` has one valid block, and [`Error::Truncated`] if there
/// is no END line.
pub(crate) fn read(text: &str) -> Result<Block> {
    let is_key = |block: &Result<(&str, _), _>| block.as_ref().is_ok_and(|block| block.0.ends_with(" KEY"));
    let (mut keys, mut others): (Vec<_>, Vec<_>) = Blocks(text).partition(is_key);
    others.retain(Result::is_err);
    keys.append(&mut others);
    if text.split(['\n', '\r']).any(|line| line.trim_start().starts_with("AGE-")) {
        return Err(Error::Format(
            "expected a file with one key, found PEM and an age identity; split the file",
        ));
    }
    let (label, body) = keys.pop().ok_or(NO_KEY)??;
    if !keys.is_empty() {
        return Err(Error::Format("expected a file with one key, found several PEM blocks; split the file"));
    }
    // The encryption of RFC 1421: OpenSSL derives its key with one round of MD5.
    if body.contains("Proc-Type:") {
        return Err(Error::Format(
            "expected an encrypted PKCS#8 key, found the legacy PEM encryption of OpenSSL; convert it with \
             'openssl pkcs8 -topk8 -in OLD -out NEW'",
        ));
    }
    // Allocated at full length: a growing vector leaves copies behind.
    let mut base64 = Zeroizing::new(memory::with_capacity(body.len())?);
    base64.extend(body.bytes().filter(|byte| !matches!(byte, b'\t'..=b'\r' | b' ')));
    let mut der = Zeroizing::new(memory::zeroed(base64.len() / 4 * 3)?);
    // Decoded without tables, because most blocks are secret. The error does not help.
    let len = Base64::decode(&base64[..], &mut der).map_err(|_| EXPECTED)?.len();
    der.truncate(len);
    match der.is_empty() {
        true => Err(EXPECTED),
        false => Ok(Block { label: label.to_owned(), der }),
    }
}

/// Encodes a block in lines of 64 characters, with a line feed at the end.
///
/// # Errors
/// Returns [`Error::LimitExceeded`] if the length overflows.
pub(crate) fn write(label: &'static str, der: &[u8]) -> Result<Zeroizing<String>> {
    // Allocated once, at full length: a growing string leaves copies behind. Only the length can be
    // wrong.
    let text = pem::encode_string(label, pem::LineEnding::LF, der);
    text.map(Zeroizing::new).map_err(|_| Error::LimitExceeded("the key is too long for PEM"))
}

/// Iterates over the labels and the base64 of the blocks.
struct Blocks<'a>(&'a str);

impl<'a> Iterator for Blocks<'a> {
    type Item = Result<(&'a str, &'a str)>;

    fn next(&mut self) -> Option<Self::Item> {
        let start = line_start(self.0, BEGIN)?;
        let found = block(&self.0[start + BEGIN.len()..]);
        self.0 = found.as_ref().map_or("", |(_, _, rest)| rest);
        Some(found.map(|(label, body, _)| (label, body)))
    }
}

/// Splits the text after a BEGIN into the label, the base64, and the text after the block.
fn block(text: &str) -> Result<(&str, &str, &str)> {
    let (label, text) = text.split_once(DASHES).ok_or(Error::Truncated)?;
    if label.contains(['\n', '\r']) {
        return Err(Error::Truncated);
    }
    let (body, text) = text.split_once(END).ok_or(Error::Truncated)?;
    let (end, rest) = text.split_once(DASHES).ok_or(Error::Truncated)?;
    if end == label { Ok((label, body, rest)) } else { Err(EXPECTED) }
}

/// Returns the position of the first `prefix` that begins a line, after blanks. A line ends with
/// CR, LF or both (RFC 7468, section 3).
fn line_start(text: &str, prefix: &str) -> Option<usize> {
    text.match_indices(prefix).map(|(at, _)| at).find(|at| {
        let before = text[..*at].trim_end_matches([' ', '\t', '\u{b}', '\u{c}', '\u{feff}']);
        before.is_empty() || before.ends_with(['\n', '\r'])
    })
}

#[cfg(test)]
mod test {
    use super::*;

    const KEY: &str = "-----BEGIN PRIVATE KEY-----\nMAA=\n-----END PRIVATE KEY-----\n";

    #[test]
    fn surrounding_text_is_ignored() {
        for text in [
            KEY.to_owned(),
            KEY.trim_end().to_owned(),
            KEY.replace('\n', "\r\n"),
            format!("a remark\n\n{KEY}\n\nanother one\n"),
            format!("a remark\n{KEY}another one\n").replace('\n', "\r"),
            format!("a remark\n\u{b}{KEY}"),
            format!("-----BEGIN EC PARAMETERS-----\nMAA=\n-----END EC PARAMETERS-----\n{KEY}"),
        ] {
            let block = read(&text).unwrap();
            assert_eq!((&block.label[..], &block.der[..]), ("PRIVATE KEY", &[0x30, 0][..]), "{text}");
        }
        assert_eq!(*write("PRIVATE KEY", &[0x30, 0]).unwrap(), KEY);
    }

    #[test]
    fn lines_of_any_length_and_blanks() {
        let der: Vec<u8> = (0..200).collect();
        let text = write("PRIVATE KEY", &der).unwrap();
        let base64: String = text.lines().filter(|line| !line.starts_with('-')).collect();
        let lines = |len: usize, before: &str, end: &str| {
            let lines = base64.as_bytes().chunks(len).map(|line| std::str::from_utf8(line).unwrap());
            let lines: String = lines.map(|line| format!("{before}{line}{end}")).collect();
            format!("{before}-----BEGIN PRIVATE KEY-----{end}{lines}{before}-----END PRIVATE KEY-----{end}")
        };
        for text in [
            lines(64, "", " \n"),
            lines(64, "  ", "\r\n"),
            lines(64, "\t", "\t \n\n"),
            lines(60, "", "\n"),
            lines(76, "", "\r\n"),
            lines(1, "", "\n"),
            lines(1000, "", "\n"),
            lines(1000, "", " "),
            lines(1000, "", ""),
            lines(64, "\u{c}", "\u{b}\n"),
            text.replace('\n', " "),
        ] {
            let block = read(&text).unwrap();
            assert_eq!((&block.label[..], &block.der[..]), ("PRIVATE KEY", &der[..]), "{text}");
            assert!(is_pem(&text));
        }
    }

    #[test]
    fn rejects_malformed_blocks() {
        let truncated =
            [&KEY[..40], "-----BEGIN PRIVATE KEY-----", "-----BEGIN ", "-----BEGIN X\n-----END X-----"];
        for text in truncated {
            assert!(matches!(read(text), Err(Error::Truncated)), "{text}");
        }
        let twice = KEY.repeat(2);
        let old = KEY.replace("MAA=", "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\nMAA=");
        let other_end = KEY.replace("END PRIVATE", "END PUBLIC");
        for text in [
            "",
            "x",
            "-----BEGIN",
            &twice,
            &old,
            &other_end,
            &KEY.replace("MAA=", "M?A="),
            &KEY.replace("MAA=", ""),
            &KEY.replace("MAA=", "MAA"),
            &KEY.replace("MAA=", "MAB="),
            &format!("{KEY}AGE-SECRET-KEY-1\n").replace('\n', "\r"),
        ] {
            assert!(matches!(read(text), Err(Error::Format(_))), "{text}");
        }
    }
}
