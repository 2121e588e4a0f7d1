//! Identifiers of folders, in inventories and descriptions.

use crate::prelude::*;
use data_encoding::HEXLOWER;

/// Length in bytes of a folder's identifier.
const FOLDER_LEN: usize = 16;

/// Returns whether a text is the identifier of a folder.
pub(crate) fn is_identifier(text: &str) -> bool {
    text.len() == 2 * FOLDER_LEN && text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
}

/// Refuses a text that is not the identifier of a folder.
pub(crate) fn check_identifier(text: Option<&str>) -> Result<()> {
    let wrong = text.filter(|text| !is_identifier(text));
    wrong.map_or(Ok(()), |text| Err(FolderError::InvalidIdentifier(text.to_owned()).into()))
}

/// Draws a new identifier.
pub(crate) fn new_identifier() -> Result<String> {
    Ok(HEXLOWER.encode(&base::random::array::<FOLDER_LEN>()?))
}
