//! What a server asks while a command runs, answered by whoever is there, and how
//! far a command is.

use sparring_peer::client::Progress;

use super::asking::{Asked, Said, Scripted, What, scripted, told};
use super::lines::Input;
use super::work::Work;
use crate::exit::Signal;
use crate::output::line;
use crate::signals::Signals;

/// The columns of a terminal that does not say how many it has.
const COLUMNS: usize = 80;

impl Work<'_> {
    /// Lets a question be answered, unless a signal comes; gives that.
    pub(super) async fn answer(&mut self, asked: Asked, signals: &mut Signals) -> Option<Signal> {
        let printer = self.desk.printer;
        let Asked { server, what, mut reply } = asked;
        let mut person = self.person.take();
        let said = async {
            match &mut person {
                Some(person) => person.answer(&server, &what, printer).await,
                None => self.by_script(&server, &what).await,
            }
        };
        let said = tokio::select! {
            biased;
            signal = signals.next() => Err(Some(signal)),
            () = reply.closed() => Err(None),
            said = said => Ok(said),
        };
        self.person = person;
        match said {
            Err(Some(signal)) => Some(signal),
            Err(None) => {
                if self.person.is_some() {
                    // After the question, which stands there unanswered.
                    printer.notice("\n").await;
                }
                printer.note(&format!("`{server}` does not want to know any more")).await;
                None
            }
            Ok(said) => {
                // It may not want to know any more.
                let _ = reply.send(what.outcome(said));
                None
            }
        }
    }

    /// What the lines that follow say to it.
    async fn by_script(&mut self, server: &str, what: &What) -> Said {
        loop {
            let input = match self.ahead.pop_front() {
                Some(input) => input,
                None => self.lines.next().await,
            };
            let scripted = match &input {
                Input::Line(line) => scripted(line, what),
                _ => Scripted::Other,
            };
            let why = match scripted {
                Scripted::Nothing => continue,
                Scripted::Answer(said) => return said,
                Scripted::Wrong(why) => why,
                Scripted::Other => {
                    self.ahead.push_front(input);
                    "no line `/answer ...` follows".to_owned()
                }
            };
            let what = what.message();
            let text = format!("`{server}` asks and is declined: {what}; {why}");
            self.desk.printer.note(&text).await;
            return Said::Decline;
        }
    }

    /// Shows how far a command is: on one line at a terminal, on one each elsewhere.
    pub(super) async fn show_progress(&mut self, progress: &Progress) {
        let printer = self.desk.printer;
        let text = told(progress);
        if self.person.is_none() {
            return printer.note(&format!("progress {text}")).await;
        }
        if printer.quiet() {
            return;
        }
        let columns = printer.width().unwrap_or(COLUMNS).saturating_sub(1);
        let text = line::cut(&line::clean(&format!("progress {text}")), columns);
        printer.status(&format!("\r\u{1b}[2K{text}")).await;
        self.progress_is_shown = true;
    }

    /// Takes that away again.
    pub(super) async fn end_progress(&mut self) {
        if std::mem::take(&mut self.progress_is_shown) {
            self.desk.printer.status("\r\u{1b}[2K").await;
        }
    }
}
