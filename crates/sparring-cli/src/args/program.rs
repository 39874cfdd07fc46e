//! The program's own arguments.

use clap::Parser;

use crate::verbs::Verb;

const AFTER: &str = "\
Examples:
  spar list -- npx -y @modelcontextprotocol/server-everything
  spar call echo message=hi -- npx -y @modelcontextprotocol/server-everything
  spar call sum a:=2 b:=3 --json -- python server.py
  spar read file:///notes.txt --unix /tmp/server.sock

Exit codes:
  0    the target answered, and well; breaches of the protocol are notes on stderr
  1    the tool said isError, the server answered with a JSON-RPC error, or the
       result breaks the tool's output schema
  2    bad usage, or a file or stdout that cannot be read or written
  3    the target could not be reached, crashed, took too long or answered with
       nothing usable
  130  Ctrl+C (143 SIGTERM, 129 SIGHUP)

Results go to stdout, everything else to stderr. With --json what kept a
result from coming is an object on stdout too: {\"error\":{\"kind\":…,\"message\":…}}.";

/// The sparring partner of the Model Context Protocol
#[derive(Parser)]
#[command(name = "spar", version, after_help = AFTER, disable_help_subcommand = true)]
#[command(subcommand_value_name = "VERB", subcommand_help_heading = "Verbs")]
pub(crate) struct Spar {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// What is wrong with the arguments, in one line and without advice.
pub(crate) fn message(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let first = text.split("\n\n").next().unwrap_or_default();
    let words: Vec<&str> = first.trim_start_matches("error: ").split_whitespace().collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Spar::command().debug_assert();
    }

    #[test]
    fn a_message_is_one_line() {
        let error = Spar::try_parse_from(["spar", "read", "--", "server"]).err().unwrap();
        assert_eq!(message(&error), "the following required arguments were not provided: <URI>");
    }
}
