//! Recognizes files that are not encrypted, or not by us, to name them in errors.

/// Defines marks: a position, the bytes there, and the content that they show.
macro_rules! marks {
    ($($at:literal $mark:literal $content:literal;)*) => {
        [$(($at, $mark, concat!("expected an encrypted file, found ", $content))),*]
    };
}

/// Marks of files that are not ours. Encrypted bytes look random: one file in 2^24 has a mark of
/// three bytes.
static MARKS: [(usize, &[u8], &str); 21] = marks! {
    0 b"\x1f\x8b\x08" "gzip";
    0 b"PK\x03\x04" "a zip archive";
    0 b"BZh" "bzip2";
    0 b"\xfd7zXZ\0" "xz";
    0 b"\x28\xb5\x2f\xfd" "Zstandard";
    0 b"7z\xbc\xaf\x27\x1c" "a 7z archive";
    257 b"ustar" "a tar archive";
    0 b"Salted__" "a file of 'openssl enc'";
    0 b"RCLONE\0\0" "a file of rclone crypt";
    0 b"PAR1" "a Parquet file";
    0 b"PARE" "an encrypted Parquet file";
    0 b"%PDF-" "PDF";
    0 b"\x89PNG" "PNG";
    0 b"\xff\xd8\xff" "JPEG";
    0 b"\x7fELF" "a program";
    0 b"SQLite format 3\0" "a SQLite database";
    0 b"\x89HDF\r\n" "HDF5";
    0 b"openssh-key-v1\0" "an SSH key";
    0 b"-----BEGIN PGP " "text of OpenPGP";
    0 b"-----BEGIN " "PEM";
    0 b"{\n  \"sealane\": \"folder\"" "the description of an encrypted folder; open the folder";
};

/// Returns the error about a file that is not ours.
pub(super) fn foreign(prefix: &[u8]) -> Option<&'static str> {
    let found =
        MARKS.iter().find(|(at, mark, _)| prefix.get(*at..).is_some_and(|rest| rest.starts_with(mark)));
    let is_text = || {
        let text = prefix.utf8_chunks().next();
        // The last character may be cut.
        let whole = text.filter(|text| text.valid().len() + 4 > prefix.len());
        whole.is_some_and(|text| !text.valid().contains(|c: char| c.is_control() && !c.is_ascii_whitespace()))
    };
    found.map(|found| found.2).or_else(|| is_text().then_some("expected an encrypted file, found text"))
}
