//! Runs the development tasks of this repository: `cargo xtask VERB`.
//!
//! Only this file reads the arguments and the environment. Each verb has its own
//! file.

use std::path::Path;
use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use clap::{Parser, Subcommand};

mod agents;
mod bench;
mod command;
mod conformance;
mod containers;
mod deny;
mod fuzz;
mod peers;
mod public_api;
mod scratch;
mod servers;
mod soak;
mod test;
mod tidy;

const ENVIRONMENT_HELP: &str = "\
Environment:
  SPAR_SPEC_DIR  The folder with the schemas of the specification. If it is not set,
                 the tests that need them are skipped.
  SPAR_CHROMIUM  The browser for the tests of the HTML report [default: the
                 Chromium on PATH]. Without a browser they are skipped.
  CI             If it is set, skipping a test is a failure.";

/// Run the development tasks of this repository
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", after_help = ENVIRONMENT_HELP)]
#[command(subcommand_value_name = "VERB", subcommand_help_heading = "Verbs")]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

/// The tasks.
#[derive(Debug, PartialEq, Subcommand)]
enum Verb {
    /// Run all checks: format, lints, tests, conformance, doc tests, examples, scratch,
    /// docs, public-api, tidy
    Test,
    /// Install other implementations of the protocol and run the tests against them
    Peers,
    /// Install agents and run the suites in `examples/agents` with them
    Agents {
        /// The agent to run [default: all]
        #[arg(value_name = "NAME")]
        only: Option<String>,
    },
    /// Run the official conformance suite on our client and our servers
    Conformance,
    /// Run the tests in real containers, with podman
    Containers,
    /// Run the first Rust tests of docs/library.md in crates outside the workspace
    Scratch,
    /// Compare the public API of the library with the list in
    /// `crates/sparring/public-api.txt`
    PublicApi {
        /// Update the list instead
        #[arg(long)]
        bless: bool,
    },
    /// Check the repository rules that the compiler does not check
    Tidy,
    /// Check the licences, versions and sources of all dependencies, with cargo-deny
    Deny,
    /// Run the benchmarks, on one core if possible
    Bench {
        /// The benchmark to run [default: all]
        #[arg(value_name = "NAME", value_parser = PossibleValuesParser::new(bench::names()))]
        only: Option<String>,
    },
    /// Install real servers and check them with `spar check`
    Servers {
        /// The server to check [default: all]
        #[arg(value_name = "NAME", value_parser = PossibleValuesParser::new(servers::names()))]
        only: Option<String>,
        /// Accept the present findings, with empty reasons for new ones
        #[arg(long)]
        accept: bool,
        /// Write a suite for each server and revision with `spar init`, and run it, instead
        #[arg(long, conflicts_with = "accept")]
        suites: bool,
    },
    /// Run a mock and a gateway under good and hostile clients
    Soak {
        /// The number of seconds with hostile clients; each server gets half of that time
        #[arg(default_value_t = 1_200, value_parser = clap::value_parser!(u32).range(1..))]
        seconds: u32,
    },
    /// Fuzz the parsers of foreign data
    Fuzz {
        /// The number of seconds to fuzz
        // libFuzzer treats 0 as no limit, so 0 is not allowed.
        #[arg(default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
        seconds: u32,

        /// The target to fuzz [default: all, one after the other]
        #[arg(value_name = "TARGET", value_parser = PossibleValuesParser::new(fuzz::names()))]
        only: Option<String>,
    },
}

