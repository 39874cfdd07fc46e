//! Judges one frame by the rules of one revision.

use super::duplicates;
use super::findings::Findings;
use super::notation::Shapes;
use super::path::Path;
use crate::frame::{Frame, FrameKind};
use crate::json::Json;
use crate::revision::{Revision, Side};
use crate::violation::{Rule, Violation};

/// Where the specification speaks of the metadata of each modern request.
const META: &str = "basic#meta";

/// The rules of one revision, ready to be held against frames.
#[derive(Debug, Clone, Copy)]
pub struct Checker {
    pub(super) revision: Revision,
    pub(super) shapes: &'static Shapes,
}

/// What is known of the request that a response answers.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Answered<'a> {
    pub(super) method: Option<&'a str>,
    /// Whether the request asked to be run as a task, where that is known.
    pub(super) task: Option<bool>,
    /// Whether the request allowed for extensions, which bring result types of
    /// their own.
    pub(super) extensions: bool,
}

impl Checker {
    /// The checker of a revision. The first of each revision reads its shapes.
    pub fn of(revision: Revision) -> Checker {
        Checker { revision, shapes: Shapes::of(revision) }
    }

    /// The revision whose rules these are.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Everything wrong with one frame: what is wrong in every revision, then
    /// what this revision's rules say. `answers` is, for a response, the
    /// method of the request, where that is known.
    pub fn check(&self, frame: &Frame, from: Side, answers: Option<&str>) -> Vec<Violation> {
        let answered = Answered { method: answers, ..Answered::default() };
        self.check_answer(frame, from, answered)
    }

