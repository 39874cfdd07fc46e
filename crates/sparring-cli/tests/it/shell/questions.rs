//! Tests questions of servers during a command, answered at a terminal, by a script, or
//! not at all; and progress.

use super::screen::{CTRL_C, CTRL_D, Screen};
use super::shell_folder::ShellFolder;

const ASKING_MOCK: &str = r#"
server: {name: files, version: 1.0.0}
tools:
  - name: form
    ask:
      it:
        elicitation:
          message: "Who are you?"
          requested_schema:
            type: object
            properties:
              name: {type: string, title: Name}
              age: {type: integer, minimum: 1}
              colour: {type: string, enum: [red, green], default: red}
            required: [name, age]
    text: "${answers.it.action} ${answers.it.content.name:-nobody} ${answers.it.content.age:-0} ${answers.it.content.colour:-none}"
  - name: model
    ask: {it: {sampling: {messages: [{role: user, content: {type: text, text: "A word?"}}], max_tokens: 9}}}
    text: "it says ${answers.it.content.text}"
  - name: count
    during: [{progress: {progress: 1, total: 2, message: one}}, {progress: {progress: 2, total: 2}}]
    text: done
"#;

fn folder_with_questions() -> ShellFolder {
    let shell_folder = ShellFolder::new();
    shell_folder.write("files.mock.yaml", ASKING_MOCK);
    shell_folder
}

const FLAGS: [&str; 4] = ["--server", "files", "--allow", "mcp__files"];

#[test]
fn the_user_fills_in_a_form_field_by_field_at_a_terminal() {
    let shell_folder = folder_with_questions();
    let mut screen = Screen::start(&shell_folder, &FLAGS);
    screen.see("connected to files");
    screen.enter("/mcp call files form\r");
    screen.see("`files` asks: Who are you?");
    screen.see("Name (text): ");
    screen.type_in("Ada\r");
    screen.see("age (a whole number): ");
    screen.type_in("0\r");
    screen.see("0 is less than the minimum of 1");
    screen.see("age (a whole number): ");
    screen.type_in("36\r");
    screen.see("colour (one of red, green; optional) [red]: ");
    screen.type_in("\r");
    screen.see("send this? [Y]es, [n]o, [c]ancel: ");
    screen.type_in("\r");
    screen.see("accept Ada 36 red");
    screen.enter("/mcp call files model\r");
    screen.see("user: A word?");
    screen.see("the response (empty to decline): ");
    screen.type_in("fjord\r");
    screen.see("it says fjord");
    screen.enter(CTRL_D);
    assert_eq!(screen.end(), (Some(0), true));
}

#[test]
fn ctrl_c_during_a_question_cancels_the_call_and_not_the_shell() {
    let shell_folder = folder_with_questions();
    let mut screen = Screen::start(&shell_folder, &FLAGS);
    screen.see("connected to files");
    screen.enter("/mcp call files form\r");
    screen.see("Name (text): ");
    screen.type_in(CTRL_C);
    screen.see("cancelled");
    screen.enter("/mcp call files count\r");
    screen.see("progress 1 of 2: one");
    // The result does not follow the progress on its line.
    screen.see("\r\u{1b}[2Kdone");
    screen.enter(CTRL_D);
    assert_eq!(screen.end(), (Some(0), true));
}

#[test]
fn a_script_answers_with_the_following_lines_and_otherwise_declines() {
    let script = "/mcp call files form\n/answer {\"name\": \"Ada\", \"age\": 36}\n\
                  /mcp call files model\n# the answer\n/answer fjord\n\
                  /mcp call files form\n/mcp call files form\n/answer cancel\n\
                  /mcp call files count\n";
    let output = folder_with_questions().script(&FLAGS, script);
    let (text, printed) = (output.stdout, String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(0), "{printed}");
    assert_eq!(
        String::from_utf8(text).unwrap(),
        "accept Ada 36 none\nit says fjord\ndecline nobody 0 none\ncancel nobody 0 none\ndone\n"
    );
    assert_eq!(
        printed,
        "note: declined a question of `files`: Who are you?; no `/answer` line follows\n\
         note: progress 1 of 2: one\nnote: progress 2 of 2\n"
    );
}

#[test]
fn an_answer_without_a_question_is_an_error() {
    let output = folder_with_questions().script(&FLAGS, "/answer {}\n");
    assert_eq!(output.status.code(), Some(1));
    let printed = String::from_utf8(output.stderr).unwrap();
    assert!(printed.starts_with("error: no question to answer"), "{printed}");
}
