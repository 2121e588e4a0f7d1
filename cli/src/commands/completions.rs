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
        context.console.print(&with_references(self.shell, &String::from_utf8_lossy(&script)))
    }
}

/// Offers the beginnings of references to keys beside files: `clap_complete` has no hint for them.
fn with_references(shell: Shell, script: &str) -> String {
    // In bash, an option's name is on a line before its files, and its help is absent.
    let (mut named, mut wraps) = (false, false);
    let mut text = String::new();
    for line in script.lines() {
        let is_key = ["-k)", "--key)", "--wrapping-key)", "-k+[", "--key=[", "--wrapping-key=[", "-l key "];
        let is_key = is_key.iter().any(|part| line.contains(part));
        if shell != Shell::Bash {
            (named, wraps) = (is_key, line.contains("aws-kms"));
        } else if line.contains(" opts=") {
            wraps = line.contains("--wrapping-key");
        } else if line.ends_with(')') && line.trim_start().starts_with('-') {
            named = is_key;
        }
        let words = if wraps { "env: aws-kms: vault: pkcs11:" } else { "env:" };
        text += &match shell {
            _ if !named => line.to_owned(),
            Shell::Bash => line
                .replace(
                    "-f \"${cur}\")",
                    &format!("-f \"${{cur}}\") $(IFS=' ' compgen -W '{words}' -- \"${{cur}}\")"),
                )
                .replace("-o filenames", "-o filenames; [[ ${COMPREPLY[0]} != *: ]] || compopt -o nospace"),
            Shell::Zsh => {
                let words = words.replace(':', "\\:");
                line.replace(":_files'", &format!(":{{_files; compadd -S \"\" -- {words}}}'"))
            }
            _ => line.replace(" -r -F", &format!(" -r -F -a '{words}'")),
        };
        text.push('\n');
    }
    text
}
