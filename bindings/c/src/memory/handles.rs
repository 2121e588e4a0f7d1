//! Handles that several threads share.

use super::{Call, Shared};
use crate::error::ArgumentError;
use crate::file_keys::{DecryptWith, EncryptWith};
use crate::reader::Reader;
use std::any::TypeId;
use std::sync::Arc;

impl<T: 'static> Shared<T> {
    /// Returns the handle. Calls with some kinds call the caller's functions. They, or other
    /// threads in the meantime, may free the handle; it lives until the last such call ends.
    /// Counting takes 10 ns, and more if threads count at once, so calls for messages, which call
    /// nobody, do not count.
    #[inline]
    pub(crate) fn get<'a>(self, call: &'a Call, name: &'static str) -> Result<&'a T, ArgumentError> {
        let counted = [TypeId::of::<Reader>(), TypeId::of::<EncryptWith>(), TypeId::of::<DecryptWith>()];
        if counted.contains(&TypeId::of::<T>()) && !self.0.is_null() {
            // SAFETY: the header requires a handle of this type that `Owned::new` made and that
            // nobody has freed yet.
            let held = unsafe {
                Arc::increment_strong_count(self.0);
                Arc::from_raw(self.0)
            };
            call.0.borrow_mut().push(held);
        }
        // SAFETY: the header requires null or a live handle of this type from an earlier call. It
        // stays alive during the call, because nobody may free it, or because the call holds it.
        unsafe { self.0.as_ref() }.ok_or(ArgumentError::Null { name })
    }
}
