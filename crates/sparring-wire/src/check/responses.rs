//! Checks responses: results by the method of their request, and errors by their
//! code.

use super::checker::{Checker, FrameContext, RequestContext};
use super::json_path::JsonPath;
use super::violation_collector::ViolationCollector;
use crate::frame::Frame;
use crate::json::Json;
use crate::revision::RequestDefinition;
use crate::rule::Rule;

/// The section about error codes.
const ERROR_CODES_SECTION: &str = "basic#error-codes";

/// The section about results that ask for input.
const INPUT_REQUIRED_SECTION: &str = "basic/patterns/mrtr#inputrequiredresult";

impl Checker {
    pub(super) fn check_result(
        &self,
        frame: &Frame,
        request: RequestContext<'_>,
        context: &FrameContext<'_>,
        out: &mut ViolationCollector<'_>,
    ) {
        if self.report_unexpected_response(context, out) {
            return;
        }
        // The frame itself reports a result of another type.
        let Some(result) = frame.result().filter(|it| it.is_object()) else {
            return;
        };
        let requester = context.from.other();
        let method = request.method;
        let definition = method.and_then(|it| self.revision.request(requester, it));
        if let Some(definition) = definition {
            out.set_section(definition.section);
        }
        let path = context.root.name("result");
        if self.check_result_type(result, definition, request, &path, out) {
            return;
        }
        match definition {
            Some(definition) if definition.task => {
                self.check_result_or_task(result, definition, request, &path, out)
            }
            Some(definition) => self.check_shape(definition.result, result, &path, out),
            None => self.check_shape("Result", result, &path, out),
        }
        if let Some(definition) = definition {
            self.check_result_rules(definition.name, result, &path, out);
        }
    }

    /// Checks `resultType`, if the revision has it. Returns false if the caller still
    /// has to check the result against the type of its method.
    fn check_result_type(
        &self,
        result: Json<'_>,
        definition: Option<&RequestDefinition>,
        request: RequestContext<'_>,
        path: &JsonPath<'_>,
        out: &mut ViolationCollector<'_>,
    ) -> bool {
        let types = self.revision.definition().result_types;
        let stated = result.get("resultType").and_then(Json::as_str);
        let Some(stated) = stated.filter(|_| !types.is_empty()) else {
            return false;
        };
        let type_path = path.name("resultType");
        if !types.contains(&&*stated) {
            if !request.extensions {
                out.add(Rule::WrongResultType, &type_path, || {
                    format!("expected {}, found {stated:?}", types.join(" or "))
                });
            }
            self.check_shape("Result", result, path, out);
            return true;
        }
        if stated != "input_required" {
            return false;
        }
        if let Some(definition) = definition.filter(|it| !it.input_required) {
            out.add(Rule::WrongResultType, &type_path, || {
                format!("the result of {} must not be input_required", definition.name)
            });
            return true;
        }
        out.set_section(INPUT_REQUIRED_SECTION);
        self.check_shape("InputRequiredResult", result, path, out);
        self.check_input_requests(result, path, out);
        if let Some(hint) = ["ttlMs", "cacheScope"].into_iter().find(|it| result.get(it).is_some())
        {
            out.add_in_own_section(Rule::InterimCacheHints, &path.name(hint), || {
                format!("a result that requires input must not have {hint}")
            });
        }
        let fields = ["inputRequests", "requestState"];
        if fields.iter().all(|it| result.get(it).is_none()) {
            out.add(Rule::MissingField, path, || {
                "one of inputRequests and requestState is required".to_owned()
            });
        }
        true
    }

    /// Checks the answer to a request that can run as a task: its own result, or the
    /// task.
    fn check_result_or_task(
        &self,
        result: Json<'_>,
        definition: &RequestDefinition,
        request: RequestContext<'_>,
        path: &JsonPath<'_>,
        out: &mut ViolationCollector<'_>,
    ) {
        let task = "CreateTaskResult";
        let is_task = request.task != Some(false) && result.get("task").is_some();
        let own = self.shapes.get(definition.result);
        match is_task && !own.is_some_and(|own| self.shapes.fits(own, result)) {
            true => self.check_shape(task, result, path, out),
            false => self.check_shape(definition.result, result, path, out),
        }
    }

    pub(super) fn check_error(
        &self,
        frame: &Frame,
        context: &FrameContext<'_>,
        out: &mut ViolationCollector<'_>,
    ) {
        if self.report_unexpected_response(context, out) {
            return;
        }
        if frame.id().is_none() && !self.revision.omits_unknown_error_id() && !has_id_key(frame) {
            out.add(Rule::IdMissing, &context.root.name("id"), || {
                "an error must have the id of its request, or null".to_owned()
            });
        }
        let Some(error) = frame.error() else { return };
        let Some(code) = error.get("code").and_then(Json::as_i64) else {
            return;
        };
        let path = context.root.name("error");
        let rules = self.revision.definition();
        out.set_section(match rules.reserved_codes {
            Some(_) => ERROR_CODES_SECTION,
            None => rules.messages,
        });
        match rules.error(code) {
            Some(definition) if definition.forbidden => {
                out.add(Rule::WrongErrorCode, &path.name("code"), || {
                    format!("error code {code} is forbidden in {}", self.revision)
                });
            }
            Some(definition) => {
                if let Some(shape) = definition.shape {
                    self.check_shape(shape, error, &path, out);
                }
            }
            None => {
                let reserved = rules.reserved_codes;
                if reserved.is_some_and(|(low, high)| (low..=high).contains(&code)) {
                    out.add(Rule::WrongErrorCode, &path.name("code"), || {
                        format!(
                            "error code {code} is reserved and has no meaning in {}",
                            rules.name
                        )
                    });
                }
            }
        }
    }

    /// Reports a response from a side that receives no requests.
    fn report_unexpected_response(
        &self,
        context: &FrameContext<'_>,
        out: &mut ViolationCollector<'_>,
    ) -> bool {
        let gets_no_requests = self.revision.requests(context.from.other()).is_empty();
        if gets_no_requests {
            out.add(Rule::WrongDirection, &context.root, || {
                format!("the {} must not send responses in {}", context.from, self.revision)
            });
        }
        gets_no_requests
    }
}

/// Returns true if a frame that is one object has the key `id`, also with `null`.
fn has_id_key(frame: &Frame) -> bool {
    let bytes = frame.bytes();
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    Json::trusted(bytes.trim_ascii()).get("id").is_some()
}
