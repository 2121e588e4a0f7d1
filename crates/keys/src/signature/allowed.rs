//! Lines of OpenSSH's files of allowed signers (ssh-keygen(1), ALLOWED SIGNERS).
//!
//! ```text
//! line   = principals blank [options blank] public key
//! option = cert-authority | namespaces="pattern,..." | valid-after="time" | valid-before="time"
//! time   = YYYYMMDD[HHMM[SS]][Z]
//! ```

use crate::openssh;
use base::error::Rejection;
use base::{Error, Result};
use pkcs8::der::DateTime;

const OPTIONS: Error = Error::Format(
    "expected options of an allowed signer, each at most once: cert-authority, namespaces=\"...\", \
     valid-after=\"YYYYMMDDZ\" and valid-before=\"YYYYMMDDZ\"",
);
/// The time zones that are furthest ahead of and behind UTC, in seconds.
const EARLIEST: i64 = 14 * 3600;
const LATEST: i64 = 12 * 3600;

/// Who a signer is, and what the signer's signatures are accepted for. The default is anything.
#[derive(Clone, Debug, Default)]
pub(super) struct Allowed {
    pub(super) principals: Option<String>,
    /// The key signs certificates, and no messages.
    pub(super) is_authority: bool,
    namespaces: Option<String>,
    /// Seconds since 1970.
    after: Option<i64>,
    before: Option<i64>,
}

impl Allowed {
    /// Parses a line. Returns the public key in it too; `None` for other text.
    pub(super) fn parse(line: &str) -> Result<Option<(Self, &str)>> {
        let Some((principals, rest)) = field(line).filter(|_| !line.contains('\0')) else { return Ok(None) };
        let (options, key) =
            if openssh::is_public(rest) { ("", rest) } else { field(rest).unwrap_or_default() };
        if !openssh::is_public(key) {
            return Ok(None);
        }
        // Like ssh-keygen: an option may be empty, but not the last one.
        if options.ends_with(',') {
            return Err(OPTIONS);
        }
        let mut found = Self { principals: Some(principals.trim_matches('"').to_owned()), ..Self::default() };
        for option in split(options, |byte| byte == b',').filter(|option| !option.is_empty()) {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            let quoted = || {
                let value = value.strip_prefix('"')?.strip_suffix('"')?;
                Some(value).filter(|value| !value.is_empty() && !value.contains(['"', '\\']))
            };
            let at = |shift| quoted().and_then(|text| time(text, shift)).ok_or(OPTIONS);
            let is_new = match &*name.to_ascii_lowercase() {
                "cert-authority" if option.len() == name.len() => {
                    !std::mem::replace(&mut found.is_authority, true)
                }
                "namespaces" => found.namespaces.replace(quoted().ok_or(OPTIONS)?.to_owned()).is_none(),
                "valid-after" => found.after.replace(at(LATEST)?).is_none(),
                "valid-before" => found.before.replace(at(-EARLIEST)?).is_none(),
                _ => false,
            };
            if !is_new {
                return Err(OPTIONS);
            }
        }
        Ok(Some((found, key)))
    }

    /// Checks that a signature in `namespace` is accepted at the time `at`, in seconds since 1970.
    pub(super) fn check(&self, namespace: &str, at: i64) -> Result<(), Rejection> {
        if self.namespaces.as_ref().is_some_and(|list| !is_listed(list, namespace)) {
            Err(Rejection::NamespaceNotAllowed)
        } else if self.after.is_some_and(|after| at < after) {
            Err(Rejection::NotYetValid)
        } else if self.before.is_some_and(|before| at > before) {
            Err(Rejection::Expired)
        } else {
            Ok(())
        }
    }
}

/// Splits a text at bytes outside of quotes.
fn split(text: &str, is_end: impl Fn(u8) -> bool) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    text.split(move |c: char| {
        is_quoted ^= c == '"';
        !is_quoted && u8::try_from(c).is_ok_and(&is_end)
    })
}

/// Splits a text after its first field, which may contain blanks in quotes.
fn field(text: &str) -> Option<(&str, &str)> {
    let first = split(text, |byte| byte.is_ascii_whitespace()).next()?;
    Some((first, text[first.len()..].trim_start()))
}

