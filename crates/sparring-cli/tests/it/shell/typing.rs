//! Tests typed input at a terminal, and the output on its screen.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use rustix::process::Signal;

use super::screen::{CTRL_C, CTRL_D, Screen, UP};
use super::shell_folder::ShellFolder;
use crate::process::{SPAR, output, signal};

#[test]
fn prints_connected_servers_above_the_prompt() {
    let shell_folder = ShellFolder::new();
    let mut screen = Screen::start(&shell_folder, &["--server", "database"]);
    screen.see("connected to database (3 tools, 1 resource)");
    screen.enter("/mcp\r");
    screen.see("1 of 1 server connected");
    screen.enter(CTRL_D);
    assert_eq!(screen.end(), (Some(0), true));
}

#[test]
fn completes_commands_servers_tools_and_their_arguments() {
    let shell_folder = ShellFolder::new();
    let mut screen = Screen::start(&shell_folder, &["--allow", "mcp__database"]);
    screen.see("connected to database");
    screen.enter("/mc\tconn\tsp\t\r");
    screen.see("connected to spare (2 tools, 1 resource)");
    screen.enter("/mcp call dat\tqu\tsq\tx lim\t3\r");
    screen.see("rows of x");
    screen.enter("/mcp read dat\tdb\t\r");
    screen.see("Ada");
    screen.enter(CTRL_D);
    assert_eq!(screen.end().0, Some(0));
}

#[test]
fn the_history_lasts_across_runs_and_contains_no_secrets() {
    let shell_folder = ShellFolder::new();
    let mut screen = Screen::start(&shell_folder, &["--server", "files"]);
    screen.see("connected to files");
    screen.enter("/mcp tools\r");
    screen.see("files (2 tools)");
    screen.enter(" /mcp status\r");
    screen.see("1 of 1 server connected");
    screen.enter("/mcp call files nothing token=hunter2\r");
    screen.see("has no tool 'nothing'");
    screen.enter(&format!("{UP}\r"));
    screen.see("files (2 tools)");
    screen.enter("/quit\r");
    assert_eq!(screen.end().0, Some(0));
    let file = shell_folder.file(".local/state/sparring/history");
    let kept = fs::read_to_string(&file).unwrap();
    assert!(kept.contains("/mcp tools\n") && kept.contains("/quit\n"), "{kept}");
    assert!(!kept.contains("status") && !kept.contains("hunter2"), "{kept}");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let mut screen = Screen::start(&shell_folder, &["--server", "files"]);
    screen.see("connected to files");
    screen.enter(&format!("{UP}{UP}\r"));
    screen.see("files (2 tools)");
    screen.enter(CTRL_D);
    assert_eq!(screen.end().0, Some(0));
}

/// A rule requires asking about the tools of the server `database`.
fn folder_that_asks() -> ShellFolder {
    let shell_folder = ShellFolder::new();
    let asking = "    permissions: {ask: ['*']}\n    settings: {reconnect";
    shell_folder
        .write("servers.yaml", &shell_folder.servers().replace("    settings: {reconnect", asking));
    shell_folder
}

#[test]
fn makes_a_typed_call_without_asking_unless_a_rule_denies_it() {
    let shell_folder = ShellFolder::new();
    let mut screen = Screen::start(&shell_folder, &["--server", "database"]);
    screen.see("connected to database");
    screen.enter("permissions\r");
    screen.see("allow  you type the calls");
    screen.enter("call query sql=x\r");
    let before = screen.see("rows of x");
    assert!(!before.contains("Allow?"), "{before}");
    screen.enter("permissions deny mcp__database__query\r");
    screen.see("denied until the shell ends");
    screen.enter("call query sql=x\r");
    screen.see("error:");
    screen.enter(CTRL_D);
    assert_eq!(screen.end(), (Some(0), true));
}

