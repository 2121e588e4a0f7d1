//! `sealane man`: writes the manual pages of all commands.

use crate::prelude::*;
use clap::Command;
use sealane::file::{Durability, OutputFile};
use std::fs;

/// Write the manual pages of all commands to a folder
///
/// Writes 'sealane.1' and one page per command, such as 'sealane-encrypt.1'. man finds them in a
/// folder 'man1' of its search path, such as /usr/local/share/man/man1.
#[derive(Args)]
#[command(after_help = "\
Examples:
  sealane man ~/.local/share/man/man1
  sealane man pages")]
pub(crate) struct Man {
    /// Folder for the pages, created if missing. Existing pages are replaced
    #[arg(value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    folder: PathBuf,
}

impl Run for Man {
    fn run(&self, context: &Context<'_>) -> Result<()> {
        // The page of the program would name one for 'help'.
        let mut program = (context.program)().disable_help_subcommand(true);
        // Fills in the usage lines and the names of the commands.
        program.build();
        fs::create_dir_all(&self.folder).map_err(|e| Failure::io(&name(&self.folder), &e))?;
        pages(&program, "sealane", &self.folder)
    }
}

/// Writes the pages of a command and its subcommands, such as `sealane-keyring-add.1`.
fn pages(command: &Command, page: &str, folder: &Path) -> Result<()> {
    let path = folder.join(format!("{page}.1"));
    let about = |error| Failure::about(&name(&path), error);
    let mut text = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut text).map_err(|e| Failure::io(&name(&path), &e))?;
    let mut file = OutputFile::create(&path).map_err(about)?;
    file.write_all(&text).map_err(|e| Failure::io(&name(&path), &e))?;
    file.finish(Durability::Cached).map_err(about)?;
    for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
        pages(inner, &format!("{page}-{}", inner.get_name()), folder)?;
    }
    Ok(())
}
