//! `sealane completions`

use crate::args::{Args, Completions};
use crate::error::Failure;
use crate::tui::Console;
use clap::CommandFactory;

pub(crate) fn completions(args: &Completions, console: &Console) -> Result<(), Failure> {
    // Collected first: the generator panics where it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "sealane", &mut script);
    console.print(&String::from_utf8_lossy(&script))
}
