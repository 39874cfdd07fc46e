//! Checks the questions of a server to its client beyond their shape: elicitations and
//! sampling, as requests of the server or as input of a result.

use std::borrow::Cow;
use std::collections::HashSet;

use super::{ConnectionChecker, capabilities, sensitive, violation};
use crate::check::json_path::JsonPath;
use crate::frame::Frame;
use crate::json::Json;
use crate::revision::Revision;
use crate::rule::Rule;
use crate::violation::Violation;

/// Keywords that the schema of a form, and its properties, must not have.
const COMPLEX: [&str; 10] = [
    "$ref",
    "$defs",
    "allOf",
    "not",
    "if",
    "then",
    "else",
    "patternProperties",
    "prefixItems",
    "contains",
];

/// The code of the error that requires elicitations (2025-11-25).
const URL_ELICITATION_REQUIRED: i64 = -32042;

impl ConnectionChecker {
    /// Checks a request of a legacy server.
    pub(super) fn check_server_question(
        &self,
        revision: Revision,
        frame: &Frame,
        out: &mut Vec<Violation>,
    ) {
        let session = self.session.as_ref().filter(|_| !revision.is_modern());
        let declared = session.and_then(|it| it.client_capabilities.as_ref());
        let question = Question {
            revision,
            params: frame.params().unwrap_or(Json::EMPTY_OBJECT),
            declared: declared.map_or(Json::EMPTY_OBJECT, |it| it.view()),
            path: "$.params".to_owned(),
        };
        question.check(frame.method().unwrap_or_default(), out);
    }
}

/// Checks the input that a result of a modern server requires.
pub(super) fn check_inputs(
    revision: Revision,
    declared: Json<'_>,
    result: Json<'_>,
    out: &mut Vec<Violation>,
) {
    let is_input =
        result.get("resultType").and_then(Json::as_str).as_deref() == Some("input_required");
    let Some(inputs) = result.get("inputRequests").filter(|it| is_input && it.is_object()) else {
        return;
    };
    let section = Rule::EmptyInput.entry().section;
    let base = "$.result.inputRequests";
    let mut seen: HashSet<Cow<'_, str>> = HashSet::new();
    for (key, request) in inputs.members() {
        let path = JsonPath::new(base).name(&key.name()).to_string();
        if !seen.insert(key.name()) {
            let message = format!("{:?} is the key of another input request", key.name());
            out.push(violation(revision, Rule::DuplicateInput, &*path, message, section));
        }
        let method = request.get("method").and_then(Json::as_str).unwrap_or_default();
        let params = request.get("params").unwrap_or(Json::EMPTY_OBJECT);
        let question = Question { revision, params, declared, path: format!("{path}.params") };
        question.check(&method, out);
    }
    if seen.is_empty() && result.get("requestState").is_none() {
        let message = "the result names no input and has no requestState";
        out.push(violation(revision, Rule::EmptyInput, base, message, section));
    }
}

/// Checks the elicitations of the error that requires them.
pub(super) fn check_required_elicitations(
    revision: Revision,
    frame: &Frame,
    out: &mut Vec<Violation>,
) {
    let code = frame.error().and_then(|it| it.get("code")).and_then(Json::as_i64);
    let has_error = Rule::NoRequiredElicitation.applies_in(revision);
    if !has_error || code != Some(URL_ELICITATION_REQUIRED) {
        return;
    }
    let path = "$.error.data.elicitations";
    let listed = frame.error().and_then(|it| it.get_path(&["data", "elicitations"]));
    let Some(listed) = listed else { return };
    for (index, params) in listed.items().enumerate() {
        let path = format!("{path}[{index}]");
        let question = Question { revision, params, declared: Json::EMPTY_OBJECT, path };
        question.check_url(out);
    }
    if listed.items().next().is_none() {
        let rule = Rule::NoRequiredElicitation;
        let message = "the error requires no elicitation";
        out.push(violation(revision, rule, path, message, rule.entry().section));
    }
}

/// The params of one question.
struct Question<'a> {
    revision: Revision,
    params: Json<'a>,
    /// The capabilities of the client.
    declared: Json<'a>,
    /// The path of the params.
    path: String,
}

impl<'a> Question<'a> {
    fn check(&self, method: &str, out: &mut Vec<Violation>) {
        match method {
            "elicitation/create" if self.text("mode").as_deref() == Some("url") => {
                self.check_url(out);
            }
            "elicitation/create" => self.check_form(out),
            "sampling/createMessage" => self.check_context(out),
            _ => {}
        }
    }

    fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        self.params.get(name).and_then(Json::as_str)
    }

    fn report(&self, rule: Rule, path: &str, message: String, out: &mut Vec<Violation>) {
        if rule.applies_in(self.revision) {
            let path = format!("{}{path}", self.path);
            out.push(violation(self.revision, rule, path, message, rule.entry().section));
        }
    }

    /// Reports context that a client without `sampling.context` has to add.
    fn check_context(&self, out: &mut Vec<Violation>) {
        let context = self.text("includeContext").filter(|it| it != "none");
        let allowed = capabilities::declares(self.declared, "sampling.context");
        if let Some(context) = context.filter(|_| !allowed) {
            let message = format!(
                "includeContext is {context:?}, but the client did not declare sampling.context"
            );
            self.report(Rule::UndeclaredContext, ".includeContext", message, out);
        }
    }

    fn check_url(&self, out: &mut Vec<Violation>) {
        let Some(url) = self.text("url") else { return };
        if let Some(part) = sensitive::in_url(&url) {
            self.report(Rule::SensitiveUrl, ".url", format!("the URL contains {part}"), out);
        }
        let Some(rest) = strip_prefix_ignoring_case(&url, "http://") else { return };
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if !is_development_host(authority) {
            let message = "the URL does not use https".to_owned();
            self.report(Rule::InsecureUrl, ".url", message, out);
        }
    }

    fn check_form(&self, out: &mut Vec<Violation>) {
        let message = self.text("message").unwrap_or_default();
        let mut asks =
            sensitive::asked_for(&message).map(|it| (".message".to_owned(), it.to_owned()));
        self.check_clickable(&message, ".message", out);
        let schema = self.params.get("requestedSchema").unwrap_or(Json::EMPTY_OBJECT);
        self.check_keywords(schema, ".requestedSchema", &["anyOf", "oneOf"], out);
        for (key, property) in schema.get("properties").unwrap_or(Json::EMPTY_OBJECT).members() {
            let path = JsonPath::new(".requestedSchema.properties").name(&key.name()).to_string();
            let is_enum = property.get("enum").is_some() || property.get("oneOf").is_some();
            let also = if is_enum { &[][..] } else { &["anyOf", "properties"][..] };
            // A property of another type breaks the schema of the revision.
            let kind = property.get("type").and_then(Json::as_str).unwrap_or_default();
            if kind != "object" && kind != "array" {
                self.check_keywords(property, &path, also, out);
            }
            if kind == "string" {
                self.check_choices(property, &path, out);
            }
            let texts =
                ["title", "description"].map(|name| property.get(name).and_then(Json::as_str));
            for text in texts.iter().flatten() {
                self.check_clickable(text, &path, out);
            }
            let can_hold_a_secret = matches!(&*kind, "string" | "number" | "integer") && !is_enum;
            if asks.is_none() && can_hold_a_secret {
                let found = sensitive::asked_in_field(&key.name()).or_else(|| {
                    texts.iter().flatten().find_map(|it| sensitive::asked_in_label(it))
                });
                asks = found.map(|found| (path, found));
            }
        }
        if let Some((path, found)) = asks {
            let message = format!("the form asks for {found:?}");
            self.report(Rule::SensitiveElicitation, &path, message, out);
        }
    }

    /// Reports choices of a text that are not texts. As a plain text, whose other keywords count for
    /// nothing, the property would keep to the schema of the revision.
    fn check_choices(&self, property: Json<'_>, path: &str, out: &mut Vec<Violation>) {
        let choices = property.get("enum").unwrap_or(Json::EMPTY_OBJECT).items();
        let titled = property.get("oneOf").unwrap_or(Json::EMPTY_OBJECT).items();
        let mut values = choices.chain(titled.filter_map(|it| it.get("const")));
        if let Some(value) = values.find(|it| it.as_str().is_none()) {
            let message = format!("the choices of a text must be strings, not {value}");
            self.report(Rule::ComplexElicitation, path, message, out);
        }
    }

    fn check_keywords(
        &self,
        schema: Json<'_>,
        path: &str,
        also: &[&str],
        out: &mut Vec<Violation>,
    ) {
        let mut keywords = COMPLEX.iter().chain(also);
        if let Some(keyword) = keywords.find(|it| schema.get(it).is_some()) {
            let message = format!("the schema of a form must not have {keyword:?}");
            self.report(Rule::ComplexElicitation, path, message, out);
        }
    }

    fn check_clickable(&self, text: &str, path: &str, out: &mut Vec<Violation>) {
        let lower = text.to_ascii_lowercase();
        if lower.contains("https://") || lower.contains("http://") {
            let message = "the form contains a URL".to_owned();
            self.report(Rule::ClickableUrl, path, message, out);
        }
    }
}

fn strip_prefix_ignoring_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let start = text.get(..prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then(|| &text[prefix.len()..])
}

/// Returns true for the own machine, private networks and reserved names.
fn is_development_host(authority: &str) -> bool {
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let host = host.to_ascii_lowercase();
    let local = ["localhost", "::1", "0.0.0.0", "host.docker.internal"];
    let starts = ["127.", "10.", "192.168."];
    let ends = [".localhost", ".local", ".test", ".internal", ".lan"];
    local.contains(&&*host)
        || starts.iter().any(|it| host.starts_with(it))
        || ends.iter().any(|it| host.ends_with(it))
}
