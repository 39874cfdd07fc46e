//! Checks one frame against the rules of one revision.

use super::duplicates;
use super::json_path::JsonPath;
use super::shape_parser::TypeShapes;
use super::violation_collector::ViolationCollector;
use crate::frame::{Frame, FrameKind};
use crate::json::Json;
use crate::revision::{Revision, Side};
use crate::rule::Rule;
use crate::violation::Violation;

/// The section about the metadata of a modern request.
const META_SECTION: &str = "basic#meta";

/// Checks frames against the rules of one revision.
#[derive(Debug, Clone, Copy)]
pub struct Checker {
    pub(super) revision: Revision,
    pub(super) shapes: &'static TypeShapes,
}

/// The request that a response answers, as far as it is known.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RequestContext<'a> {
    pub(super) method: Option<&'a str>,
    /// True if the request asked to run as a task; `None` if that is unknown.
    pub(super) task: Option<bool>,
    /// True if the request declared extensions, which can add result types.
    pub(super) extensions: bool,
}

impl Checker {
    /// Returns the checker of a revision. The first call for a revision parses its shapes.
    pub fn for_revision(revision: Revision) -> Checker {
        Checker { revision, shapes: TypeShapes::for_revision(revision) }
    }

    /// Returns the revision of the rules.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Returns the violations of one frame: first those of every revision, then those
    /// of this revision. For a response, `answers` is the method of the request, if it
    /// is known.
    pub fn check(&self, frame: &Frame, from: Side, answers: Option<&str>) -> Vec<Violation> {
        let request = RequestContext { method: answers, ..RequestContext::default() };
        self.check_with_request(frame, from, request)
    }

