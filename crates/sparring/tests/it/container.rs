//! Shared containers, in real containers. `cargo xtask containers` starts podman for
//! these tests; without it they are skipped.

use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

use serde_json::json;
use sparring::fixture::{Image, SharedContainer, SharedContainerError};
use sparring::{ChildTarget, Client, Project, or_skip, skip};

use crate::subprocess::{SUBPROCESS, is_subprocess, subprocess};

/// Lets podman run without raising limits and without a network.
const FLAGS: [&str; 5] =
    ["--network", "none", "--ulimit=nofile=1024:20000", "--ulimit=nproc=1000:1000", "--init=false"];

/// The variable with the folder that a subprocess builds its image from.
const FOLDER: &str = "SPARRING_TEST_IMAGE";

async fn container() -> Result<SharedContainer, SharedContainerError> {
    let image = Image::folder(std::env::var(FOLDER).unwrap());
    SharedContainer::builder(image).flags(FLAGS).command(["sleep", "infinity"]).start().await
}

/// Extends the image of `cargo xtask containers` by a unique file.
fn image() -> Project {
    let marker = format!("{:?}", std::time::SystemTime::now());
    let project = Project::new().file("marker", marker);
    project.file("Dockerfile", "FROM localhost/spar-bare\nCOPY marker /marker\n")
}

fn engine() -> Option<Vec<String>> {
    std::env::var("SPAR_CONTAINER_ENGINE").ok().map(|words| shlex::split(&words).unwrap())
}

