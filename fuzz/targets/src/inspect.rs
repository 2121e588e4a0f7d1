//! The description of a file without a key does not panic on any bytes, for each format.
// claim: input-no-crash

use sealane::file::{self, Format};

pub(crate) fn run(input: (u8, u8, &[u8])) {
    let (choice, times, bytes) = input;
    let format = Format::ALL[usize::from(choice) % Format::ALL.len()];
    let content = crate::repeated(bytes.to_vec(), times, 1 << 20);
    let path = std::env::temp_dir().join(format!("sealane-fuzz-inspect-{}", std::process::id()));
    std::fs::write(&path, &content).expect("a temporary file");
    if let Ok(info) = file::inspect(&path, Some(format)) {
        assert_eq!(info.file_len, content.len() as u64);
        assert!(info.plaintext_len < info.file_len);
        // The first chunk of a Tink file is shorter.
        let chunks = info.plaintext_len.div_ceil(info.chunk_len);
        assert!((chunks.max(1)..=chunks + 1).contains(&info.chunks));
    }
}
