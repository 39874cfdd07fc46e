//! `spar completions`: prints completion scripts for shells, and writes the man pages.
//!
//! clap_complete and clap_mangen generate both from the `Command` that parses the
//! arguments, so both have exactly its flags.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, ColorChoice};
use clap_complete::Shell;

use crate::args::{OutputFlags, Spar};
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::output::Printer;

const USAGE: &str = "spar completions (<SHELL> | --man <DIR>)";

const EXAMPLES: &str = "\
Examples:
  spar completions bash > ~/.local/share/bash-completion/completions/spar
  spar completions zsh > ~/.zfunc/_spar
  spar completions fish > ~/.config/fish/completions/spar.fish
  spar completions --man ~/.local/share/man/man1

zsh reads ~/.zfunc if ~/.zshrc has
  fpath+=~/.zfunc; autoload -Uz compinit; compinit";

/// Print a completion script for a shell, or write the man pages
#[derive(Args)]
#[command(after_long_help = EXAMPLES, override_usage = USAGE)]
pub(crate) struct Completions {
    /// The shell
    #[arg(required_unless_present = "man", conflicts_with = "man")]
    shell: Option<Shell>,

    /// Write the man pages, one for spar and one for each verb, to this directory;
    /// creates it if needed
    #[arg(long, value_name = "DIR")]
    man: Option<PathBuf>,
}

impl Completions {
    pub(crate) fn output_flags(&self) -> OutputFlags {
        OutputFlags { json: false, quiet: false, color: ColorChoice::Never }
    }

    /// Prints the script, or writes the man pages.
    pub(crate) async fn run(&self, printer: &Printer) -> Result<Exit, CommandError> {
        if let Some(folder) = &self.man {
            let shown = folder.display();
            write_man_pages(folder).map_err(|error| {
                CommandError::File(format!("cannot write man pages to {shown}: {error}"))
            })?;
            printer.note(&format!("wrote the man pages to {shown}")).await;
        }
        if let Some(shell) = self.shell {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Spar::build_command(), "spar", &mut script);
            printer.print_untrusted(&script).await?;
        }
        Ok(Exit::Success)
    }
}

fn write_man_pages(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    clap_mangen::generate_to(Spar::build_command(), folder)
}
