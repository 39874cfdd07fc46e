//! The tests of the target `golden`: one for each case of each transcript.

use std::fs;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};
use snapbox::Data;
use snapbox::report::{Palette, write_diff};

use crate::filters::filter;
use crate::process::{SPAR, output};
use crate::transcript::{Case, Outcome, Transcript, files, golden, is_transcript, transcripts};
use crate::web::{Bridge, HttpKind, Scripted};

/// The end of the commands that use the shared server over stdio.
const SHARED_SERVER: &str = " -- sh ../server.sh";

/// The verbs must print the same over each of these as over stdio.
const OVER_HTTP: [(&str, HttpKind); 3] = [
    ("over-http", HttpKind::Json),
    ("over-http-events", HttpKind::Events),
    ("over-sse", HttpKind::Old),
];

/// Runs the tests that the arguments ask for.
pub(crate) fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    // nextest starts a process for each case: it need not read all transcripts.
    let one = arguments.filter.as_deref().filter(|_| arguments.exact);
    let is_wanted = |path: &PathBuf| one.is_none_or(|name| name.starts_with(&topic_of(path)));
    let wanted = transcripts().into_iter().filter(is_wanted);
    let mut trials: Vec<Trial> = wanted.flat_map(|path| trials_of(&path)).collect();
    trials.push(Trial::test("every-fixture-is-used", every_fixture_is_used));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// The tests of a transcript; one that fails if it cannot be parsed.
fn trials_of(path: &Path) -> Vec<Trial> {
    let topic = topic_of(path);
    let transcript = match Transcript::read(path) {
        Ok(transcript) => transcript,
        Err(error) => return vec![Trial::test(topic, || Err(error.into()))],
    };
    let path: Arc<Path> = path.into();
    let mut trials = Vec::new();
    for case in transcript.cases {
        let name = format!("{topic}::{}", case.name);
        let case = Arc::new(case);
        for (suffix, way) in OVER_HTTP {
            if topic.starts_with("verbs::") && can_run_over(way, &case) {
                let (path, case) = (path.clone(), case.clone());
                let run = move || check_over(way, &path, &case);
                let trial = Trial::test(format!("{name}::{suffix}"), run);
                // The transcript that it is compared with is being rewritten.
                trials.push(trial.with_ignored_flag(rewrites()));
            }
        }
        let path = path.clone();
        trials.push(Trial::test(name, move || check(&path, &case)));
    }
    trials
}

/// The name of a transcript in the names of its tests: `mock/calls.txt` is
/// `mock::calls`, and `steps/steps.txt` is `steps`.
fn topic_of(path: &Path) -> String {
    let path = path.strip_prefix(golden()).unwrap().with_extension("");
    let mut parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    parts.dedup();
    parts.join("::")
}

/// Returns true if transcripts are rewritten instead of compared.
fn rewrites() -> bool {
    std::env::var_os("SPAR_BLESS").is_some()
}

/// Runs a case. If the outcome differs, the case fails or the transcript is rewritten.
fn check(path: &Path, case: &Case) -> Result<(), Failed> {
    let found = run(path, case, &case.command);
    match compare(path, case, &found) {
        Err(_) if rewrites() => Ok(Transcript::rewrite(path, &case.name, found)?),
        Err(difference) => {
            Err(format!("{difference}(SPAR_BLESS=1 rewrites the transcript)").into())
        }
        Ok(()) => Ok(()),
    }
}

/// Returns true if the server of a case can be put behind HTTP.
fn can_run_over(way: HttpKind, case: &Case) -> bool {
    // HTTP+SSE is older than the modern revisions.
    let is_modern = way != HttpKind::Old && case.name.ends_with("-modern");
    case.command.ends_with(SHARED_SERVER) || is_modern
}

/// Runs a case with its server behind HTTP; it must print the same.
fn check_over(way: HttpKind, path: &Path, case: &Case) -> Result<(), Failed> {
    let (command, script) = case.command.split_once(" -- sh ").unwrap();
    let bridge = Bridge::start(way, script, path.parent().unwrap());
    let command = format!("{command} --url http://127.0.0.1:{}/mcp", bridge.port());
    compare(path, case, &run(path, case, &command))?;
    if bridge.is_left_clean() { Ok(()) } else { Err("the session is not ended".into()) }
}

/// Runs a command in the folder of its transcript.
fn run(path: &Path, case: &Case, command: &str) -> Outcome {
    let folder = path.parent().unwrap();
    let temporary = tempfile::tempdir().unwrap();
    let server = case.answers().map(|file| {
        let answers = fs::read_to_string(folder.join(file)).unwrap();
        Scripted::start(&answers, Some(&temporary.path().join("socket")))
    });
    let host = server.as_ref().map(|server| format!("127.0.0.1:{}", server.port()));
    let programs = Path::new(SPAR).parent().unwrap().display();
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(folder).env_clear();
    shell.env("PATH", format!("{programs}:{}", std::env::var("PATH").unwrap()));
    shell.env("TMP", temporary.path()).envs(host.as_ref().map(|host| ("HOST", host)));
    let output = output(&mut shell);
    let text = |bytes: &[u8]| {
        let text = filter(&String::from_utf8_lossy(bytes), temporary.path());
        host.as_ref().map_or(text.clone(), |host| text.replace(host, "[HOST]"))
    };
    Outcome {
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
        exit: output.status.code(),
    }
}

/// Compares an outcome with that of the transcript; an error is the difference.
fn compare(path: &Path, case: &Case, found: &Outcome) -> Result<(), String> {
    let (expected, found) = (case.to_string(), case.with(found));
    if expected == found {
        return Ok(());
    }
    let is_terminal = std::io::stdout().is_terminal();
    let palette = if is_terminal { Palette::color() } else { Palette::plain() };
    let name = path.strip_prefix(golden()).unwrap().display();
    let (expected, found) = (Data::text(expected).raw(), Data::text(found).raw());
    let mut difference = String::new();
    write_diff(&mut difference, &expected, &found, Some(&name), Some(&"found"), palette).unwrap();
    Err(difference)
}

/// Fails if a fixture is named neither by a transcript or another fixture of its group
/// nor by a test of the target `it`.
fn every_fixture_is_used() -> Result<(), Failed> {
    let read = |path: PathBuf| {
        let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
        (path, text)
    };
    let tests = golden().with_file_name("it");
    let texts: Vec<_> =
        [golden(), tests.clone()].iter().flat_map(|it| files(it)).map(read).collect();
    let is_used = |fixture: &Path| {
        let below = fixture.strip_prefix(golden()).unwrap();
        let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
        let (group, names) = match &parts[..] {
            [] => (golden(), vec![]),
            [name] => (golden(), vec![name.to_string()]),
            [group, name] => (golden().join(&**group), vec![name.to_string()]),
            // A folder that a case copies or puts into `PATH`.
            [group, name, ..] => {
                (golden().join(&**group), vec![format!(" {name}/"), format!("{name}:")])
            }
        };
        texts.iter().any(|(path, text)| {
            (path.starts_with(&group) || path.starts_with(&tests))
                && path != fixture
                && names.iter().any(|name| text.contains(name))
        })
    };
    let paths = texts.iter().map(|(path, _)| path);
    let fixtures = paths.filter(|path| path.starts_with(golden()) && !is_transcript(path));
    let unused: Vec<_> = fixtures.filter(|fixture| !is_used(fixture)).collect();
    if unused.is_empty() { Ok(()) } else { Err(format!("no case uses {unused:#?}").into()) }
}
