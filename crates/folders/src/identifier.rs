//! Identifiers of folders, in inventories and descriptions.

use base::Error;

/// Length in bytes of a folder's identifier.
const FOLDER_LEN: usize = 16;

/// Returns whether a text is the identifier of a folder.
pub(crate) fn is_identifier(text: &str) -> bool {
    text.len() == 2 * FOLDER_LEN && text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
}

/// Draws a new identifier.
pub(crate) fn new_identifier() -> Result<String, Error> {
    let random: [u8; FOLDER_LEN] = base::random::array()?;
    Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
}
