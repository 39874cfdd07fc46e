//! Arguments of a call that the input schema of its tool does not have.

use crate::event::{Failure, Note};
use crate::model::{Aspect, Step};
use crate::step_result::{StepResult, UnknownArgument};

/// Failures for keys of the step that are below `with`.
pub(super) fn misplaced(result: &StepResult) -> impl Iterator<Item = Failure> {
    let misplaced = result.unknown_arguments.iter().filter(|it| it.is_misplaced());
    misplaced.map(|UnknownArgument { name, span, tool, .. }| {
        let message = format!(
            "`{name}` is below `with`, and the input schema of `{tool}` has no property `{name}`; \
             move it to the step"
        );
        Failure::new(*span, message)
    })
}

/// Notes about arguments that the input schema does not have, unless the step expects that
/// the server refuses them.
pub(super) fn notes(step: &Step, result: &StepResult) -> Vec<Note> {
    let expects_error = step.expect.checks_aspect(Aspect::Error)
        || step.expect.checks_aspect(Aspect::IsError) && result.answer.is_error();
    let unknown = result.unknown_arguments.iter();
    let unknown = unknown.filter(|it| !expects_error && !it.is_misplaced());
    let note = |it: &UnknownArgument| {
        let UnknownArgument { name, tool, .. } = it;
        let suggestion = it.suggestion.as_ref().map(|it| format!("; {it}")).unwrap_or_default();
        let message = format!("the input schema of `{tool}` has no property `{name}`{suggestion}");
        Note { span: it.span, message }
    };
    unknown.map(note).collect()
}