#[test]
fn asks_about_undecided_tools_for_once_always_or_never() {
    let shell_folder = folder_that_asks();
    let mut screen = Screen::start(&shell_folder, &["--server", "database"]);
    screen.see("connected to database");
    for (answer, result) in
        [("o\n", "rows of x"), ("\n", "is not allowed: no answer"), ("a\n", "rows of x")]
    {
        screen.enter("/mcp call database query sql=x\r");
        screen.see("'database' wants to run its tool 'query'");
        screen.see("Allow?");
        screen.type_in(answer);
        screen.see(result);
    }
    screen.enter("/mcp call database query sql=again\r");
    let before = screen.see("rows of again");
    assert!(!before.contains("Allow?"), "{before}");
    screen.enter("/mcp call database tables\r");
    screen.see("Allow?");
    screen.type_in("n\n");
    screen.see("you answered never");
    screen.enter("/mcp call database tables\r");
    let before = screen.see("you answered never");
    assert!(!before.contains("Allow?"), "{before}");
    screen.enter(CTRL_D);
    assert_eq!(screen.end().0, Some(0));
    // Also in other runs, where no user can be asked.
    let shown = shell_folder.printed(&["--server", "database"], "/mcp call database query sql=y\n");
    assert_eq!(shown, "rows of y\n");
}

#[test]
fn ctrl_c_cancels_a_call_and_a_question_and_nothing_else() {
    let shell_folder = folder_that_asks();
    let mut screen = Screen::start(&shell_folder, &["--server", "database"]);
    screen.see("connected to database");
    screen.enter("/mcp call database slow\r");
    screen.see("Allow?");
    screen.type_in(CTRL_C);
    screen.see(" cancelled");
    // The next line is not the answer to the question.
    screen.enter("/mcp call database slow\r");
    screen.see("Allow?");
    screen.type_in("o\n");
    screen.type_in(CTRL_C);
    screen.see(" cancelled");
    screen.enter("/mcp\r");
    screen.see("1 of 1 server connected");
    screen.enter(CTRL_D);
    assert_eq!(screen.end(), (Some(0), true));
}

#[test]
fn reports_a_crashed_server_above_the_prompt_and_reconnects_it() {
    let shell_folder = ShellFolder::new();
    let mut screen = Screen::start(&shell_folder, &["--server", "database"]);
    screen.see("connected to database");
    screen.enter("/mcp stat");
    screen.see("stat");
    let before = shell_folder.process();
    signal(before.parse().unwrap(), Signal::KILL);
    screen.see("server `database` was lost: ");
    screen.see("connected to database (3 tools, 1 resource)");
    // The text typed before is still there.
    screen.type_in("us\r");
    screen.see("1 of 1 server connected");
    assert_ne!(before, shell_folder.process());
    screen.enter("/mcp log database\r");
    screen.see("was lost");
    screen.enter(CTRL_D);
    assert_eq!(screen.end().0, Some(0));
}

#[test]
fn reloads_a_changed_file_and_prints_the_changes() {
    let shell_folder = ShellFolder::new();
    let mut screen = Screen::start(&shell_folder, &[]);
    screen.see("connected to database");
    let changed = shell_folder.servers().replace("  spare:", "  other:");
    shell_folder.write("servers.yaml", &changed.replace(", auto_connect: false", ""));
    // The note and the event come from different tasks.
    screen.see_in_any_order(&[
        "server `other` is skipped: servers.yaml has changed since the start",
        "reloaded: removed spare",
    ]);
    screen.enter("/mcp connect other\r");
    screen.see("server `other` is in a file that has changed since the start");
    let mut trust = Command::new(SPAR);
    trust.args(["config", "trust", "--yes", "servers.yaml"]).current_dir(shell_folder.path());
    trust.env("HOME", shell_folder.path()).env_remove("XDG_STATE_HOME");
    assert!(output(&mut trust).status.success());
    screen.see("reloaded: added other");
    screen.see("connected to other (2 tools, 1 resource)");
    shell_folder.write("servers.yaml", "servers: [");
    screen.see("cannot reload the configuration");
    screen.enter("/mcp\r");
    screen.see("3 of 3 servers connected");
    screen.enter(CTRL_D);
    assert_eq!(screen.end().0, Some(0));
}

#[test]
fn control_characters_of_a_server_do_not_reach_the_terminal() {
    let shell_folder = ShellFolder::new();
    let mut screen = Screen::start(&shell_folder, &["--server", "files", "--allow", "mcp__files"]);
    screen.see("connected to files");
    screen.enter("/mcp tools\r");
    screen.see("Reads [2J a file");
    screen.see("odd [2J");
    screen.enter("/mcp call files read\r");
    screen.see("a\\u001b]0;title\\u0007 file");
    // A name with control characters is not completed.
    screen.enter(&format!("/mcp call files o\t\t{CTRL_C}"));
    let seen = screen.see("type quit to exit");
    assert!(!seen.contains("\u{1b}[2J"), "{seen:?}");
    screen.enter(CTRL_D);
    assert_eq!(screen.end().0, Some(0));
}
