//! What many files of this crate use: names of other crates, errors, schedulers and results. The
//! files that define the latter cannot use it: no two files may need each other.

pub(crate) use crate::error::{CallError, Result};
pub(crate) use crate::output::{copied, transformed, written};
pub(crate) use crate::schedule::{on_both_schedulers, on_dirty_scheduler};
pub(crate) use rustler::{Atom, Binary, Env, Resource, ResourceArc};
pub(crate) use sealane::os::path_of;
pub(crate) use sealane::{Key, file, named};
