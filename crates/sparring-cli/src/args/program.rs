//! The program's own arguments.

use std::ffi::OsString;

use clap::{ArgAction, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use super::OutputFlags;
use crate::verbs::{
    Agent, Check, Completions, Config, Mock, Report, Schema, Serve, Shell, TargetCommand, Test,
};

const AFTER_HELP: &str = "\
Examples:
  spar test
  spar list -- npx -y @modelcontextprotocol/server-everything
  spar call echo message=hi -- npx -y @modelcontextprotocol/server-everything
  spar call echo message=hi --url http://127.0.0.1:3001/mcp
  spar call sum a:=2 b:=3 --json -- python server.py
  spar read file:///notes.txt --unix /tmp/server.sock
  spar list --container web -- my-server --stdio
  spar call echo message=hi --server everything

Exit codes:
  0    the target returned a good result (protocol violations are notes on stderr)
  1    the tool returned isError, the server returned a JSON-RPC error, the
       result breaks the tool's output schema, or a test failed
  2    wrong arguments, or a file or stdout that cannot be read or written
  3    the target could not be reached, crashed, timed out or returned nothing
       usable
  4    no test ran
  130  Ctrl+C (143 SIGTERM, 129 SIGHUP)

Results go to stdout, everything else to stderr. With --json an error is also
printed to stdout: {\"error\":{\"kind\":…,\"message\":…}}.

--trace writes one line of JSON for each frame,
  {\"at\":…,\"from\":…,\"frame\":…,\"violations\":[…]}
and over HTTP one for each finished exchange, with secrets masked:
  {\"at\":…,\"exchange\":{\"method\":…,\"url\":…,\"status\":…,\"request_headers\":{…},
  \"response_headers\":{…},\"milliseconds\":{\"connect\":…,\"first_byte\":…,\"done\":…},
  \"error\":…}}

With --container, `docker exec -i` or `podman exec -i` runs the command. When spar
ends, it ends the command and the processes that the command started: it closes
stdin, sends SIGTERM after 1s and SIGKILL after 5s. It finds them by the variable
SPAR_EXEC in their environment, from the host or with a sh in the container, and
prints a note if neither works. When spar is killed, the command's stdin closes.
Other users can see values of --env on the engine's command line;
--container-flag=--env=NAME passes the value from spar's environment.

HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY set the proxy for --url.";

/// The headings of options that `-h` leaves out and `--help` shows.
const RARE_HEADINGS: [&str; 4] = ["Container", "HTTP", "OAuth", "Connection"];

/// The sparring partner of the Model Context Protocol
#[derive(Parser)]
#[command(name = "spar", version, after_long_help = AFTER_HELP, disable_help_subcommand = true)]
#[command(subcommand_value_name = "VERB", subcommand_help_heading = "Verbs")]
pub(crate) struct Spar {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// The verb and its arguments.
#[derive(Subcommand)]
#[expect(clippy::large_enum_variant, reason = "there is one value, and it is moved once")]
pub(crate) enum Verb {
    Test(Test),
    Check(Box<Check>),
    #[command(flatten)]
    Target(TargetCommand),
    Mock(Mock),
    Agent(Box<Agent>),
    Serve(Serve),
    Report(Report),
    Shell(Shell),
    Config(Config),
    Schema(Schema),
    Completions(Completions),
}

impl Verb {
    /// The output flags of the verb.
    pub(crate) fn output_flags(&self) -> OutputFlags {
        match self {
            Verb::Test(test) => test.output_flags(),
            Verb::Check(check) => check.output_flags(),
            Verb::Target(command) => command.flags().output_flags.clone(),
            Verb::Mock(mock) => mock.output_flags.clone(),
            Verb::Agent(agent) => agent.output_flags(),
            Verb::Serve(serve) => serve.output_flags.clone(),
            Verb::Report(report) => report.output_flags(),
            Verb::Shell(shell) => shell.output_flags(),
            Verb::Config(config) => config.output_flags(),
            Verb::Schema(schema) => schema.output_flags(),
            Verb::Completions(completions) => completions.output_flags(),
        }
    }
}

impl Spar {
    /// Parses the arguments.
    ///
    /// # Errors
    /// When the arguments are wrong, or ask for help or the version.
    pub(crate) fn parse(arguments: &[OsString]) -> Result<Spar, clap::Error> {
        let arguments = match arguments {
            // `spar help call` is `spar call --help`.
            [program, help, verb @ ..] if help == "help" => {
                let program = std::iter::once(program.clone());
                program.chain(verb.iter().cloned()).chain(["--help".into()]).collect()
            }
            arguments => arguments.to_vec(),
        };
        let matches = Spar::build_command().try_get_matches_from(&arguments)?;
        let mut spar = Spar::from_arg_matches(&matches)?;
        if let Verb::Target(TargetCommand::Describe(describe)) = &mut spar.verb {
            describe.set_words(&arguments);
        }
        if let Verb::Check(check) = &mut spar.verb {
            check.set_words(&arguments);
        }
        Ok(spar)
    }

    /// Returns the command with all verbs. Every verb with a target requires one, except
    /// `init`, which can also write a suite without a server.
    pub(crate) fn build_command() -> clap::Command {
        let spar = Spar::command().mut_subcommand("init", |init| {
            // Suites cannot express these; `init` refuses them with the reason.
            let is_refused = |arg: &clap::Arg| {
                arg.get_help_heading() == Some("OAuth")
                    || ["unix", "basic"].contains(&arg.get_id().as_str())
            };
            init.mut_group("TargetChoice", |group| group.required(false))
                .mut_args(|arg| if is_refused(&arg) { arg.hide(true) } else { arg })
        });
        let spar = spar.mut_subcommand("check", |check| {
            // `--list` and `--explain` need no target, and several revisions can be named.
            check.mut_group("TargetChoice", |group| group.required(false)).mut_arg(
                "protocol",
                |protocol| {
                    let help =
                        "Check only this revision; may be repeated, or be a list with commas";
                    protocol.action(ArgAction::Append).value_delimiter(',').help(help)
                },
            )
        });
        spar.mut_subcommands(|verb| {
            verb.mut_args(|arg| {
                let heading = arg.get_help_heading();
                let is_rare = heading.is_some_and(|heading| RARE_HEADINGS.contains(&heading));
                arg.hide_short_help(is_rare)
            })
        })
    }
}

/// Returns the message of a parse error, in one line and without advice.
pub(crate) fn error_message(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let first = text.split("\n\n").next().unwrap_or_default();
    let words: Vec<&str> = first.trim_start_matches("error: ").split_whitespace().collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Spar::build_command().debug_assert();
    }

    #[test]
    fn help_as_a_verb_prints_the_help_of_another_verb() {
        let help = |words: &[&str]| {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            Spar::parse(&words).err().unwrap().to_string()
        };
        assert_eq!(help(&["spar", "help"]), help(&["spar", "--help"]));
        assert_eq!(help(&["spar", "help", "call"]), help(&["spar", "call", "--help"]));
        assert!(help(&["spar", "help", "nope"]).contains("unrecognized subcommand 'nope'"));
    }

    #[test]
    fn a_message_is_one_line() {
        let error = Spar::try_parse_from(["spar", "read", "--", "server"]).err().unwrap();
        assert_eq!(
            error_message(&error),
            "the following required arguments were not provided: <URI>"
        );
    }
}
