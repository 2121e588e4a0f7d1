//! What many files of this crate use: names of other crates, and what every command is given. The
//! files that define the latter cannot use it: no two files may need each other.

pub(crate) use crate::command::{Context, Run};
pub(crate) use crate::console::Console;
pub(crate) use crate::error::{Failure, Kind, Result, name};
pub(crate) use clap::{Args, ValueHint};
pub(crate) use sealane::Error;
pub(crate) use serde_json::{Value, json};
pub(crate) use std::ffi::{OsStr, OsString};
pub(crate) use std::io::{self, Read, Write};
pub(crate) use std::path::{Path, PathBuf};
pub(crate) use std::sync::atomic::Ordering;
pub(crate) use std::{fs::File, sync::Arc};
pub(crate) use zeroize::Zeroizing;
