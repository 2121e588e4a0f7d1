//! PEM (RFC 7468): DER in base64 between a BEGIN line and an END line with a label.

use crate::Error;
use pkcs8::der::pem;
use zeroize::Zeroizing;

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
const DASHES: &str = "-----";

/// Label of the block that `openssl ecparam -genkey` writes before the key. It is ignored, because the key names its
/// curve too.
const PARAMETERS: &str = "EC PARAMETERS";

const EXPECTED: Error =
    Error::Format("expected a PEM file (RFC 7468): base64 between -----BEGIN and -----END lines");

/// A decoded block of PEM, with its label and its content in binary.
pub(crate) struct Block {
    pub(crate) label: String,
    pub(crate) der: Zeroizing<Vec<u8>>,
}

/// Returns whether `text` has a BEGIN line, which all PEM files have.
pub(crate) fn is_pem(text: &str) -> bool {
    text.lines().any(|line| line.starts_with(BEGIN))
}

/// Decodes the only block of `text`. Text before and after the block is ignored, as RFC 7468, section 2 permits.
///
/// # Errors
/// Returns [`Error::Format`] unless `text` has one valid block, and [`Error::Truncated`] if there is no END line.
pub(crate) fn read(text: &str) -> Result<Block, Error> {
    let mut blocks = Blocks(text).filter(|block| !matches!(block, Ok((PARAMETERS, _))));
    let (label, block) = blocks.next().ok_or(EXPECTED)??;
    if blocks.next().is_some() {
        return Err(Error::Format("expected a file with one key, found several PEM blocks; split the file"));
    }
    // The encryption of RFC 1421, for which OpenSSL derives the key with one round of MD5.
    if block.contains("\nProc-Type:") {
        return Err(Error::Format(
            "expected an encrypted PKCS#8 key, found the legacy PEM encryption of OpenSSL; convert it with \
             'openssl pkcs8 -topk8 -in OLD -out NEW'",
        ));
    }
    // The base64 decoder uses no tables, because most blocks are secret. Its error has no content of use.
    let (_, der) = pem::decode_vec(block.as_bytes()).map_err(|_| EXPECTED)?;
    Ok(Block { label: label.to_owned(), der: Zeroizing::new(der) })
}

/// Encodes a block in lines of 64 characters, with a line feed at the end.
///
/// # Errors
/// Returns [`Error::LimitExceeded`] if the length overflows.
pub(crate) fn write(label: &'static str, der: &[u8]) -> Result<Zeroizing<String>, Error> {
    // Allocated once, at its full length: a string that grows leaves copies behind. Only the length can be wrong.
    let text = pem::encode_string(label, pem::LineEnding::LF, der);
    text.map(Zeroizing::new).map_err(|_| Error::LimitExceeded("the key is too long for PEM"))
}

/// Iterates over the labels and texts of the blocks.
struct Blocks<'a>(&'a str);

impl<'a> Iterator for Blocks<'a> {
    type Item = Result<(&'a str, &'a str), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let start = line_start(self.0, BEGIN)?;
        let text = &self.0[start..];
        let found = block(text);
        self.0 = found.map_or("", |(_, block)| &text[block.len()..]);
        Some(found.ok_or(Error::Truncated))
    }
}

/// Returns the block at the start of `text`, or `None` if it has no END line.
fn block(text: &str) -> Option<(&str, &str)> {
    let label = text.lines().next()?.strip_prefix(BEGIN)?.trim_end().strip_suffix(DASHES)?;
    let end = line_start(text, END)?;
    let last = text[end..].lines().next()?;
    let last = last.trim_end();
    last.ends_with(DASHES).then(|| (label, &text[..end + last.len()]))
}

/// Returns the position of the first line that starts with `prefix`.
fn line_start(text: &str, prefix: &str) -> Option<usize> {
    text.match_indices(prefix).map(|(at, _)| at).find(|at| *at == 0 || text.as_bytes()[at - 1] == b'\n')
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
            format!("-----BEGIN EC PARAMETERS-----\nMAA=\n-----END EC PARAMETERS-----\n{KEY}"),
        ] {
            let block = read(&text).unwrap();
            assert_eq!((&block.label[..], &block.der[..]), ("PRIVATE KEY", &[0x30, 0][..]), "{text}");
        }
        assert_eq!(*write("PRIVATE KEY", &[0x30, 0]).unwrap(), KEY);
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
        for text in ["", "x", "-----BEGIN", &twice, &old, &other_end, &KEY.replace("MAA=", "M?A=")] {
            assert!(matches!(read(text), Err(Error::Format(_))), "{text}");
        }
    }
}
