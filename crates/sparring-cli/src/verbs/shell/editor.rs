//! Edits a line at the terminal, and prints text above it meanwhile.

use std::path::PathBuf;
use std::sync::mpsc;

use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{CompletionType, Config, Editor, ExternalPrinter};
use sparring_transport::Secrets;

use super::completion::Completion;
use super::history;
use super::line_reader::{Input, LineReader};
use crate::terminal_prompt;

const PROMPT: &str = "spar> ";

/// Prints above the edited line.
pub(super) struct LinePrinter {
    sender: mpsc::Sender<String>,
    secrets: Secrets,
}

impl LinePrinter {
    /// Prints text that ends with a line break. Returns true if it could be sent. Never
    /// waits.
    pub(super) fn print(&self, text: String) -> bool {
        self.sender.send(self.secrets.mask(&text).into_owned()).is_ok()
    }
}

/// Returns a reader of edited lines and a printer above them. The file contains the
/// history.
pub(super) fn edit_lines(
    completion: Completion,
    history: Option<PathBuf>,
    secrets: &Secrets,
) -> (LineReader, LinePrinter) {
    let (sender, texts) = mpsc::channel::<String>();
    let lines = LineReader::spawn(move || {
        let mut typing = LineEditor::new(completion, history);
        if let Ok(editor) = &mut typing.editor
            && let Ok(printer) = editor.create_external_printer()
        {
            forward_texts(printer, texts);
        }
        move || typing.next()
    });
    (lines, LinePrinter { sender, secrets: secrets.clone() })
}

/// Prints on its own thread, since the editor takes one text at a time.
fn forward_texts(
    mut printer: impl ExternalPrinter + Send + 'static,
    texts: mpsc::Receiver<String>,
) {
    let thread = std::thread::Builder::new().name("above".to_owned());
    // Without the thread nothing is printed above the line, but the events are still
    // logged.
    let _ = thread.spawn(move || {
        for text in texts {
            if printer.print(text).is_err() {
                return;
            }
        }
    });
}

struct LineEditor {
    editor: Result<Editor<Completion, FileHistory>, String>,
    history: Option<PathBuf>,
}

impl LineEditor {
    fn new(completion: Completion, history: Option<PathBuf>) -> LineEditor {
        let config = Config::builder()
            .completion_type(CompletionType::List)
            .history_ignore_space(true)
            .max_history_size(history::MAX_LINES)
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
        LineEditor { editor, history }
    }

    fn next(&mut self) -> Input {
        let editor = match &mut self.editor {
            Ok(editor) => editor,
            Err(why) => return Input::Error(why.clone()),
        };
        terminal_prompt::save_terminal_mode();
        match editor.readline(PROMPT) {
            Ok(line) => {
                history::save(editor, &line, self.history.as_deref());
                Input::Line(line)
            }
            Err(ReadlineError::Interrupted) => Input::Interrupted,
            Err(ReadlineError::Eof) => Input::End,
            Err(error) => Input::Error(error.to_string()),
        }
    }
}