/// Runs the engine and returns its stdout.
fn run_engine(words: &[&str]) -> String {
    let engine = engine().unwrap();
    let output = Command::new(&engine[0]).args(&engine[1..]).args(words).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Lists the shared containers, running or not.
fn list_containers(name: &str) -> String {
    run_engine(&["ps", "--all", "--quiet", "--filter", &format!("name={name}")])
}

/// The prefix of the lines that a subprocess reports to its test.
const REPORT: &str = "report: ";

/// A test run, killed on drop.
struct Runner(Child);

impl Drop for Runner {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Starts a runner that runs one test in several processes.
fn start_runner(test: &str, run: &str, folder: &Project, processes: usize) -> Runner {
    start_runner_with(test, run, folder, processes, |_| {})
}

/// Starts a runner, after a change of its command.
fn start_runner_with(
    test: &str,
    run: &str,
    folder: &Project,
    processes: usize,
    change: impl FnOnce(&mut Command),
) -> Runner {
    let exe = subprocess(test).get_program().to_string_lossy().into_owned();
    let script = "n=$1; shift; while [ $n -gt 0 ]; do \"$@\" & n=$((n-1)); done; wait; \
                  echo finished; exec sleep 300";
    let mut runner = Command::new("sh");
    runner.args(["-c", script, "runner", &processes.to_string(), &exe]);
    runner.args([test, "--exact", "--nocapture"]);
    runner.env(SUBPROCESS, "1").env_remove("CI").env("RUST_BACKTRACE", "0");
    runner.env("NEXTEST_RUN_ID", run).env(FOLDER, folder.path());
    change(&mut runner);
    Runner(runner.stdout(Stdio::piped()).process_group(0).spawn().unwrap())
}

/// Returns the reports of a runner's processes, when all have ended.
fn read_reports(runner: &mut Runner) -> Vec<String> {
    use std::io::BufRead as _;

    let stdout = std::io::BufReader::new(runner.0.stdout.take().unwrap());
    let lines = stdout.lines().map(Result::unwrap).take_while(|line| line != "finished");
    let reports =
        lines.filter_map(|line| line.split_once(REPORT).map(|(_, it)| it.trim().to_owned()));
    reports.collect()
}

#[expect(clippy::print_stdout, reason = "a subprocess reports to its test")]
async fn report_container() {
    let container = or_skip!(container().await);
    let server = container.exec(ChildTarget::new("server"));
    let client = Client::connect(server).await.unwrap();
    let response = client.call_tool("echo", json!({"message": "hi"})).await.unwrap();
    assert_eq!(response.content(), "hi");
    client.close().await;
    let id = run_engine(&["inspect", "--format", "{{.Id}}", container.name()]);
    println!("{REPORT}{} {}", container.name(), id.trim());
}

const ONCE: &str = "container::the_processes_of_a_run_share_a_container_that_ends_with_it";

#[tokio::test]
async fn the_processes_of_a_run_share_a_container_that_ends_with_it() {
    if is_subprocess() {
        return report_container().await;
    }
    if engine().is_none() {
        skip!("no containers are running; run `cargo xtask containers`")
    }
    let folder = image();
    let run = format!("once-{}", std::process::id());
    let mut runner = start_runner(ONCE, &run, &folder, 4);
    let mut reports = read_reports(&mut runner);
    assert_eq!(reports.len(), 4, "{reports:?}");
    reports.dedup();
    assert_eq!(reports.len(), 1, "{reports:?}");
    let name = reports[0].split(' ').next().unwrap();
    assert_eq!(list_containers(name).lines().count(), 1);
    // Kills the run by SIGKILL.
    drop(runner);
    while !list_containers(name).is_empty() {
        tokio::task::yield_now().await;
    }
}

/// Makes a container wait for its first health check, which the test runs.
const HEALTH: [&str; 2] = [r#"--health-cmd=["/bin/sleep","0"]"#, "--health-interval=disable"];

const STAGES: &str = "
FROM localhost/spar-shell AS base
COPY marker /marker
FROM base AS test
ENV STAGE=test
FROM base AS broken
COPY no-such-file /
";

/// Reads the mounted file, the copied file and the environment, and tries to change the mounted
/// file.
const LOOK: &str = "read a < /docs/start.txt; read b < /marker; echo \"$a $b $STAGE $WORD\"; \
                    (echo x > /docs/start.txt) 2> /dev/null || echo not written";

#[expect(clippy::print_stdout, reason = "a subprocess reports to its test")]
async fn report_contents() {
    let folder = std::path::PathBuf::from(std::env::var(FOLDER).unwrap());
    let image = Image::folder(&folder).file(folder.join("images/Stages")).target("test");
    let container = SharedContainer::builder(image)
        .flags(FLAGS)
        .flags(HEALTH)
        .env("WORD", "milk")
        .mount_read_only(folder.join("docs"), "/docs")
        .command(["sleep", "infinity"]);
    let container = or_skip!(container.start().await);
    let seen = run_engine(&["exec", container.name(), "sh", "-c", LOOK]);
    println!("{REPORT}{}", seen.trim().replace('\n', ", "));
}

const STAGED: &str =
    "container::an_image_is_built_once_from_context_file_and_target_and_a_container_is_awaited";

#[tokio::test]
async fn an_image_is_built_once_from_context_file_and_target_and_a_container_is_awaited() {
    if is_subprocess() {
        return report_contents().await;
    }
    let Some(engine) = engine() else {
        skip!("no containers are running; run `cargo xtask containers`")
    };
    let folder = image().file("images/Stages", STAGES).file("docs/start.txt", "start\n");
    folder.write("marker", "copied\n");
    // Logs the commands of the engine.
    let (script, log) = (folder.join("engine"), folder.join("log"));
    let engine = shlex::try_join(engine.iter().map(String::as_str)).unwrap();
    let lines = format!("echo \"$*\" >> '{}'\nexec {engine} \"$@\"\n", log.display());
    folder.write("engine", lines);
    let run = format!("staged-{}", std::process::id());
    let mut runner = start_runner_with(STAGED, &run, &folder, 3, |runner| {
        runner.env("SPAR_CONTAINER_ENGINE", format!("sh {}", script.display()));
    });
    // Waits until the state of the running container was requested several times.
    let (name, logged) = loop {
        let logged = std::fs::read_to_string(&log).unwrap_or_default();
        let started = logged.split_once("run --detach --name ");
        match started.and_then(|(_, rest)| rest.split_once(' ')) {
            Some((name, rest)) if rest.matches("inspect").count() >= 3 => {
                break (name.to_owned(), logged.clone());
            }
            _ => tokio::task::yield_now().await,
        }
    };
    assert!(!logged.contains("exec "), "{logged}");
    run_engine(&["healthcheck", "run", &name]);
    let reports = read_reports(&mut runner);
    assert_eq!(reports, ["start copied test milk, not written"; 3]);
    let logged = std::fs::read_to_string(&log).unwrap();
    let builds = logged.lines().filter(|line| line.starts_with("build "));
    assert_eq!(builds.count(), 1, "{logged}");
}

const BROKEN: &str = "container::a_failed_start_is_reported_and_not_repeated";

#[tokio::test]
#[expect(clippy::print_stdout, reason = "a subprocess reports to its test")]
async fn a_failed_start_is_reported_and_not_repeated() {
    if is_subprocess() {
        for _ in 0..2 {
            let error = container().await.unwrap_err();
            assert_eq!(error.reason_to_skip(), None, "{error}");
            println!("{REPORT}{error}");
        }
        return;
    }
    if engine().is_none() {
        skip!("no containers are running; run `cargo xtask containers`")
    }
    let folder = image();
    folder.write("Dockerfile", "FROM localhost/spar-bare\nCOPY no-such-file /\n");
    let mut runner = start_runner(BROKEN, &format!("broken-{}", std::process::id()), &folder, 1);
    let reports = read_reports(&mut runner);
    assert_eq!(reports.len(), 2, "{reports:?}");
    assert!(reports[0].contains("cannot build image"), "{reports:?}");
    assert!(reports[0].contains("no-such-file"), "{reports:?}");
    assert_eq!(reports[0], reports[1]);
}

const NONE: &str = "container::a_missing_engine_is_a_reason_to_skip";

#[tokio::test]
#[expect(clippy::print_stdout, reason = "a subprocess reports to its test")]
async fn a_missing_engine_is_a_reason_to_skip() {
    if is_subprocess() {
        let error = SharedContainer::builder(Image::named("any")).start().await.unwrap_err();
        println!("{REPORT}{}", error.reason_to_skip().unwrap());
        return;
    }
    let mut none = subprocess(NONE);
    none.env("PATH", "/nowhere").env_remove("SPAR_CONTAINER_ENGINE");
    let output = none.output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let expected = "no container engine works: container engine not found: neither docker nor \
                    podman is on PATH";
    assert!(stdout.contains(&format!("{REPORT}{expected}\n")), "{stdout}");
    let named =
        subprocess(NONE).env("SPAR_CONTAINER_ENGINE", "/no/engine --flag").output().unwrap();
    let stdout = String::from_utf8_lossy(&named.stdout).into_owned();
    assert!(stdout.contains("container engine not found: /no/engine\n"), "{stdout}");
}
