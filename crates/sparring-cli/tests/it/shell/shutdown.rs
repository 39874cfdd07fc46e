//! Tests the end of a shell: in order, and with no process left.

use std::process::Stdio;

use rustix::process::Signal;

use super::screen::{CTRL_C, Screen};
use super::shell_folder::ShellFolder;
use crate::process::{Running, SPAR, WAIT_LIMIT, wait_until_gone};

#[test]
fn a_second_ctrl_c_at_the_prompt_ends_the_shell() {
    let shell_folder = ShellFolder::new();
    let mut screen = Screen::start(&shell_folder, &["--server", "database"]);
    screen.see("connected to database");
    screen.enter(&format!("half a line{CTRL_C}"));
    screen.see("press Ctrl+C again, Ctrl+D or type quit to exit");
    screen.enter("/mcp\r");
    screen.see("1 of 1 server connected");
    screen.enter(CTRL_C);
    screen.see("type quit to exit");
    screen.enter(CTRL_C);
    let process = shell_folder.process();
    assert_eq!(screen.end(), (Some(130), true));
    wait_until_gone(&process);
}

#[test]
fn a_signal_ends_the_shell_at_its_prompt_and_leaves_the_terminal_as_it_was() {
    for (which, exit) in [(Signal::TERM, 143), (Signal::HUP, 129)] {
        let shell_folder = ShellFolder::new();
        let mut screen =
            Screen::start(&shell_folder, &["--server", "database", "--save", "kept.json"]);
        screen.see("connected to database");
        assert!(!screen.is_in_normal_mode(), "a line is edited");
        screen.shell.signal(which);
        assert_eq!(screen.end(), (Some(exit), true));
        wait_until_gone(&shell_folder.process());
        assert!(shell_folder.file("kept.json").exists(), "what was wanted is kept");
    }
}

#[test]
fn a_second_signal_kills_a_stubborn_server() {
    let shell_folder = ShellFolder::new();
    // It answers, and then ignores the end of its input and SIGTERM.
    let stubborn = format!(
        "servers:\n  stubborn:\n    command: sh\n    args: [-c, 'trap \"\" TERM; echo $$ > pid; \
         {SPAR} mock database.mock.yaml; while :; do sleep 1; done']\n"
    );
    shell_folder.write("servers.yaml", &stubborn);
    let mut command = shell_folder.command(&[SPAR], &[]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let stdin = child.stdin.take();
    let mut shell = Running::of(child);
    std::io::Write::write_all(&mut stdin.as_ref().unwrap(), b"/mcp\n").unwrap();
    let mut first = [0; 4];
    let stdout = shell.child.stdout.as_mut().unwrap();
    std::io::Read::read_exact(stdout, &mut first).unwrap();
    assert_eq!(&first, b"1 of");
    let begun = std::time::Instant::now();
    shell.signal(Signal::INT);
    // The first signal has been handled when the child has lost its stdin.
    let id = shell.child.id().to_string();
    wait_until_mock_is_gone(&shell_folder.process());
    shell.signal(Signal::INT);
    assert_eq!(shell.exit(), Some(130));
    assert!(begun.elapsed() < WAIT_LIMIT);
    wait_until_gone(&shell_folder.process());
    wait_until_gone(&id);
}

/// Waits until a shell has no mock as a child process.
fn wait_until_mock_is_gone(parent: &str) {
    let until = std::time::Instant::now() + WAIT_LIMIT;
    loop {
        let output = std::process::Command::new("ps")
            .args(["-o", "args=", "--ppid", parent])
            .output()
            .unwrap();
        if !String::from_utf8_lossy(&output.stdout).contains("mock") {
            return;
        }
        assert!(std::time::Instant::now() < until, "the mock is still there");
    }
}
