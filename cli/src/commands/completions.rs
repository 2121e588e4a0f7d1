//! `sealane completions`: prints a completion script for a shell.

use crate::prelude::*;
use clap_complete::Shell;

/// Print a completion script for a shell
#[derive(Args)]
#[command(after_help = "\
Examples:
  sealane completions bash > ~/.local/share/bash-completion/completions/sealane
  sealane completions fish > ~/.config/fish/completions/sealane.fish")]
pub(crate) struct Completions {
    #[arg(value_name = "SHELL", value_enum)]
    shell: Shell,
}

impl Run for Completions {
    fn run(&self, context: &Context<'_>) -> Result<()> {
        // Collected in memory: the generator panics if it cannot write.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut (context.program)(), "sealane", &mut script);
        context.console.print(&String::from_utf8_lossy(&script))
    }
}
