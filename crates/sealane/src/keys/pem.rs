//! PEM (RFC 7468): a label, and DER in base64 between two lines of dashes.

use crate::Error;
use pkcs8::der::pem;
use zeroize::Zeroizing;

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
const DASHES: &str = "-----";

/// `openssl ecparam -genkey` writes it before the key, which names its curve itself.
const EXPLANATION: &str = "EC PARAMETERS";

const EXPECTED: Error =
    Error::Format("not a PEM file (RFC 7468): base64 between -----BEGIN and -----END lines");

/// What stands between two lines of dashes.
pub(super) struct Block {
    pub(super) label: String,
    pub(super) der: Zeroizing<Vec<u8>>,
}

/// Is there a first line of dashes?
pub(super) fn is_pem(text: &str) -> bool {
    text.lines().any(|line| line.starts_with(BEGIN))
}

/// The one block of `text`. Text before it is ignored, as RFC 7468 section 2 demands, and so is what comes after.
///
/// # Errors
/// [`Error::Format`], also of two keys; [`Error::Truncated`] without a last line.
pub(super) fn read(text: &str) -> Result<Block, Error> {
    let mut blocks = Blocks(text).filter(|block| !matches!(block, Ok((EXPLANATION, _))));
    let (label, block) = blocks.next().ok_or(EXPECTED)??;
    if blocks.next().is_some() {
        return Err(Error::Format("not a file of one key: it holds several PEM blocks; split it"));
    }
    // OpenSSL's own encryption of RFC 1421, with one round of MD5 for a key derivation.
    if block.contains("\nProc-Type:") {
        return Err(Error::Format(
            "not an encrypted key of this century: 'openssl pkcs8 -topk8 -in OLD -out NEW' makes one",
        ));
    }
    // Base64 without tables: it is a secret, mostly.
    let (_, der) = pem::decode_vec(block.as_bytes()).map_err(|_| EXPECTED)?;
    Ok(Block { label: label.to_owned(), der: Zeroizing::new(der) })
}

/// Lines of 64 characters, and a line feed at the end.
///
/// # Errors
/// [`Error::LimitExceeded`] of what no memory holds.
pub(super) fn write(label: &'static str, der: &[u8]) -> Result<Zeroizing<String>, Error> {
    // Allocated once, at its full length: nothing is left behind by growing.
    let text = pem::encode_string(label, pem::LineEnding::LF, der);
    text.map(Zeroizing::new).map_err(|_| Error::LimitExceeded("a key of this length"))
}

/// Label and whole text of each block.
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

/// The block that `text` starts with; `None` where it has no end.
fn block(text: &str) -> Option<(&str, &str)> {
    let label = text.lines().next()?.strip_prefix(BEGIN)?.trim_end().strip_suffix(DASHES)?;
    let end = line_start(text, END)?;
    let last = text[end..].lines().next()?;
    let last = last.trim_end();
    last.ends_with(DASHES).then(|| (label, &text[..end + last.len()]))
}

/// Where the first line begins that begins so.
fn line_start(text: &str, prefix: &str) -> Option<usize> {
    text.match_indices(prefix).map(|(at, _)| at).find(|at| *at == 0 || text.as_bytes()[at - 1] == b'\n')
}

#[cfg(test)]
mod test {
    use super::*;

    const KEY: &str = "-----BEGIN PRIVATE KEY-----\nMAA=\n-----END PRIVATE KEY-----\n";

    #[test]
    fn what_stands_around_is_ignored() {
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
    fn what_is_no_block_is_refused() {
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