fn main() -> ExitCode {
    // Invalid arguments exit here with code 2.
    let Arguments { verb } = Arguments::parse();
    run(&verb).unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

fn run(verb: &Verb) -> anyhow::Result<ExitCode> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask is a folder in the workspace root");
    match verb {
        Verb::Test => {
            let settings = test::Settings {
                has_spec: is_set("SPAR_SPEC_DIR"),
                has_browser: is_set("SPAR_CHROMIUM") || command::has_chromium(),
                ci: is_set("CI"),
            };
            test::run(root, settings)?
        }
        Verb::Peers => peers::run(root, is_set("CI"))?,
        Verb::Agents { only } => agents::run(root, only.as_deref())?,
        Verb::Conformance => conformance::run(root, is_set("CI"))?,
        Verb::Containers => containers::run(root, is_set("CI"))?,
        Verb::Scratch => scratch::run(root)?,
        Verb::PublicApi { bless } => public_api::run(root, *bless)?,
        Verb::Tidy => tidy::run(root)?,
        Verb::Deny => deny::run(root)?,
        Verb::Bench { only } => return bench::run(root, only.as_deref()),
        Verb::Servers { only, accept, suites } => {
            let task = match (accept, suites) {
                (true, _) => servers::Task::Accept,
                (_, true) => servers::Task::Suites,
                _ => servers::Task::Check,
            };
            servers::run(root, only.as_deref(), task)?;
        }
        Verb::Soak { seconds } => soak::run(root, *seconds)?,
        Verb::Fuzz { seconds, only } => fuzz::run(root, *seconds, only.as_deref())?,
    }
    Ok(ExitCode::SUCCESS)
}

fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use clap::error::ErrorKind;
    use clap::{CommandFactory as _, Parser as _};

    use super::{Arguments, Verb};

    fn check(args: &[&str], expected: Result<Verb, ErrorKind>) {
        let words = ["cargo xtask"].iter().chain(args);
        let parsed = Arguments::try_parse_from(words).map(|arguments| arguments.verb);
        assert_eq!(parsed.map_err(|error| error.kind()), expected, "{args:?}");
    }

    #[test]
    fn the_arguments_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn parses_the_verbs() {
        check(&["test"], Ok(Verb::Test));
        check(&["bench"], Ok(Verb::Bench { only: None }));
        check(&["agents"], Ok(Verb::Agents { only: None }));
        check(&["agents", "codex"], Ok(Verb::Agents { only: Some("codex".to_owned()) }));
        for name in ["mock", "program"] {
            check(&["bench", name], Ok(Verb::Bench { only: Some(name.to_owned()) }));
        }
        check(&["fuzz"], Ok(Verb::Fuzz { seconds: 30, only: None }));
        let only = Some("sse".to_owned());
        check(&["fuzz", "5", "sse"], Ok(Verb::Fuzz { seconds: 5, only }));
        let servers = |only: Option<&str>, accept, suites| {
            Ok(Verb::Servers { only: only.map(str::to_owned), accept, suites })
        };
        check(&["servers"], servers(None, false, false));
        check(&["servers", "time", "--accept"], servers(Some("time"), true, false));
        check(&["servers", "--suites"], servers(None, false, true));
        check(&["soak"], Ok(Verb::Soak { seconds: 1_200 }));
        check(&["soak", "60"], Ok(Verb::Soak { seconds: 60 }));
        check(&["public-api"], Ok(Verb::PublicApi { bless: false }));
        check(&["public-api", "--bless"], Ok(Verb::PublicApi { bless: true }));
        for help in ["help", "--help", "-h"] {
            check(&[help], Err(ErrorKind::DisplayHelp));
        }
    }

    #[test]
    fn rejects_unknown_arguments() {
        check(&[], Err(ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand));
        check(&["tets"], Err(ErrorKind::InvalidSubcommand));
        check(&["test", "--fast"], Err(ErrorKind::UnknownArgument));
        check(&["public-api", "--bles"], Err(ErrorKind::UnknownArgument));
        check(&["bench", "moc"], Err(ErrorKind::InvalidValue));
        check(&["bench", "mock", "calls"], Err(ErrorKind::UnknownArgument));
        check(&["servers", "clock"], Err(ErrorKind::InvalidValue));
        check(&["servers", "--accept", "--suites"], Err(ErrorKind::ArgumentConflict));
        check(&["fuzz", "0"], Err(ErrorKind::ValueValidation));
        check(&["fuzz", "1", "2"], Err(ErrorKind::InvalidValue));
    }

    #[test]
    fn invalid_arguments_exit_with_code_2() {
        let error = Arguments::try_parse_from(["cargo xtask", "tets"]).unwrap_err();
        assert_eq!(error.exit_code(), 2);
    }
}