    /// The names of all types that [`Checker::check_type`] knows.
    pub fn type_names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.shapes.names()
    }

    /// Everything wrong with a value as the named type of the protocol, with
    /// paths that start at `$`; `None` if there is no such type.
    pub fn check_type(&self, name: &str, json: Json<'_>) -> Option<Vec<Violation>> {
        let shape = self.shapes.named(name)?;
        let section = format!("schema#{}", name.to_ascii_lowercase());
        let mut out = Findings::new(self.revision.name(), &section);
        let path = Path::new("$");
        duplicates::find(json, &path, &mut out);
        self.shapes.walk(shape, json, &path, &mut out);
        Some(out.done())
    }

    /// [`Checker::check`] with all that a conversation knows.
    pub(super) fn check_answer(
        &self,
        frame: &Frame,
        from: Side,
        answered: Answered<'_>,
    ) -> Vec<Violation> {
        let mut out = Findings::new(self.revision.name(), self.revision.rules().messages);
        self.frame(frame, from, answered, "$", &mut out);
        out.done()
    }

    /// The frame's own violations, under this revision's section.
    pub(super) fn frame_level(&self, frame: &Frame) -> Vec<Violation> {
        let mut out = Findings::new(self.revision.name(), self.revision.rules().messages);
        self.own_violations(frame, "$", &mut out);
        out.done()
    }

    fn own_violations(&self, frame: &Frame, base: &str, out: &mut Findings<'_>) {
        for violation in frame.violations() {
            let path = rebased(&violation.path, base);
            let message = || violation.message.clone();
            out.add(violation.rule, &Path::new(&path), message);
        }
    }

    /// Judges a frame that stands at `base`: `$`, or `$[0]` in a batch.
    fn frame(
        &self,
        frame: &Frame,
        from: Side,
        answered: Answered<'_>,
        base: &str,
        out: &mut Findings<'_>,
    ) {
        self.own_violations(frame, base, out);
        let section = self.revision.rules().messages;
        let place = Place { from, root: Path::new(base) };
        let place = &place;
        match frame.kind() {
            FrameKind::Request => self.request(frame, place, out),
            FrameKind::Notification => self.notification(frame, place, out),
            FrameKind::Result => self.result(frame, answered, place, out),
            FrameKind::Error => self.error(frame, place, out),
            FrameKind::Batch => self.batch(frame, place, out),
            FrameKind::Other => {}
        }
        out.section(section);
        for (name, part) in
            [("params", frame.params()), ("result", frame.result()), ("error", frame.error())]
        {
            if let Some(part) = part {
                duplicates::find(part, &place.root.name(name), out);
            }
        }
    }

    fn batch(&self, frame: &Frame, place: &Place<'_>, out: &mut Findings<'_>) {
        if !self.revision.has_batches() {
            let message = || format!("revision {} has no batches", self.revision);
            return out.add(Rule::BatchNotAllowed, &place.root, message);
        }
        for (index, item) in frame.batch().enumerate() {
            let base = place.root.index(index).to_string();
            if item.kind() == FrameKind::Batch {
                out.add(Rule::NotAnObject, &Path::new(&base), || {
                    "a batch holds messages, not batches".to_owned()
                });
                continue;
            }
            if item.method() == Some("initialize") {
                out.add(Rule::BatchNotAllowed, &Path::new(&base), || {
                    "initialize stands alone, never in a batch".to_owned()
                });
            }
            let mut inner = Findings::new(self.revision.name(), self.revision.rules().messages);
            self.frame(&item, place.from, Answered::default(), &base, &mut inner);
            out.absorb(inner.done());
            if out.satisfied() {
                return;
            }
        }
    }

    fn request(&self, frame: &Frame, place: &Place<'_>, out: &mut Findings<'_>) {
        let method = frame.method().unwrap_or_default();
        if let Some(rule) = self.revision.request(place.from, method) {
            out.section(rule.section);
            return self.params(frame, rule.params, rule.params_required, place, out);
        }
        if self.revision.requests(place.from).is_empty() {
            return out.add(Rule::WrongDirection, &place.root.name("method"), || {
                let revision = self.revision;
                format!("in {revision} the {} sends no requests", place.from)
            });
        }
        if self.revision.request(place.from.other(), method).is_some() {
            return self.wrong_direction(method, place, out);
        }
        if self.knows_notification(method) {
            return out.add(Rule::WrongValue, &place.root.name("id"), || {
                format!("{method} is a notification, and so has no id")
            });
        }
        // Every modern request says what its sender can do, whatever it asks.
        if !self.foreign_method(method, place, out) && self.revision.is_modern() {
            out.section(META);
            self.params(frame, "RequestParams", true, place, out);
        }
    }

    fn notification(&self, frame: &Frame, place: &Place<'_>, out: &mut Findings<'_>) {
        let method = frame.method().unwrap_or_default();
        if let Some(rule) = self.revision.notification(place.from, method) {
            out.section(rule.section);
            return self.params(frame, rule.params, rule.params_required, place, out);
        }
        let other = place.from.other();
        if self.revision.notification(other, method).is_some() {
            return self.wrong_direction(method, place, out);
        }
        let sides = [place.from, other];
        if sides.map(|side| self.revision.request(side, method)) != [None, None] {
            return out.add(Rule::IdMissing, &place.root.name("id"), || {
                format!("{method} is a request, and so has an id")
            });
        }
        self.foreign_method(method, place, out);
    }

    fn knows_notification(&self, method: &str) -> bool {
        let sides = [Side::Client, Side::Server];
        sides.map(|side| self.revision.notification(side, method)) != [None, None]
    }

    fn wrong_direction(&self, method: &str, place: &Place<'_>, out: &mut Findings<'_>) {
        out.add(Rule::WrongDirection, &place.root.name("method"), || {
            let (from, revision) = (place.from, self.revision);
            format!("in {revision} the {from} does not send {method}")
        });
    }

    /// A method that no revision has is anyone's own; one that another
    /// revision has is out of place here.
    fn foreign_method(&self, method: &str, place: &Place<'_>, out: &mut Findings<'_>) -> bool {
        let rules = self.revision.rules();
        if rules.extension_methods.iter().any(|it| method.starts_with(it)) {
            return false;
        }
        let having = Revision::ALL.into_iter().filter(|revision| {
            [Side::Client, Side::Server].into_iter().any(|side| {
                revision.request(side, method).is_some()
                    || revision.notification(side, method).is_some()
            })
        });
        let having: Vec<_> = having.map(Revision::name).collect();
        if !having.is_empty() {
            out.add(Rule::NotInRevision, &place.root.name("method"), || {
                let revision = self.revision;
                format!("{method} is in {}, not in {revision}", having.join(", "))
            });
        }
        !having.is_empty()
    }

    fn params(
        &self,
        frame: &Frame,
        shape: &str,
        required: bool,
        place: &Place<'_>,
        out: &mut Findings<'_>,
    ) {
        let path = place.root.name("params");
        match frame.params() {
            // Params of another type are among the frame's own violations.
            Some(params) if params.is_object() => self.walk(shape, params, &path, out),
            Some(_) => {}
            None if required => {
                out.add(Rule::MissingField, &path, || "params is required".to_owned())
            }
            None => {}
        }
    }

    pub(super) fn walk(&self, name: &str, json: Json<'_>, path: &Path<'_>, out: &mut Findings<'_>) {
        if let Some(shape) = self.shapes.named(name) {
            self.shapes.walk(shape, json, path, out);
        }
    }
}

/// Who sent the frame that is judged, and where it stands.
pub(super) struct Place<'a> {
    pub(super) from: Side,
    pub(super) root: Path<'a>,
}

/// The same path below another root.
pub(super) fn rebased(path: &str, base: &str) -> String {
    let rest = path.strip_prefix('$').unwrap_or(path);
    format!("{base}{rest}")
}
