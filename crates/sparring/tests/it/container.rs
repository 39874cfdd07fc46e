//! One container for a whole run, in real containers: `cargo xtask containers`
//! starts podman for it, and elsewhere it is skipped.

use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

use serde_json::json;
use sparring::fixture::{Image, NoContainer, SharedContainer};
use sparring::{ChildTarget, Client, Project, or_skip, skip};

use crate::again::{INNER, inner, is_inner};

/// What podman needs where limits cannot be raised and no network is set up.
const FLAGS: [&str; 5] =
    ["--network", "none", "--ulimit=nofile=1024:20000", "--ulimit=nproc=1000:1000", "--init=false"];

/// Where an inner test finds the folder that its image is built of.
const FOLDER: &str = "SPARRING_TEST_IMAGE";

async fn container() -> Result<SharedContainer, NoContainer> {
    let image = Image::folder(std::env::var(FOLDER).unwrap());
    SharedContainer::of(image).flags(FLAGS).command(["sleep", "infinity"]).start().await
}

/// The image of `cargo xtask containers` with a file of the test's own.
fn image() -> Project {
    let marker = format!("{:?}", std::time::SystemTime::now());
    let project = Project::new().file("marker", marker);
    project.file("Dockerfile", "FROM localhost/spar-bare\nCOPY marker /marker\n")
}

fn engine() -> Option<Vec<String>> {
    std::env::var("SPAR_CONTAINER_ENGINE").ok().map(|words| shlex::split(&words).unwrap())
}

/// Runs the engine, and gives what it says.
fn ask(words: &[&str]) -> String {
    let engine = engine().unwrap();
    let output = Command::new(&engine[0]).args(&engine[1..]).args(words).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The shared containers there are, running or not.
fn shared(name: &str) -> String {
    ask(&["ps", "--all", "--quiet", "--filter", &format!("name={name}")])
}

const TOLD: &str = "the container is ";

/// A run of its own, until this is dropped.
struct Runner(Child);

impl Drop for Runner {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// A runner with as many processes of one test.
fn runner(test: &str, run: &str, folder: &Project, processes: usize) -> Runner {
    let exe = inner(test).get_program().to_string_lossy().into_owned();
    let script = "n=$1; shift; while [ $n -gt 0 ]; do \"$@\" & n=$((n-1)); done; wait; \
                  echo finished; exec sleep 300";
    let mut runner = Command::new("sh");
    runner.args(["-c", script, "runner", &processes.to_string(), &exe]);
    runner.args([test, "--exact", "--nocapture"]);
    runner.env(INNER, "1").env_remove("CI").env("RUST_BACKTRACE", "0");
    runner.env("NEXTEST_RUN_ID", run).env(FOLDER, folder.path());
    Runner(runner.stdout(Stdio::piped()).process_group(0).spawn().unwrap())
}

/// What the processes of a runner were told, when all have ended.
fn told(runner: &mut Runner) -> Vec<String> {
    use std::io::BufRead as _;

    let stdout = std::io::BufReader::new(runner.0.stdout.take().unwrap());
    let lines = stdout.lines().map(Result::unwrap).take_while(|line| line != "finished");
    let told =
        lines.filter_map(|line| line.split_once(TOLD).map(|(_, told)| told.trim().to_owned()));
    told.collect()
}

#[expect(clippy::print_stdout, reason = "how an inner test tells the outer one")]
async fn tell() {
    let container = or_skip!(container().await);
    let server = container.exec(ChildTarget::new("server"));
    let client = Client::connect(server).await.unwrap();
    let response = client.call_tool("echo", json!({"message": "hi"})).await.unwrap();
    assert_eq!(response.content(), "hi");
    client.close().await;
    let id = ask(&["inspect", "--format", "{{.Id}}", container.name()]);
    println!("{TOLD}{} {}", container.name(), id.trim());
}

const ONCE: &str = "container::the_processes_of_a_run_share_a_container_that_ends_with_it";

#[tokio::test]
async fn the_processes_of_a_run_share_a_container_that_ends_with_it() {
    if is_inner() {
        return tell().await;
    }
    if engine().is_none() {
        skip!("there are no containers; run `cargo xtask containers`")
    }
    let folder = image();
    let run = format!("once-{}", std::process::id());
    let mut runner = runner(ONCE, &run, &folder, 4);
    let mut told = told(&mut runner);
    assert_eq!(told.len(), 4, "{told:?}");
    told.dedup();
    assert_eq!(told.len(), 1, "{told:?}");
    let name = told[0].split(' ').next().unwrap();
    assert_eq!(shared(name).lines().count(), 1);
    // By SIGKILL, since a run may end in any way.
    drop(runner);
    while !shared(name).is_empty() {
        tokio::task::yield_now().await;
    }
}

const BROKEN: &str = "container::a_container_that_cannot_be_had_is_told_and_not_tried_again";

#[tokio::test]
#[expect(clippy::print_stdout, reason = "how an inner test tells the outer one")]
async fn a_container_that_cannot_be_had_is_told_and_not_tried_again() {
    if is_inner() {
        for _ in 0..2 {
            let error = container().await.unwrap_err();
            assert_eq!(error.reason_to_skip(), None, "{error}");
            println!("{TOLD}{error}");
        }
        return;
    }
    if engine().is_none() {
        skip!("there are no containers; run `cargo xtask containers`")
    }
    let folder = image();
    folder.write("Dockerfile", "FROM localhost/spar-bare\nCOPY no-such-file /\n");
    let mut runner = runner(BROKEN, &format!("broken-{}", std::process::id()), &folder, 1);
    let told = told(&mut runner);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("cannot be built") && told[0].contains("no-such-file"), "{told:?}");
    assert_eq!(told[0], told[1]);
}

const NONE: &str = "container::without_an_engine_there_is_a_reason_to_skip";

#[tokio::test]
#[expect(clippy::print_stdout, reason = "how an inner test tells the outer one")]
async fn without_an_engine_there_is_a_reason_to_skip() {
    if is_inner() {
        let error = SharedContainer::of(Image::named("any")).start().await.unwrap_err();
        println!("{TOLD}{}", error.reason_to_skip().unwrap());
        return;
    }
    let mut none = inner(NONE);
    none.env("PATH", "/nowhere").env_remove("SPAR_CONTAINER_ENGINE");
    let output = none.output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let expected = "no container engine works here: container engine not found: neither docker \
                    nor podman is on PATH";
    assert!(told.contains(&format!("{TOLD}{expected}\n")), "{told}");
    let named = inner(NONE).env("SPAR_CONTAINER_ENGINE", "/no/engine --flag").output().unwrap();
    let told = String::from_utf8_lossy(&named.stdout).into_owned();
    assert!(told.contains("container engine not found: /no/engine\n"), "{told}");
}
