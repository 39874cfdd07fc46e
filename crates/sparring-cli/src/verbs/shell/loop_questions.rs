//! Answers servers' questions and shows progress while a command runs.

use sparring_peer::client::Progress;

use super::line_reader::Input;
use super::shell_loop::ShellLoop;
use crate::exit::Signal;
use crate::server_questions::{
    Answer, AnswerLine, QuestionKind, ServerQuestion, parse_answer_line, render_progress,
};
use crate::signals::Signals;

impl ShellLoop<'_> {
    /// Answers a question. Returns a signal that arrives first.
    pub(super) async fn answer_question(
        &mut self,
        question: ServerQuestion,
        signals: &mut Signals,
    ) -> Option<Signal> {
        let printer = self.state.printer;
        let ServerQuestion { server, kind, mut reply } = question;
        let mut user = self.user.take();
        let answer = async {
            match &mut user {
                Some(user) => user.answer(&server, &kind, printer).await,
                None => self.answer_from_script(&server, &kind).await,
            }
        };
        let answer = tokio::select! {
            biased;
            signal = signals.next() => Err(Some(signal)),
            () = reply.closed() => Err(None),
            answer = answer => Ok(answer),
        };
        self.user = user;
        match answer {
            Err(Some(signal)) => Some(signal),
            Err(None) => {
                printer.note(&format!("`{server}` withdrew its question")).await;
                None
            }
            Ok(answer) => {
                // The server may have withdrawn the question.
                let _ = reply.send(kind.outcome(answer));
                None
            }
        }
    }

    /// Answers with the next lines of the script.
    async fn answer_from_script(&mut self, server: &str, kind: &QuestionKind) -> Answer {
        loop {
            let input = match self.pending_input.pop_front() {
                Some(input) => input,
                None => self.lines.next().await,
            };
            let scripted = match &input {
                Input::Line(line) => parse_answer_line(line, kind),
                _ => AnswerLine::Other,
            };
            let why = match scripted {
                AnswerLine::Empty => continue,
                AnswerLine::Answer(answer) => return answer,
                AnswerLine::Wrong(why) => why,
                AnswerLine::Other => {
                    self.pending_input.push_front(input);
                    "no `/answer` line follows".to_owned()
                }
            };
            let message = kind.message();
            let text = format!("declined a question of `{server}`: {message}; {why}");
            self.state.printer.note(&text).await;
            return Answer::Decline;
        }
    }

    /// Shows progress: on one line of a terminal, or on a line each elsewhere.
    pub(super) async fn show_progress(&mut self, progress: &Progress) {
        let printer = self.state.printer;
        let text = render_progress(progress);
        if self.user.is_none() {
            return printer.note(&format!("progress {text}")).await;
        }
        printer.show_status(&format!("progress {text}"));
    }
}
