//! The repository's chores as one program: `cargo xtask VERB`.
//!
//! This file picks the verb and is the only one that reads arguments and the
//! environment; what a verb does is in the file of its name.

use std::path::Path;
use std::process::ExitCode;

mod bench;
mod browser;
mod command;
mod conformance;
mod containers;
mod fuzz;
mod peers;
mod public_api;
mod scratch;
mod test;
mod tidy;

const USAGE: &str = "\
usage: cargo xtask VERB

  test            format, lints, tests, conformance, doc tests, examples, scratch,
                  docs, public-api, tidy
  peers           install other implementations, and only the tests against them
  conformance     only the official suite, which judges client and server
  containers      only the tests in real containers, by podman
  scratch         only the README's tests in Rust, in crates outside the workspace
  public-api [--bless]
                  what the library has in public, held against the list that is
                  kept; --bless keeps what there is now
  tidy            the rules of the repository that no compiler checks
  bench [NAME]    measure, on one core where possible: calls, stdio, http_server,
                  http_client, mock, host, gateway, memory, sql, program, weight
                  (default: all of them)
  fuzz [SECONDS]  fuzz the frame parser (default: 30 seconds)
  help            print this text

environment:
  SPAR_SPEC_DIR   folder with the specification's schemas; without it the
                  tests that need them are skipped, and fail when CI is set
  SPAR_CHROMIUM   the browser that the HTML report is tried in, unless one is on
                  the PATH; without any those tests are skipped in the same way
  CI              when set, a test that must be skipped is a failure
";

/// What the arguments ask for.
#[derive(Debug, PartialEq)]
enum Verb {
    Test,
    Peers,
    Conformance,
    Containers,
    Scratch,
    PublicApi { bless: bool },
    Tidy,
    Bench { only: Option<String> },
    Fuzz { seconds: u32 },
    Help,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let verb = match parse(&args) {
        Ok(verb) => verb,
        Err(problem) => {
            eprintln!("error: {problem}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    run(&verb).unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

fn run(verb: &Verb) -> anyhow::Result<ExitCode> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask lies in the root of the workspace");
    match verb {
        Verb::Test => {
            let settings = test::Settings {
                has_spec: is_set("SPAR_SPEC_DIR"),
                has_browser: is_set("SPAR_CHROMIUM") || browser::is_installed(),
                ci: is_set("CI"),
            };
            test::run(root, settings)?
        }
        Verb::Peers => peers::run(root, is_set("CI"))?,
        Verb::Conformance => conformance::run(root, is_set("CI"))?,
        Verb::Containers => containers::run(root, is_set("CI"))?,
        Verb::Scratch => scratch::run(root)?,
        Verb::PublicApi { bless } => public_api::run(root, *bless)?,
        Verb::Tidy => tidy::run(root)?,
        Verb::Bench { only } => return bench::run(root, only.as_deref()),
        Verb::Fuzz { seconds } => fuzz::run(root, *seconds)?,
        Verb::Help => help(),
    }
    Ok(ExitCode::SUCCESS)
}

fn parse(args: &[String]) -> Result<Verb, String> {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["test"] => Ok(Verb::Test),
        ["peers"] => Ok(Verb::Peers),
        ["conformance"] => Ok(Verb::Conformance),
        ["containers"] => Ok(Verb::Containers),
        ["scratch"] => Ok(Verb::Scratch),
        ["public-api"] => Ok(Verb::PublicApi { bless: false }),
        ["public-api", "--bless"] => Ok(Verb::PublicApi { bless: true }),
        ["tidy"] => Ok(Verb::Tidy),
        ["bench"] => Ok(Verb::Bench { only: None }),
        ["bench", name] if bench::is_known(name) => {
            Ok(Verb::Bench { only: Some((*name).to_owned()) })
        }
        ["bench", name] => Err(format!("there is no bench `{name}`")),
        ["fuzz"] => Ok(Verb::Fuzz { seconds: 30 }),
        // libFuzzer takes a limit of 0 as no limit, so it is refused.
        ["fuzz", seconds] => match seconds.parse() {
            Ok(seconds) if seconds > 0 => Ok(Verb::Fuzz { seconds }),
            _ => Err(format!("`{seconds}` is no number of seconds")),
        },
        ["help" | "--help" | "-h"] => Ok(Verb::Help),
        [] => Err("no verb given".to_owned()),
        [
            "test" | "peers" | "conformance" | "containers" | "scratch" | "public-api" | "tidy",
            extra,
            ..,
        ]
        | ["fuzz" | "bench", _, extra, ..] => Err(format!("unexpected argument `{extra}`")),
        [verb, ..] => Err(format!("unknown verb `{verb}`")),
    }
}

fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| !value.is_empty())
}

#[expect(clippy::print_stdout, reason = "the text was asked for, so it is the result")]
fn help() {
    print!("{USAGE}");
}

#[cfg(test)]
mod tests {
    use super::{Verb, parse};

    fn check(args: &[&str], expected: Result<Verb, &str>) {
        let args: Vec<String> = args.iter().map(ToString::to_string).collect();
        assert_eq!(parse(&args), expected.map_err(str::to_owned));
    }

    #[test]
    fn reads_the_verbs() {
        check(&["test"], Ok(Verb::Test));
        check(&["bench"], Ok(Verb::Bench { only: None }));
        check(&["bench", "mock"], Ok(Verb::Bench { only: Some("mock".to_owned()) }));
        check(&["fuzz"], Ok(Verb::Fuzz { seconds: 30 }));
        check(&["fuzz", "5"], Ok(Verb::Fuzz { seconds: 5 }));
        check(&["public-api"], Ok(Verb::PublicApi { bless: false }));
        check(&["public-api", "--bless"], Ok(Verb::PublicApi { bless: true }));
        check(&["--help"], Ok(Verb::Help));
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        check(&[], Err("no verb given"));
        check(&["tets"], Err("unknown verb `tets`"));
        check(&["test", "--fast"], Err("unexpected argument `--fast`"));
        check(&["public-api", "--bles"], Err("unexpected argument `--bles`"));
        check(&["bench", "moc"], Err("there is no bench `moc`"));
        check(&["bench", "mock", "calls"], Err("unexpected argument `calls`"));
        check(&["fuzz", "0"], Err("`0` is no number of seconds"));
        check(&["fuzz", "1", "2"], Err("unexpected argument `2`"));
    }
}
