//! The parser of inventories does not panic on any document, and what it reads is written and read
//! again: no other names, and the same folder and counter. Version 1 is only read.
// claim: input-no-crash

use sealane::file::Inventory;

pub(crate) fn run(bytes: &[u8]) {
    let Ok(inventory) = Inventory::parse(bytes) else { return };
    let Some(folder) = inventory.folder() else { return };
    let again = Inventory::parse(inventory.to_json().as_bytes()).expect("it was written");
    assert_eq!(
        (again.folder(), again.counter(), again.len()),
        (Some(folder), inventory.counter(), inventory.len())
    );
}