    /// Returns the names of all types that [`Checker::check_type`] knows.
    pub fn type_names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.shapes.names()
    }

    /// Checks a value against the named type of the protocol, with paths that start
    /// at `$`; returns `None` for an unknown type.
    pub fn check_type(&self, name: &str, json: Json<'_>) -> Option<Vec<Violation>> {
        let shape = self.shapes.get(name)?;
        let section = format!("schema#{}", name.to_ascii_lowercase());
        let mut out = ViolationCollector::new(self.revision.name(), &section);
        let path = JsonPath::new("$");
        duplicates::report_duplicate_keys(json, &path, &mut out);
        self.shapes.check(shape, json, &path, &mut out);
        Some(out.into_violations())
    }

    /// [`Checker::check`] for a response to a known request.
    pub(super) fn check_with_request(
        &self,
        frame: &Frame,
        from: Side,
        request: RequestContext<'_>,
    ) -> Vec<Violation> {
        let mut out =
            ViolationCollector::new(self.revision.name(), self.revision.definition().messages);
        self.check_frame(frame, from, request, "$", &mut out);
        out.into_violations()
    }

    /// Returns the frame's own violations, with this revision's section.
    pub(super) fn check_envelope(&self, frame: &Frame) -> Vec<Violation> {
        let mut out =
            ViolationCollector::new(self.revision.name(), self.revision.definition().messages);
        self.copy_frame_violations(frame, "$", &mut out);
        out.into_violations()
    }

    fn copy_frame_violations(&self, frame: &Frame, base: &str, out: &mut ViolationCollector<'_>) {
        for violation in frame.violations() {
            let path = rebase_path(&violation.path, base);
            let message = || violation.message.clone();
            out.add(violation.rule, &JsonPath::new(&path), message);
        }
    }

    /// Checks a frame whose path is `base`: `$`, or `$[0]` in a batch.
    fn check_frame(
        &self,
        frame: &Frame,
        from: Side,
        request: RequestContext<'_>,
        base: &str,
        out: &mut ViolationCollector<'_>,
    ) {
        self.copy_frame_violations(frame, base, out);
        let section = self.revision.definition().messages;
        let context = &FrameContext { from, root: JsonPath::new(base) };
        match frame.kind() {
            FrameKind::Request => self.check_request(frame, context, out),
            FrameKind::Notification => self.check_notification(frame, context, out),
            FrameKind::Result => self.check_result(frame, request, context, out),
            FrameKind::Error => self.check_error(frame, context, out),
            FrameKind::Batch => self.check_batch(frame, context, out),
            FrameKind::Other => {}
        }
        out.set_section(section);
        for (name, part) in
            [("params", frame.params()), ("result", frame.result()), ("error", frame.error())]
        {
            if let Some(part) = part {
                duplicates::report_duplicate_keys(part, &context.root.name(name), out);
            }
        }
    }

    fn check_batch(
        &self,
        frame: &Frame,
        context: &FrameContext<'_>,
        out: &mut ViolationCollector<'_>,
    ) {
        if !self.revision.has_batches() {
            let message = || format!("revision {} has no batches", self.revision);
            return out.add(Rule::BatchNotAllowed, &context.root, message);
        }
        for (index, item) in frame.batch_items().enumerate() {
            let base = context.root.index(index).to_string();
            if item.kind() == FrameKind::Batch {
                out.add(Rule::NotAnObject, &JsonPath::new(&base), || {
                    "a batch must not contain a batch".to_owned()
                });
                continue;
            }
            if item.method() == Some("initialize") {
                out.add(Rule::BatchNotAllowed, &JsonPath::new(&base), || {
                    "initialize must not be in a batch".to_owned()
                });
            }
            let mut inner =
                ViolationCollector::new(self.revision.name(), self.revision.definition().messages);
            self.check_frame(&item, context.from, RequestContext::default(), &base, &mut inner);
            out.extend(inner.into_violations());
            if out.is_full() {
                return;
            }
        }
    }

    fn check_request(
        &self,
        frame: &Frame,
        context: &FrameContext<'_>,
        out: &mut ViolationCollector<'_>,
    ) {
        let method = frame.method().unwrap_or_default();
        if let Some(definition) = self.revision.request(context.from, method) {
            out.set_section(definition.section);
            let required = definition.params_required;
            self.check_params(frame, definition.params, required, context, out);
            if let Some(params) = frame.params() {
                let path = context.root.name("params");
                self.check_request_rules(method, params, &path, out);
            }
            return;
        }
        if self.revision.requests(context.from).is_empty() {
            return out.add(Rule::WrongDirection, &context.root.name("method"), || {
                let revision = self.revision;
                format!("the {} must not send requests in {revision}", context.from)
            });
        }
        if self.revision.request(context.from.other(), method).is_some() {
            return self.report_wrong_direction(method, context, out);
        }
        if self.is_notification(method) {
            return out.add(Rule::WrongValue, &context.root.name("id"), || {
                format!("{method} is a notification and must not have an id")
            });
        }
        // Every modern request carries metadata, also one with a custom method.
        if !self.report_foreign_method(method, context, out) && self.revision.is_modern() {
            out.set_section(META_SECTION);
            self.check_params(frame, "RequestParams", true, context, out);
        }
    }

    fn check_notification(
        &self,
        frame: &Frame,
        context: &FrameContext<'_>,
        out: &mut ViolationCollector<'_>,
    ) {
        let method = frame.method().unwrap_or_default();
        if let Some(definition) = self.revision.notification(context.from, method) {
            out.set_section(definition.section);
            return self.check_params(
                frame,
                definition.params,
                definition.params_required,
                context,
                out,
            );
        }
        let other = context.from.other();
        if self.revision.notification(other, method).is_some() {
            return self.report_wrong_direction(method, context, out);
        }
        let sides = [context.from, other];
        if sides.map(|side| self.revision.request(side, method)) != [None, None] {
            return out.add(Rule::IdMissing, &context.root.name("id"), || {
                format!("{method} is a request and must have an id")
            });
        }
        self.report_foreign_method(method, context, out);
    }

    fn is_notification(&self, method: &str) -> bool {
        let sides = [Side::Client, Side::Server];
        sides.map(|side| self.revision.notification(side, method)) != [None, None]
    }

    fn report_wrong_direction(
        &self,
        method: &str,
        context: &FrameContext<'_>,
        out: &mut ViolationCollector<'_>,
    ) {
        out.add(Rule::WrongDirection, &context.root.name("method"), || {
            let (from, revision) = (context.from, self.revision);
            format!("the {from} must not send {method} in {revision}")
        });
    }

    /// Reports a method that only other revisions have. A method of no revision is
    /// custom and allowed.
    fn report_foreign_method(
        &self,
        method: &str,
        context: &FrameContext<'_>,
        out: &mut ViolationCollector<'_>,
    ) -> bool {
        let rules = self.revision.definition();
        if rules.extension_methods.iter().any(|it| method.starts_with(it)) {
            return false;
        }
        let known_in = Revision::ALL.into_iter().filter(|revision| {
            [Side::Client, Side::Server].into_iter().any(|side| {
                revision.request(side, method).is_some()
                    || revision.notification(side, method).is_some()
            })
        });
        let known_in: Vec<_> = known_in.map(Revision::name).collect();
        if !known_in.is_empty() {
            out.add(Rule::NotInRevision, &context.root.name("method"), || {
                let revision = self.revision;
                format!("{method} is a method of {}, not of {revision}", known_in.join(", "))
            });
        }
        !known_in.is_empty()
    }

    fn check_params(
        &self,
        frame: &Frame,
        shape: &str,
        required: bool,
        context: &FrameContext<'_>,
        out: &mut ViolationCollector<'_>,
    ) {
        let path = context.root.name("params");
        match frame.params() {
            // The frame itself reports params of another type.
            Some(params) if params.is_object() => self.check_shape(shape, params, &path, out),
            Some(_) => {}
            None if required => {
                out.add(Rule::MissingField, &path, || "params is required".to_owned())
            }
            None => {}
        }
    }

    pub(super) fn check_shape(
        &self,
        name: &str,
        json: Json<'_>,
        path: &JsonPath<'_>,
        out: &mut ViolationCollector<'_>,
    ) {
        if let Some(shape) = self.shapes.get(name) {
            self.shapes.check(shape, json, path, out);
        }
    }
}

/// The sender and the path of the frame under check.
pub(super) struct FrameContext<'a> {
    pub(super) from: Side,
    pub(super) root: JsonPath<'a>,
}

/// Returns the same path below another root.
pub(super) fn rebase_path(path: &str, base: &str) -> String {
    let rest = path.strip_prefix('$').unwrap_or(path);
    format!("{base}{rest}")
}
