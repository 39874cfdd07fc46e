//! Answers as text: of `--answer`, and of the lines of a script that begin with `/answer`,
//! right after the command whose server asks.

use serde_json::Value;

use super::{Answer, QuestionKind};

const ANSWER_COMMAND: &str = "/answer";

/// The next line of a script, parsed as an answer.
#[derive(Debug, PartialEq)]
pub(crate) enum AnswerLine {
    Answer(Answer),
    /// The reason why the answer is invalid.
    Wrong(String),
    /// A blank line or a comment.
    Empty,
    /// Another command.
    Other,
}

/// Parses a line as an answer to the question.
pub(crate) fn parse_answer_line(line: &str, question: &QuestionKind) -> AnswerLine {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return AnswerLine::Empty;
    }
    let Some(answer) = line.strip_prefix(ANSWER_COMMAND) else { return AnswerLine::Other };
    if !answer.is_empty() && !answer.starts_with(char::is_whitespace) {
        return AnswerLine::Other;
    }
    match parse_answer(answer, question) {
        Ok(answer) => AnswerLine::Answer(answer),
        Err(why) => AnswerLine::Wrong(why),
    }
}

/// Parses an answer to the question.
///
/// # Errors
/// When the question needs another answer; the error is the reason.
pub(crate) fn parse_answer(answer: &str, question: &QuestionKind) -> Result<Answer, String> {
    match (answer.trim(), question) {
        ("decline", _) => Ok(Answer::Decline),
        ("cancel", _) => Ok(Answer::Cancel),
        ("accept", QuestionKind::Page { .. }) => Ok(Answer::Accept(Value::Null)),
        (_, QuestionKind::Page { .. }) => Err("a page needs accept, decline or cancel".to_owned()),
        ("", _) => Err("the answer is empty".to_owned()),
        (answer, QuestionKind::Model { .. }) => {
            let text = serde_json::from_str::<String>(answer).unwrap_or_else(|_| answer.to_owned());
            Ok(Answer::Text(text))
        }
        (answer, QuestionKind::Form { .. }) => match serde_json::from_str::<Value>(answer) {
            Ok(content @ Value::Object(_)) => Ok(Answer::Accept(content)),
            _ => Err("a form needs a JSON object, decline or cancel".to_owned()),
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_line_answers_the_question_or_is_another_command() {
        let form = QuestionKind::Form { message: String::new(), schema: json!({}) };
        let page = QuestionKind::Page { message: String::new(), url: String::new() };
        let model = QuestionKind::Model { system: None, messages: vec![], max_tokens: None };
        let answer = AnswerLine::Answer;
        for (line, question, expected) in [
            (r#"/answer {"a": 1}"#, &form, answer(Answer::Accept(json!({"a": 1})))),
            ("/answer decline", &form, answer(Answer::Decline)),
            ("  /answer cancel ", &page, answer(Answer::Cancel)),
            ("/answer accept", &page, answer(Answer::Accept(Value::Null))),
            ("/answer fjord and more", &model, answer(Answer::Text("fjord and more".into()))),
            (r#"/answer "decline""#, &model, answer(Answer::Text("decline".into()))),
            ("# later", &form, AnswerLine::Empty),
            ("/answers", &form, AnswerLine::Other),
            ("/mcp", &form, AnswerLine::Other),
        ] {
            assert_eq!(parse_answer_line(line, question), expected, "{line}");
        }
        for (line, question) in [("/answer", &form), ("/answer 7", &form), ("/answer 7", &page)] {
            assert!(matches!(parse_answer_line(line, question), AnswerLine::Wrong(_)), "{line}");
        }
    }
}
