//! Loads an LLM script.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value};
use sparring_script::grammar::check_node;
use sparring_script::{
    MapEntry, Matcher, Node, NodeKind, Problems, Scope, Shape, Source, Span, TemplateTree,
    UndefinedPath, did_you_mean, parse_duration,
};
use sparring_transport::{MAX_SCRIPT_BYTES, read_text_file};

use super::template_check::VarScope;
use super::text;
use crate::grammar;
use crate::http_mock::HttpFault;
use crate::llm::{
    Api, ApiError, Arguments, Call, Fault, LlmScript, Repeat, TURN_ROOTS, ToolName, Turn,
};

/// The default text of `garbage`.
const GARBAGE: &str = "%% not JSON %%";

/// The values that templates of an LLM script can use besides those of the request.
#[derive(Clone, Copy)]
pub enum LlmScope<'a> {
    /// Only `vars`.
    Vars(&'a Value),
    /// The values of a suite; `None` while it is only checked.
    Suite(Option<&'a dyn Scope>),
}

/// Loads a script from text.
pub(crate) fn load_llm(
    source: &Source,
    vars: &[(String, Value)],
) -> Result<Arc<LlmScript>, Problems> {
    let mut node = Node::parse(source)?;
    let mut problems = Problems::new(source);
    check_node(&mut node, &Shape::Object(&grammar::LLM), &mut problems);
    let all = node.get("vars").map(Node::to_json).filter(Value::is_object);
    let mut all = all.unwrap_or_else(|| Value::Object(Map::new()));
    for (name, value) in vars {
        all[name] = value.clone();
    }
    let script = LlmScript::read(&node, LlmScope::Vars(&all), &mut problems);
    match script {
        Some(script) => problems.into_result(script),
        None => Err(problems),
    }
}

impl LlmScript {
    /// Loads a script of a file or a suite, whose shape [`LLM_KEYS`](crate::LLM_KEYS) has
    /// checked. Returns `None` without an API.
    pub fn read(
        node: &Node,
        scope: LlmScope<'_>,
        problems: &mut Problems,
    ) -> Option<Arc<LlmScript>> {
        let apis: Vec<(&MapEntry, Api)> =
            Api::ALL.into_iter().filter_map(|api| Some((node.entry(api.name())?, api))).collect();
        let [(turns, api)] = apis[..] else {
            problems
                .add(node.span, "give exactly one of `turns`, `openai`, `anthropic` and `gemini`");
            return None;
        };
        let mut loader = LlmLoader { api, scope, known_values: HashMap::new(), problems };
        let mut cases = BTreeMap::new();
        for case in node.get("cases").map(Node::entries).unwrap_or_default() {
            loader.check_case_id(case);
            cases.insert(case.key.clone(), loader.load_turns(&case.value));
        }
        let models = node.get("models").map(Node::items).unwrap_or_default();
        Some(Arc::new(LlmScript {
            api,
            models: models.iter().filter_map(Node::as_str).map(str::to_owned).collect(),
            turns: loader.load_turns(&turns.value),
            cases,
            known: loader.known_values,
        }))
    }
}

/// Loads one LLM script.
struct LlmLoader<'a, 'p> {
    api: Api,
    scope: LlmScope<'a>,
    /// The values of template paths that are known in advance.
    known_values: HashMap<String, Value>,
    problems: &'p mut Problems,
}

impl LlmLoader<'_, '_> {
    fn check_case_id(&mut self, case: &MapEntry) {
        let plain = |c: char| c.is_alphanumeric() || ['_', '.', '-'].contains(&c);
        if case.key.is_empty() || !case.key.chars().all(plain) {
            let message = "a case id can have only letters, digits, `_`, `.` and `-`";
            self.problems.add(case.key_span, message);
        }
    }

    fn load_turns(&mut self, node: &Node) -> Arc<[Turn]> {
        let turns: Vec<Turn> = node.items().iter().map(|turn| self.load_turn(turn)).collect();
        let mut in_order = turns.iter().zip(node.items()).filter(|(turn, _)| turn.when.is_empty());
        let repeated = in_order.any(|(turn, _)| turn.repeat == Repeat::Always);
        if let Some((_, after)) = in_order.next().filter(|_| repeated) {
            self.problems
                .add(after.span, "this turn is never reached: the one before it always repeats");
        }
        turns.into()
    }

    fn load_turn(&mut self, node: &Node) -> Turn {
        let time = |node: &Node, key| node.get(key).and_then(Node::as_str).map(parse_duration);
        let time = |key| time(node, key).and_then(Result::ok).unwrap_or_default();
        let calls = match (node.entry("call"), node.get("calls")) {
            (Some(call), Some(_)) => {
                self.problems.add(call.key_span, "give either `call` or `calls`");
                Vec::new()
            }
            (Some(call), None) => vec![self.load_call(&call.value)],
            (None, calls) => {
                let calls = calls.map(Node::items).unwrap_or_default();
                calls.iter().map(|call| self.load_call(call)).collect()
            }
        };
        let number = |key| node.get("usage").and_then(|usage| usage.get(key)?.as_u64());
        let fault = node.get("fault");
        let turn = Turn {
            span: node.span,
            when: self.load_expect(node.get("when")),
            optional: node.get("optional").and_then(Node::as_bool) == Some(true),
            expect: self.load_expect(node.get("expect")),
            text: node.get("text").map(|text| self.load_tree(text).into_text()),
            refusal: node.get("refusal").map(|text| self.load_tree(text).into_text()),
            calls,
            stop: text(node, "stop"),
            input_tokens: number("input"),
            output_tokens: number("output"),
            delay: time("delay"),
            pace: time("pace"),
            error: node.get("error").map(|error| self.load_error(error)),
            fault: fault.and_then(|fault| self.load_fault(fault)),
            content_type: fault.and_then(|fault| text(fault, "bad_content_type")),
            repeat: match node.get("repeat").map(|it| &it.kind) {
                Some(NodeKind::String(_)) => Repeat::Always,
                Some(NodeKind::Number(times)) => Repeat::Times(times.as_u64().unwrap_or(1)),
                _ => Repeat::default(),
            },
        };
        self.check_turn(node, &turn);
        turn
    }

    /// Checks that a turn has an answer that can be sent.
    fn check_turn(&mut self, node: &Node, turn: &Turn) {
        if let Some(refusal) = node.entry("refusal")
            && (turn.text.is_some() || !turn.calls.is_empty())
        {
            let message = "`refusal` cannot be used with `text`, `call` and `calls`";
            self.problems.add(refusal.key_span, message);
        }
        if !turn.has_answer() && turn.error.is_none() && turn.fault.is_none() {
            let message =
                "the turn has no answer: give one of text, refusal, call, calls, error, fault";
            self.problems.add(node.span, message);
        }
        let value = turn.content_type.as_deref().map(http::HeaderValue::try_from);
        if let (Some(Err(_)), Some(fault)) = (value, node.get("fault")) {
            self.problems.add(fault.span, "`bad_content_type` is not a valid header value");
        }
        if let Some(fault) = node.entry("fault")
            && turn.fault.is_none()
            && turn.content_type.is_none()
        {
            self.problems.add(fault.key_span, "`fault` has no effect: it names no fault");
        }
        self.check_error(node, turn);
    }

    /// Refuses keys that have no effect beside an error.
    fn check_error(&mut self, node: &Node, turn: &Turn) {
        let Some(error) = node.entry("error") else { return };
        if let Some(Fault::Connection(HttpFault::Silent | HttpFault::Disconnect)) = turn.fault {
            self.problems
                .add(error.key_span, "`error` has no effect: the fault prevents any answer");
        }
        if turn.has_answer() {
            return;
        }
        for key in ["stop", "usage", "pace"] {
            if let Some(entry) = node.entry(key) {
                let message = format!("`{key}` has no effect: an error without an answer has none");
                self.problems.add(entry.key_span, message);
            }
        }
    }

    fn load_call(&mut self, node: &Node) -> Call {
        let mut load = |key: &str| node.get(key).map(|it| self.load_tree(it));
        let (with, arguments_text, id) = (load("with"), load("arguments"), load("id"));
        if let Some(arguments) = node.entry("arguments").filter(|_| with.is_some()) {
            self.problems.add(arguments.key_span, "give either `arguments` or `with`");
        }
        self.check_misplaced_keys(node);
        let undeclared = node.get("undeclared").and_then(Node::as_bool) == Some(true);
        let tool = match node.get("tool") {
            Some(tool) if matches!(tool.kind, NodeKind::Map(_)) => {
                if undeclared {
                    let message = "`undeclared` needs the name of the tool, not a matcher";
                    self.problems.add(tool.span, message);
                }
                self.load_matcher(tool).map(ToolName::Matcher)
            }
            Some(tool) => Some(ToolName::Name(self.load_tree(tool).into_text())),
            None => None,
        };
        Call {
            tool: tool.unwrap_or(ToolName::Name(TemplateTree::Literal(Value::Null))),
            with: match arguments_text {
                Some(arguments_text) => Arguments::Text(arguments_text.into_text()),
                None => Arguments::Value(
                    with.unwrap_or(TemplateTree::Literal(Value::Object(Map::new()))),
                ),
            },
            id: id.map(TemplateTree::into_text),
            undeclared,
        }
    }

    /// Refuses conditions of the turn below `with`, where they would be arguments.
    fn check_misplaced_keys(&mut self, call: &Node) {
        let arguments = call.get("with").map(Node::entries).unwrap_or_default();
        for entry in arguments.iter().filter(|it| ["expect", "when"].contains(&&*it.key)) {
            let conditions = entry.value.entries();
            let are_known = conditions.iter().all(|it| grammar::LLM_EXPECT.has_key(&it.key));
            if !conditions.is_empty() && are_known {
                let message = format!("`{}` is below `with`; move it to the turn", entry.key);
                self.problems.add(entry.key_span, message);
            }
        }
    }

    fn load_error(&mut self, node: &Node) -> ApiError {
        let status = node.get("status").and_then(Node::as_u64).unwrap_or(500);
        let status = u16::try_from(status).unwrap_or(u16::MAX);
        if let Some(status_node) = node.get("status").filter(|_| status > 599) {
            self.problems.add(status_node.span, "an error status is at most 599");
        }
        if let Some(code) = node.entry("code").filter(|_| self.api == Api::Anthropic) {
            self.problems.add(code.key_span, "errors of Anthropic's API have no code");
        }
        let after = node.get("retry_after").and_then(Node::as_str);
        ApiError {
            status,
            kind: text(node, "type"),
            code: text(node, "code"),
            message: text(node, "message").unwrap_or_else(|| "scripted error".to_owned()),
            retry_after: after.and_then(|after| parse_duration(after).ok()),
        }
    }

    fn load_fault(&mut self, node: &Node) -> Option<Fault> {
        let mut faults = Vec::new();
        let is_true = |key: &str| node.get(key).and_then(Node::as_bool) == Some(true);
        faults.extend(node.get("disconnect").map(|it| {
            let middle = it.as_str() == Some("middle");
            let fault = if middle { HttpFault::Truncate } else { HttpFault::Disconnect };
            Fault::Connection(fault)
        }));
        faults.extend(is_true("silent").then_some(Fault::Connection(HttpFault::Silent)));
        let slow = node.get("slow").and_then(Node::as_u64);
        faults.extend(slow.map(|rate| Fault::Connection(HttpFault::Slow(rate))));
        faults.extend(is_true("truncate").then_some(Fault::Truncate));
        match node.get("garbage").map(|garbage| &garbage.kind) {
            Some(NodeKind::Bool(true)) => faults.push(Fault::Garbage(GARBAGE.to_owned())),
            Some(NodeKind::String(garbage)) => faults.push(Fault::Garbage(garbage.clone())),
            _ => {}
        }
        if faults.len() > 1 {
            let message = "give only one of disconnect, silent, slow, truncate, garbage";
            self.problems.add(node.span, message);
        }
        faults.pop()
    }

    fn load_expect(&mut self, node: Option<&Node>) -> Vec<(String, Matcher)> {
        let entries = node.map(Node::entries).unwrap_or_default();
        let mut expect = Vec::new();
        for entry in entries {
            let mut value = entry.value.clone();
            if let ("headers", NodeKind::Map(headers)) = (&*entry.key, &mut value.kind) {
                headers.iter_mut().for_each(|header| header.key.make_ascii_lowercase());
            }
            expect.extend(self.load_matcher(&value).map(|matcher| (entry.key.clone(), matcher)));
        }
        expect
    }

    /// Loads a matcher, which can use only values known in advance; `None` if these are not
    /// known yet.
    fn load_matcher(&mut self, node: &Node) -> Option<Matcher> {
        let tree = TemplateTree::from_node(node, self.problems);
        if tree.as_literal().is_some() {
            return Some(Matcher::from_node(node, self.problems));
        }
        let rendered = match self.scope {
            LlmScope::Vars(vars) => tree.render(&VarScope(vars)),
            LlmScope::Suite(Some(scope)) => tree.render(scope),
            LlmScope::Suite(None) => return None,
        };
        match rendered {
            Ok(value) => Some(Matcher::from_node(&Node::from((node.span, value)), self.problems)),
            Err(missing) => {
                self.problems.add(missing.span, missing.undefined.to_string());
                None
            }
        }
    }

    /// Loads a value whose texts are templates, and stores the values that are known in advance.
    fn load_tree(&mut self, node: &Node) -> TemplateTree {
        let tree = TemplateTree::from_node(node, self.problems);
        for (path, span, optional) in tree.placeholders() {
            if TURN_ROOTS.contains(&path.root()) {
                continue;
            }
            let found = match self.scope {
                LlmScope::Vars(vars) => VarScope(vars).get(path),
                LlmScope::Suite(Some(scope)) => scope.get(path),
                LlmScope::Suite(None) => continue,
            };
            match found {
                Ok(value) => drop(self.known_values.insert(path.to_string(), value)),
                Err(_) if optional => {}
                Err(undefined) => self.report_undefined(path, span, undefined),
            }
        }
        tree
    }

    fn report_undefined(
        &mut self,
        path: &sparring_script::Path,
        span: Span,
        undefined: UndefinedPath,
    ) {
        let root = path.root();
        match self.scope {
            LlmScope::Vars(_) if root != "vars" => {
                let help = did_you_mean(root, TURN_ROOTS.into_iter().chain(["vars"]));
                let message = format!("${{{path}}}: unknown name `{root}`");
                self.problems.add_with_help(span, message, help);
            }
            _ => self.problems.add(span, undefined.to_string()),
        }
    }
}

/// Loads a script from a file.
pub(crate) fn load_llm_file(
    path: &Path,
    vars: &[(String, Value)],
) -> Result<Arc<LlmScript>, crate::LoadError> {
    let text = read_text_file(path, MAX_SCRIPT_BYTES)
        .map_err(|error| crate::LoadError::Read { path: path.to_owned(), error })?;
    let source = Source::new(path.display().to_string(), text);
    Ok(load_llm(&source, vars)?)
}
