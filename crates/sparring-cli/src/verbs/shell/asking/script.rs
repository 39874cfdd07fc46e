//! What a script answers: by lines that begin with `/answer`, right after the
//! command whose server asks.

use serde_json::Value;

use super::{Said, What};

/// What an answer begins with.
pub(in super::super) const ANSWER: &str = "/answer";

/// What the next line of a script is to a question.
#[derive(Debug, PartialEq)]
pub(in super::super) enum Scripted {
    /// Its answer.
    Answer(Said),
    /// An answer that means nothing, and why.
    Wrong(String),
    /// Nothing that is to be done.
    Nothing,
    /// Another command.
    Other,
}

/// Reads a line as an answer to what is asked.
pub(in super::super) fn scripted(line: &str, what: &What) -> Scripted {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Scripted::Nothing;
    }
    let Some(said) = line.strip_prefix(ANSWER) else { return Scripted::Other };
    if !said.is_empty() && !said.starts_with(char::is_whitespace) {
        return Scripted::Other;
    }
    match (said.trim(), what) {
        ("decline", _) => Scripted::Answer(Said::Decline),
        ("cancel", _) => Scripted::Answer(Said::Cancel),
        ("accept", What::Page { .. }) => Scripted::Answer(Said::Accept(Value::Null)),
        (_, What::Page { .. }) => {
            Scripted::Wrong("a page is answered by accept, decline or cancel".to_owned())
        }
        ("", _) => Scripted::Wrong("an answer says something".to_owned()),
        (said, What::Model { .. }) => {
            let text = serde_json::from_str::<String>(said).unwrap_or_else(|_| said.to_owned());
            Scripted::Answer(Said::Text(text))
        }
        (said, What::Form { .. }) => match serde_json::from_str::<Value>(said) {
            Ok(content @ Value::Object(_)) => Scripted::Answer(Said::Accept(content)),
            _ => Scripted::Wrong(
                "a form is answered by a JSON object, by decline or by cancel".to_owned(),
            ),
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_line_answers_what_is_asked_or_is_another_command() {
        let form = What::Form { message: String::new(), schema: json!({}) };
        let page = What::Page { message: String::new(), url: String::new() };
        let model = What::Model { system: None, messages: vec![] };
        let answer = Scripted::Answer;
        for (line, what, expected) in [
            (r#"/answer {"a": 1}"#, &form, answer(Said::Accept(json!({"a": 1})))),
            ("/answer decline", &form, answer(Said::Decline)),
            ("  /answer cancel ", &page, answer(Said::Cancel)),
            ("/answer accept", &page, answer(Said::Accept(Value::Null))),
            ("/answer fjord and more", &model, answer(Said::Text("fjord and more".into()))),
            (r#"/answer "decline""#, &model, answer(Said::Text("decline".into()))),
            ("# later", &form, Scripted::Nothing),
            ("/answers", &form, Scripted::Other),
            ("/mcp", &form, Scripted::Other),
        ] {
            assert_eq!(scripted(line, what), expected, "{line}");
        }
        for (line, what) in [("/answer", &form), ("/answer 7", &form), ("/answer 7", &page)] {
            assert!(matches!(scripted(line, what), Scripted::Wrong(_)), "{line}");
        }
    }
}
