//! The program's own arguments.

use std::ffi::OsString;

use clap::{CommandFactory as _, FromArgMatches as _, Parser};

use crate::verbs::Verb;

const AFTER: &str = "\
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
  0    the target answered, and well; breaches of the protocol are notes on stderr
  1    the tool said isError, the server answered with a JSON-RPC error, the
       result breaks the tool's output schema, or a test failed
  2    bad usage, or a file or stdout that cannot be read or written
  3    the target could not be reached, crashed, took too long or answered with
       nothing usable
  4    no test ran
  130  Ctrl+C (143 SIGTERM, 129 SIGHUP)

Results go to stdout, everything else to stderr. With --json what kept a
result from coming is an object on stdout too: {\"error\":{\"kind\":…,\"message\":…}}.

--trace writes a line of JSON for each frame,
  {\"at\":…,\"from\":…,\"frame\":…,\"violations\":[…]}
and over HTTP one for each exchange at its end, with secrets hidden:
  {\"at\":…,\"exchange\":{\"method\":…,\"url\":…,\"status\":…,\"request_headers\":{…},
  \"response_headers\":{…},\"milliseconds\":{\"connect\":…,\"first_byte\":…,\"done\":…},
  \"error\":…}}

With --container the command is run by `docker exec -i` or `podman exec -i`.
When spar ends, so do the command and what it started in there: end of input,
after 1s SIGTERM, after 5s SIGKILL. They are found by the variable SPAR_EXEC that
they have in their environment, on the host or by a sh in the container; where
neither can be, a note says so. When spar is killed, the command gets the end of
its input. Values of --env stand on the engine's command line for others to see;
--container-flag=--env=NAME takes the value from spar's own environment.

HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY say which proxy a --url is
reached through.";

/// The sparring partner of the Model Context Protocol
#[derive(Parser)]
#[command(name = "spar", version, after_help = AFTER, disable_help_subcommand = true)]
#[command(subcommand_value_name = "VERB", subcommand_help_heading = "Verbs")]
pub(crate) struct Spar {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

impl Spar {
    /// Reads the arguments.
    ///
    /// # Errors
    /// When something else is to be told instead: help, or what is wrong.
    pub(crate) fn read(typed: &[OsString]) -> Result<Spar, clap::Error> {
        let matches = Spar::whole_command().try_get_matches_from(typed)?;
        Spar::from_arg_matches(&matches)
    }

    /// The command with all its verbs. Every verb with a target needs one, except
    /// `init`, which can also write a suite without a server.
    pub(crate) fn whole_command() -> clap::Command {
        Spar::command()
            .mut_subcommand("init", |init| init.mut_group("Whom", |whom| whom.required(false)))
    }
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
    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Spar::whole_command().debug_assert();
    }

    #[test]
    fn a_message_is_one_line() {
        let error = Spar::try_parse_from(["spar", "read", "--", "server"]).err().unwrap();
        assert_eq!(message(&error), "the following required arguments were not provided: <URI>");
    }
}
