//! Names of temporary files, and names that a file on Windows cannot have.

use crate::os::ANY_NAME;
use crate::prelude::*;

/// Checks the name of a new file or folder on Windows. Accepts every name on other systems.
///
/// For some names, Windows opens a device; it cuts off trailing dots and spaces, and takes the part
/// after a colon for a stream of another file. Content written under such a name is lost, or
/// replaces another file.
pub fn check_name(name: &OsStr) -> io::Result<()> {
    let problem = (!ANY_NAME).then(|| problem(name)).flatten();
    problem.map_or(Ok(()), |problem| Err(io::Error::new(ErrorKind::InvalidFilename, problem)))
}

/// Returns a free name for a temporary file beside the file `name`.
pub fn temporary_name(name: &OsStr) -> io::Result<OsString> {
    let random = u64::from_le_bytes(base::random::array()?);
    // Most systems limit file names to 255 bytes, so we shorten the name first.
    let name: String = name.to_string_lossy().chars().take(48).collect();
    Ok(format!(".{name}.{random:016x}.part").into())
}

/// Returns whether a name has the form of [`temporary_name`].
pub fn is_temporary_name(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    let name = name.strip_prefix(b".").and_then(|name| name.strip_suffix(b".part")).unwrap_or_default();
    let random = name.len().checked_sub(17).filter(|at| *at > 0).map(|at| &name[at..]);
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    random.is_some_and(|random| random[0] == b'.' && random[1..].iter().all(is_digit))
}

/// Returns whether Windows accepts `text` in the middle of a name.
pub fn is_part_of_name(text: &OsStr) -> bool {
    ANY_NAME || !text.as_encoded_bytes().iter().any(is_refused)
}

fn is_refused(byte: &u8) -> bool {
    *byte < b' ' || br#"<>:"/\|?*"#.contains(byte)
}

fn problem(name: &OsStr) -> Option<&'static str> {
    let bytes = name.as_encoded_bytes();
    if bytes.iter().any(is_refused) {
        return Some(
            "a name of Windows cannot contain control characters or any of <>:\"/\\|?*; choose another name",
        );
    }
    if matches!(bytes.last(), Some(b'.' | b' ')) {
        return Some("Windows removes dots and spaces from the end of a name; choose another name");
    }
    // Older versions of Windows open the device even if the name has an extension.
    let stem = bytes.split(|byte| *byte == b'.').next().unwrap_or_default();
    is_device(stem.trim_ascii_end())
        .then_some("Windows reserves this name for a device, also with an extension; choose another name")
}

fn is_device(stem: &[u8]) -> bool {
    let named = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"];
    let numbered = |prefix: &str| {
        let number = stem
            .split_at_checked(prefix.len())
            .filter(|(start, _)| start.eq_ignore_ascii_case(prefix.as_bytes()));
        number.is_some_and(|(_, number)| {
            matches!(number, [b'0'..=b'9']) || ["¹", "²", "³"].iter().any(|digit| digit.as_bytes() == number)
        })
    };
    named.iter().any(|name| name.as_bytes().eq_ignore_ascii_case(stem)) || numbered("COM") || numbered("LPT")
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn names_of_temporary_files() {
        for name in ["a", "a.sealed", "\u{fc}", &"x".repeat(300)] {
            let made = temporary_name(OsStr::new(name)).unwrap();
            assert!(is_temporary_name(&made), "{made:?}");
        }
        for name in
            ["", ".part", ".0123456789abcdef.part", "a.0123456789abcdef.part", ".a.0123456789ABCDEF.part"]
        {
            assert!(!is_temporary_name(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn names_that_windows_takes_for_others() {
        for name in [
            "con",
            "CON",
            "Nul.txt",
            "aux.tar.gz",
            "prn ",
            "nul .txt",
            "com1",
            "COM9.log",
            "lpt¹",
            "lpt0",
            "conin$",
            "ConOut$.x",
            "a.",
            "a..",
            ".",
            "..",
            "a ",
            " ",
            "a:b",
            "a:",
            "C:x",
            "a/b",
            "a\\b",
            "a|b",
            "a?",
            "*",
            "<",
            ">",
            "\"",
            "a\nb",
            "\u{1}",
            "\0",
        ] {
            assert!(problem(OsStr::new(name)).is_some(), "{name:?}");
            assert_eq!(check_name(OsStr::new(name)).is_err(), cfg!(windows), "{name:?}");
        }
        for name in [
            "console", "null", "aux2", "com", "com10", "com1x", "lpt", "a.con", "a con", ".con", "con_", "ü",
            "a.b", ".a", " a", "com⁴", "€",
        ] {
            assert_eq!(problem(OsStr::new(name)), None, "{name:?}");
        }
    }
}
