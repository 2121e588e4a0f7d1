//! Tests of what works on folders: jobs, inventories and encrypted names.
#![cfg(unix)]

mod inventories;
mod jobs;
mod names;