/// Returns whether a list of patterns contains a text: one pattern matches, and none of those that
/// begin with an exclamation mark.
fn is_listed(list: &str, text: &str) -> bool {
    let (negated, patterns): (Vec<_>, Vec<_>) = list.split(',').partition(|pattern| pattern.starts_with('!'));
    patterns.iter().any(|pattern| matches(pattern.as_bytes(), text.as_bytes()))
        && !negated.iter().any(|pattern| matches(&pattern.as_bytes()[1..], text.as_bytes()))
}

/// Compares a text with a pattern, where `*` is any text and `?` any character. After a mismatch,
/// the last `*` takes one byte more, so the time is at most the product of the lengths.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t, mut star) = (0, 0, None);
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => (star, p) = (Some((p, t)), p + 1),
            Some(b'?') => (p, t) = (p + 1, t + 1),
            Some(byte) if *byte == text[t] => (p, t) = (p + 1, t + 1),
            _ => match star {
                Some((at, from)) => (star, p, t) = (Some((at, from + 1)), at + 1, from + 1),
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

/// Parses a time as seconds since 1970. `shift` is added to one in an unknown time zone.
fn time(text: &str, shift: i64) -> Option<i64> {
    let digits = text.strip_suffix(['Z', 'z']);
    let shift = if digits.is_some() { 0 } else { shift };
    let digits = digits.unwrap_or(text);
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) || ![8, 12, 14].contains(&digits.len()) {
        return None;
    }
    let number = |at: usize| digits.get(at..at + 2).map_or(Some(0), |part| part.parse().ok());
    let (year, second) = (digits[..4].parse().ok()?, number(12)?);
    // A leap second is the second after 59, which `DateTime` does not know.
    let minute = DateTime::new(year, number(4)?, number(6)?, number(8)?, number(10)?, 0).ok()?;
    let minute = i64::try_from(minute.unix_duration().as_secs()).ok()?;
    (second <= 60).then_some(minute + i64::from(second) + shift)
}

#[cfg(test)]
mod test {
    use super::*;

    /// What `date -u -d ... +%s` prints.
    #[test]
    fn times() {
        for (text, expected) in [
            ("19700101Z", 0),
            ("20000229Z", 951_782_400),
            ("20270101Z", 1_798_761_600),
            ("202701010101Z", 1_798_765_260),
            ("20261231235959z", 1_798_761_599),
            ("21000301Z", 4_107_542_400),
            ("99991231235959Z", 253_402_300_799),
            // The end of the day there, and its begin.
            ("20270101", 1_798_761_600 + 7),
        ] {
            assert_eq!(time(text, 7), Some(expected), "{text}");
        }
        for text in [
            "",
            "Z",
            "2027",
            "20270101ZZ",
            "20270001Z",
            "20271301Z",
            "20270100Z",
            "20270132Z",
            "20270229Z",
            "21000229Z",
            "20270431Z",
            "2027010124Z",
            "202701012400Z",
            "202701010060Z",
            "20270101000061Z",
            "2027-01-01",
            "+2027010",
            "19691231Z",
            "2027010١",
            "00000000Z",
        ] {
            assert_eq!(time(text, 7), None, "{text}");
        }
    }

    #[test]
    fn patterns() {
        for (list, text, expected) in [
            ("file", "file", true),
            ("file", "files", false),
            ("git,file", "file", true),
            ("*", "file", true),
            ("f*e", "fe", true),
            ("f*e", "file.e", true),
            ("f*e", "file.x", false),
            ("f??e", "file", true),
            ("f?e", "file", false),
            ("*,!file", "file", false),
            ("!file,*", "other", true),
            ("!file", "other", false),
            ("", "file", false),
            ("a**b", "ab", true),
        ] {
            assert_eq!(is_listed(list, text), expected, "{list} {text}");
        }
        // No exponential time.
        assert!(!matches(&b"*a".repeat(40), &b"a".repeat(4000)[..39]));
        assert!(!matches(&[&b"*a".repeat(40)[..], b"b"].concat(), &b"a".repeat(4000)));
    }
}
