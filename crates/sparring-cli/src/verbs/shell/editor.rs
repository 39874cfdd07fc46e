//! A line that is edited at the terminal, and what is printed above it meanwhile.

use std::path::PathBuf;
use std::sync::mpsc;

use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{CompletionType, Config, Editor, ExternalPrinter};

use super::completion::Completion;
use super::history;
use super::lines::{Input, Lines};
use crate::prompt;

/// What stands before a line.
const PROMPT: &str = "spar> ";

/// Prints above the line that is edited.
pub(super) struct Above(mpsc::Sender<String>);

impl Above {
    /// Prints a text, which ends with a line break, and says whether that can be
    /// done. Never waits.
    pub(super) fn print(&self, text: String) -> bool {
        self.0.send(text).is_ok()
    }
}

/// Lines that are edited, and what prints above them. What was typed before is
/// in that file.
pub(super) fn edited(completion: Completion, history: Option<PathBuf>) -> (Lines, Above) {
    let (sender, texts) = mpsc::channel::<String>();
    let lines = Lines::from(move || {
        let mut typing = Typing::new(completion, history);
        if let Ok(editor) = &mut typing.editor
            && let Ok(printer) = editor.create_external_printer()
        {
            pass_on(printer, texts);
        }
        move || typing.next()
    });
    (lines, Above(sender))
}

/// Prints on a thread of its own: the editor takes one text at a time.
fn pass_on(mut printer: impl ExternalPrinter + Send + 'static, texts: mpsc::Receiver<String>) {
    let thread = std::thread::Builder::new().name("above".to_owned());
    // Without it nothing is printed there, and what happens is still kept.
    let _ = thread.spawn(move || {
        for text in texts {
            if printer.print(text).is_err() {
                return;
            }
        }
    });
}

struct Typing {
    editor: Result<Editor<Completion, FileHistory>, String>,
    history: Option<PathBuf>,
}

impl Typing {
    fn new(completion: Completion, history: Option<PathBuf>) -> Typing {
        let config = Config::builder()
            .completion_type(CompletionType::List)
            .history_ignore_space(true)
            .max_history_size(history::MOST)
            .map(rustyline::config::Builder::build);
        let editor = config.and_then(|config| {
            let history = FileHistory::with_config(&config);
            Editor::with_history(config, history)
        });
        let mut editor = editor.map_err(|error| error.to_string());
        if let Ok(editor) = &mut editor {
            editor.set_helper(Some(completion));
            if let Some(file) = &history {
                history::load(editor, file);
            }
        }
        Typing { editor, history }
    }

    fn next(&mut self) -> Input {
        let editor = match &mut self.editor {
            Ok(editor) => editor,
            Err(why) => return Input::Broken(why.clone()),
        };
        prompt::remember();
        match editor.readline(PROMPT) {
            Ok(line) => {
                history::keep(editor, &line, self.history.as_deref());
                Input::Line(line)
            }
            Err(ReadlineError::Interrupted) => Input::Interrupted,
            Err(ReadlineError::Eof) => Input::End,
            Err(error) => Input::Broken(error.to_string()),
        }
    }
}
