//! Expectations of what came to a stand-in.

use serde_json::Value;
use sparring_script::Scope;
use sparring_script::matcher::Held;

use super::items::doubt;
use super::value::{held, short, unreadable};
use crate::event::Failure;
use crate::model::{Coming, Journal, Pattern};
use crate::run::Came;

/// How many reasons of the nearest miss are told.
const REASONS: usize = 3;

/// A reason, and the difference where both sides are long.
type Reason = (String, Option<String>);

pub(super) fn check(
    journal: Journal,
    name: &str,
    coming: &Coming,
    came: &[Came],
    scope: &dyn Scope,
) -> Option<Failure> {
    let values = || came.iter().map(|it| &it.value);
    let fit = match count(coming.pattern.as_ref(), values(), scope) {
        Ok(fit) => fit,
        Err(failure) => return Some(*failure),
    };
    let (one, what) = match journal {
        Journal::Received => ("request to", "requests to"),
        Journal::Called => ("call of", "calls of"),
    };
    let total = came.len();
    let mut failure = match &coming.count {
        Some(count) => {
            let that_fit = if coming.pattern.is_some() { " that fit" } else { "" };
            let counted = format!("the count of {what} `{name}`{that_fit}");
            held(&counted, count, Some(&Value::from(fit)), scope).into_iter().next()?
        }
        None if fit > 0 => return None,
        None if total == 0 => Failure::new(coming.span, format!("there are no {what} `{name}`")),
        None if total == 1 => {
            Failure::new(coming.span, format!("the only {one} `{name}` does not fit"))
        }
        None => Failure::new(coming.span, format!("none of the {total} {what} `{name}` fits")),
    };
    if let Some((nearest, reasons)) = nearest(coming, came, scope) {
        let told: Vec<&str> = reasons.iter().take(REASONS).map(|(text, _)| &**text).collect();
        let nearest = line(journal, nearest);
        failure.message += &format!("; the nearest is {nearest}: {}", told.join("; "));
        failure.diff = reasons.into_iter().find_map(|(_, diff)| diff);
    }
    Some(failure)
}

/// How many fit.
fn count<'a>(
    pattern: Option<&Pattern>,
    values: impl Iterator<Item = &'a Value>,
    scope: &dyn Scope,
) -> Result<usize, Box<Failure>> {
    let Some(pattern) = pattern else { return Ok(values.count()) };
    let mut fit = 0;
    for value in values {
        let unfit = pattern.check(Some(value), scope).map_err(|it| Box::new(unreadable(it)))?;
        if let Some(doubt) = doubt(&unfit) {
            return Err(Box::new(doubt));
        }
        fit += usize::from(unfit.is_empty());
    }
    Ok(fit)
}

/// What came nearest of what does not fit, and why it does not; told without
/// secrets.
fn nearest<'a>(
    coming: &Coming,
    came: &'a [Came],
    scope: &dyn Scope,
) -> Option<(&'a Value, Vec<Reason>)> {
    let pattern = coming.pattern.as_ref()?;
    let reasons = |value: &Value| -> Vec<Reason> {
        let unfit = pattern.check(Some(value), scope).unwrap_or_default();
        unfit.into_iter().map(|it| (it.mismatch.to_string(), it.mismatch.diff)).collect()
    };
    let unfit = came.iter().filter(|it| !reasons(&it.value).is_empty());
    let shown = unfit.map(|it| it.shown.as_ref().unwrap_or(&it.value));
    Held::of(shown, |value| {
        let told = reasons(value);
        // Without the secret it may fit.
        if told.is_empty() { vec![("a header is another".to_owned(), None)] } else { told }
    })
    .nearest
}

/// What came, in a line.
fn line(journal: Journal, value: &Value) -> String {
    match journal {
        Journal::Called => {
            format!("{} {}", value["tool"].as_str().unwrap_or("?"), short(&value["args"]))
        }
        Journal::Received => {
            let text = |key: &str| value[key].as_str().unwrap_or_default();
            format!("{} {}", text("method"), text("path"))
        }
    }
}
