//! Judges responses: results by the method they answer, and errors by their
//! code.

use super::checker::{Answered, Checker, Place};
use super::findings::Findings;
use super::path::Path;
use crate::frame::Frame;
use crate::json::Json;
use crate::revision::MethodRule;
use crate::violation::Rule;

/// Where the specification speaks of error codes.
const ERROR_CODES: &str = "basic#error-codes";

/// Where the specification speaks of results that ask for input.
const INPUT_REQUIRED: &str = "basic/patterns/mrtr#inputrequiredresult";

impl Checker {
    pub(super) fn result(
        &self,
        frame: &Frame,
        answered: Answered<'_>,
        place: &Place<'_>,
        out: &mut Findings<'_>,
    ) {
        if self.wrong_answer(place, out) {
            return;
        }
        // A result of another type is among the frame's own violations.
        let Some(result) = frame.result().filter(|it| it.is_object()) else {
            return;
        };
        let asked_by = place.from.other();
        let method = answered.method;
        let rule = method.and_then(|it| self.revision.request(asked_by, it));
        if let Some(rule) = rule {
            out.section(rule.section);
        }
        let path = place.root.name("result");
        if self.result_type(result, rule, answered, &path, out) {
            return;
        }
        match rule {
            Some(rule) if rule.task => self.result_or_task(result, rule, answered, &path, out),
            Some(rule) => self.walk(rule.result, result, &path, out),
            None => self.walk("Result", result, &path, out),
        }
    }

    /// Judges results that say of what type they are, where the revision has
    /// that; false leaves the result to its method's own shape.
    fn result_type(
        &self,
        result: Json<'_>,
        rule: Option<&MethodRule>,
        answered: Answered<'_>,
        path: &Path<'_>,
        out: &mut Findings<'_>,
    ) -> bool {
        let types = self.revision.rules().result_types;
        let stated = result.get("resultType").and_then(Json::as_str);
        let Some(stated) = stated.filter(|_| !types.is_empty()) else {
            return false;
        };
        let here = path.name("resultType");
        if !types.contains(&&*stated) {
            if !answered.extensions {
                out.add(Rule::WrongResultType, &here, || {
                    format!("expected {}, found {stated:?}", types.join(" or "))
                });
            }
            self.walk("Result", result, path, out);
            return true;
        }
        if stated != "input_required" {
            return false;
        }
        if let Some(rule) = rule.filter(|it| !it.input_required) {
            out.add(Rule::WrongResultType, &here, || {
                format!("{} is not answered by a wish for input", rule.name)
            });
            return true;
        }
        out.section(INPUT_REQUIRED);
        self.walk("InputRequiredResult", result, path, out);
        let fields = ["inputRequests", "requestState"];
        if fields.iter().all(|it| result.get(it).is_none()) {
            out.add(Rule::MissingField, path, || {
                "one of inputRequests and requestState is required".to_owned()
            });
        }
        true
    }

    /// A request that may be run as a task is answered by its own result or by
    /// the task.
    fn result_or_task(
        &self,
        result: Json<'_>,
        rule: &MethodRule,
        answered: Answered<'_>,
        path: &Path<'_>,
        out: &mut Findings<'_>,
    ) {
        let task = "CreateTaskResult";
        let meant = answered.task != Some(false) && result.get("task").is_some();
        let own = self.shapes.named(rule.result);
        match meant && !own.is_some_and(|own| self.shapes.fits(own, result)) {
            true => self.walk(task, result, path, out),
            false => self.walk(rule.result, result, path, out),
        }
    }

    pub(super) fn error(&self, frame: &Frame, place: &Place<'_>, out: &mut Findings<'_>) {
        if self.wrong_answer(place, out) {
            return;
        }
        if frame.id().is_none() && !self.revision.error_without_id() && !mentions_id(frame) {
            out.add(Rule::IdMissing, &place.root.name("id"), || {
                "an error names the request it answers, or null".to_owned()
            });
        }
        let Some(error) = frame.error() else { return };
        let Some(code) = error.get("code").and_then(Json::as_i64) else {
            return;
        };
        let path = place.root.name("error");
        let rules = self.revision.rules();
        out.section(match rules.reserved_codes {
            Some(_) => ERROR_CODES,
            None => rules.messages,
        });
        match rules.error(code) {
            Some(rule) if rule.forbidden => {
                out.add(Rule::WrongErrorCode, &path.name("code"), || {
                    format!("{code} must not be sent in {}", self.revision)
                });
            }
            Some(rule) => {
                if let Some(shape) = rule.shape {
                    self.walk(shape, error, &path, out);
                }
            }
            None => {
                let reserved = rules.reserved_codes;
                if reserved.is_some_and(|(low, high)| (low..=high).contains(&code)) {
                    out.add(Rule::WrongErrorCode, &path.name("code"), || {
                        format!("{code} is reserved, and {} gives it no meaning", rules.name)
                    });
                }
            }
        }
    }

    /// Reports a response from a side that is never asked anything.
    fn wrong_answer(&self, place: &Place<'_>, out: &mut Findings<'_>) -> bool {
        let never_asked = self.revision.requests(place.from.other()).is_empty();
        if never_asked {
            out.add(Rule::WrongDirection, &place.root, || {
                format!("in {} the {} sends no responses", self.revision, place.from)
            });
        }
        never_asked
    }
}

/// Whether a frame that is one clean object has an `id` at all, perhaps `null`.
fn mentions_id(frame: &Frame) -> bool {
    let bytes = frame.bytes();
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    Json::trusted(bytes.trim_ascii()).get("id").is_some()
}
