//! Handles that several threads share.

use super::{Call, Shared};
use crate::error::ArgumentError;
use crate::file_keys::{DecryptWith, EncryptWith};
use crate::keys::Secret;
use crate::reader::Reader;
use crate::speck::Speck;
use crate::stream::Stream;
use sealane::MessageKeys;
use std::sync::Arc;

/// A handle that several threads share.
pub(crate) trait Handle: 'static {
    /// Whether calls with it call the caller's functions. They, or other threads meanwhile, may free
    /// the handle; it lives until the last such call ends. Counting takes 10 ns and more if threads
    /// count at once, so calls for messages, which call nobody, do not count.
    const CALLS_BACK: bool = false;
}

impl Handle for MessageKeys {}
impl Handle for Secret {}
impl Handle for Speck {}
impl Handle for Stream {}

impl Handle for EncryptWith {
    const CALLS_BACK: bool = true;
}

impl Handle for DecryptWith {
    const CALLS_BACK: bool = true;
}

impl Handle for Reader {
    const CALLS_BACK: bool = true;
}

impl<T: Handle> Shared<T> {
    #[inline]
    pub(crate) fn get<'a>(self, call: &'a Call, name: &'static str) -> Result<&'a T, ArgumentError> {
        if T::CALLS_BACK && !self.0.is_null() {
            // SAFETY: the header requires a handle of this type that `Owned::new` made and that nobody
            // has freed yet.
            let held = unsafe {
                Arc::increment_strong_count(self.0);
                Arc::from_raw(self.0)
            };
            call.0.borrow_mut().push(held);
        }
        // SAFETY: the header requires null or a live handle of this type from an earlier call. It stays
        // alive during the call, because nobody may free it, or because the call holds it.
        unsafe { self.0.as_ref() }.ok_or(ArgumentError::Null { name })
    }
}
