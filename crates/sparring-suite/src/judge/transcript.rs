//! Explains a tool call that did not reach its server by the turns of the model.

use crate::step_result::{Exchange, ModelTurn};

/// Returns the turn that shows why an agent did not call a server, as the end of a message.
/// Empty if no model took part.
pub(super) fn explain_missing_call(transcript: &[Exchange]) -> String {
    let turns = transcript.iter().filter_map(|it| Some((&*it.entry.mock, it.model.as_ref()?)));
    let turns: Vec<(&str, &ModelTurn)> = turns.collect();
    let Some(last) = turns.last() else { return String::new() };
    let label = |(mock, turn): &(&str, &ModelTurn)| match turn.turn {
        Some(number) => format!("turn {number} of `{mock}`"),
        None => format!("a request to `{mock}`"),
    };
    let misfit = turns.iter().find_map(|it| Some((it, it.1.misfit.as_ref()?)));
    if let Some((_, misfit)) = misfit {
        return format!("; no turn fitted: {misfit}");
    }
    if let Some((turn, results)) =
        turns.iter().rev().find_map(|it| Some((it, it.1.results.as_ref()?)))
    {
        return format!("; the request of {} has {results}", label(turn));
    }
    let calling = turns.iter().rev().find(|(_, turn)| !turn.calls.is_empty());
    match calling {
        Some(turn) => {
            let tools = turn.1.calls.join("`, `");
            format!("; {} called `{tools}`, and the agent reported no result", label(turn))
        }
        None => format!("; no turn called a tool; the last is {}", label(last)),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::event::{AnsweredBy, TranscriptEntry};

    fn turn(turn: usize, results: Option<&str>, calls: &[&str], misfit: Option<&str>) -> Exchange {
        let entry = TranscriptEntry {
            at: Duration::ZERO,
            mock: "llm".to_owned(),
            by: AnsweredBy::Model,
            request: String::new(),
            answer: String::new(),
        };
        let model = ModelTurn {
            turn: Some(turn),
            results: results.map(str::to_owned),
            calls: calls.iter().map(|it| (*it).to_owned()).collect(),
            misfit: misfit.map(str::to_owned),
        };
        Exchange { entry, model: Some(model) }
    }

    #[test]
    fn names_the_turn_in_which_the_reason_stands() {
        assert_eq!(explain_missing_call(&[]), "");
        let called = turn(1, None, &["a"], None);
        assert_eq!(
            explain_missing_call(std::slice::from_ref(&called)),
            "; turn 1 of `llm` called `a`, and the agent reported no result"
        );
        let reported = turn(2, Some("the result of `a`: no such tool"), &[], None);
        assert_eq!(
            explain_missing_call(&[called.clone(), reported]),
            "; the request of turn 2 of `llm` has the result of `a`: no such tool"
        );
        assert_eq!(
            explain_missing_call(&[turn(1, None, &[], None), turn(2, None, &[], None)]),
            "; no turn called a tool; the last is turn 2 of `llm`"
        );
        assert_eq!(
            explain_missing_call(&[called, turn(2, None, &[], Some("turn 2: wrong"))]),
            "; no turn fitted: turn 2: wrong"
        );
    }
}
