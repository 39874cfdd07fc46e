//! Tests the commands of a script.

use super::shell_folder::ShellFolder;
use crate::process::wait_until_gone;

#[test]
fn status_shows_the_connected_servers_with_their_tools() {
    let shown = ShellFolder::new().printed(&[], "/mcp\n");
    let lines: Vec<&str> = shown.lines().map(str::trim).collect();
    assert_eq!(lines[0], "2 of 3 servers connected: 5 tools, 2 resources, 0 prompts");
    assert!(lines[1].starts_with("database  connected  3 tools, 1 resource;"), "{shown}");
    assert!(lines[2].starts_with("files     connected  2 tools, 1 resource;"), "{shown}");
    assert_eq!(lines[3], "spare     idle");
}

#[test]
fn lists_all_configured_servers_with_their_states() {
    let shown = ShellFolder::new().printed(&[], "/mcp servers\n");
    let rows: Vec<Vec<&str>> = shown.lines().map(|row| row.split_whitespace().collect()).collect();
    let states: Vec<_> = rows.iter().map(|row| (row[0], row[1], row[2])).collect();
    let expected = [
        ("database", "connected", "stdio"),
        ("files", "connected", "stdio"),
        ("spare", "idle", "stdio"),
    ];
    assert_eq!(states, expected);
}

#[test]
fn connects_a_server_and_prints_it() {
    let shown = ShellFolder::new().printed(&[], "/mcp connect spare\n/mcp\n");
    assert!(
        shown.starts_with("connected to spare (2 tools, 1 resource)\n3 of 3 servers"),
        "{shown}"
    );
}

#[test]
fn disconnects_a_server_prints_it_and_ends_its_process() {
    let shell_folder = ShellFolder::new();
    let shown = shell_folder.printed(&[], "/mcp disconnect database\n/mcp\n");
    assert!(shown.starts_with("disconnected from database\n1 of 3 servers connected"), "{shown}");
    assert!(shown.contains("  database  idle\n"), "{shown}");
    wait_until_gone(&shell_folder.process());
}

#[test]
fn all_tools_are_listed_by_server() {
    let shown = ShellFolder::new().printed(&[], "/mcp tools\n");
    let expected = "\
database (3 tools)
  query   sql:string [limit:integer]  Runs a statement
  tables
  slow
files (2 tools)
  read       Reads [2J a file
  odd [2J
";
    assert_eq!(shown, expected);
}

#[test]
fn all_resources_are_listed() {
    let shown = ShellFolder::new().printed(&[], "/mcp resources\n");
    let expected = "database (1 resource)\n  db://users  users\n\
                    files (1 resource)\n  file:///notes  notes\n";
    assert_eq!(shown, expected);
}

#[test]
fn reloads_a_changed_configuration_and_keeps_unchanged_servers() {
    let shell_folder = ShellFolder::new();
    shell_folder.edit_by("cp pid kept; sed 's/spare:/other:/; s/auto_connect: false/enabled: false/' servers.yaml > new; mv new servers.yaml");
    let script = "/mcp call files edit\n/mcp reload\n/mcp\n";
    let shown = shell_folder.printed(&["--allow", "mcp__files"], script);
    assert!(shown.contains("reloaded: removed spare\n"), "{shown}");
    assert!(shown.contains("2 of 2 servers connected"), "{shown}");
    let kept = std::fs::read_to_string(shell_folder.file("kept")).unwrap();
    assert_eq!(kept.trim(), shell_folder.process(), "it was not started again");
}

#[test]
fn an_invalid_configuration_changes_nothing() {
    let shell_folder = ShellFolder::new();
    shell_folder.edit_by("echo 'oops: [' > servers.yaml");
    let script = "/mcp call files edit\n/mcp reload\n/mcp\n";
    let output = shell_folder.script(&["--allow", "mcp__files"], script);
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("servers.yaml:1"), "{stderr}");
    assert!(stdout.contains("2 of 3 servers connected"), "{stdout}");
}

#[test]
fn prints_a_huge_result_completely() {
    let shell_folder = ShellFolder::new();
    let huge = "x".repeat(2_000_000);
    let mock = format!(
        "server: {{name: files, version: 1.0.0}}\ntools:\n  - name: read\n    replies: [{{text: {huge}}}]\n"
    );
    shell_folder.write("files.mock.yaml", &mock);
    let shown = shell_folder.printed(&["--allow", "mcp__files"], "/mcp call files read\n");
    assert_eq!(shown.len(), huge.len() + 1);
}

#[test]
fn resumes_a_saved_session() {
    let shell_folder = ShellFolder::new();
    let script = "/mcp connect spare\n/mcp disconnect files\n/mcp permissions deny mcp__spare\n";
    shell_folder.printed(&["--save", "kept.json"], script);
    let shown = shell_folder.printed(&["--resume", "kept.json"], "/mcp\n/mcp tools spare\n");
    assert!(shown.contains("  files     idle\n  spare     connected  "), "{shown}");
    assert!(shown.contains("spare (0 tools, 2 more denied)\n"), "{shown}");
}
