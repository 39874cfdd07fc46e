//! The schemas of tools: valid in their draft, with references that resolve, and possible.

use std::time::{Duration, Instant};

use serde_json::Value;
use sparring_script::Schema;
use sparring_wire::{Revision, Rule};

use super::subschemas::{Subschema, subschemas};
use super::{references, values};
use crate::probes::definition_findings::{DefinitionFindings, name_of, shown};

/// The time for the defaults and examples of one schema, each of which is compiled.
const EXAMPLES_TIME: Duration = Duration::from_secs(2);

/// The number of references of one schema that do not resolve, after which no more are checked.
const MAX_UNRESOLVED: usize = 20;

/// The drafts of JSON Schema that are checked.
const DRAFTS: [&str; 5] = ["2020-12", "2019-09", "draft-07", "draft-06", "draft-04"];

/// Returns the rule about invalid schemas: since 2025-11-25 one of the specification,
/// basic#schema-validation.
pub(super) fn invalid_schema_rule(revision: Revision) -> Rule {
    match Rule::InvalidJsonSchema.applies_in(revision) {
        true => Rule::InvalidJsonSchema,
        false => Rule::InvalidSchema,
    }
}

/// Checks the schemas of a tool.
pub(super) fn check(tool: &Value, invalid: Rule, findings: &mut DefinitionFindings) {
    let name = shown(name_of(tool));
    for kind in ["inputSchema", "outputSchema"] {
        if let Some(schema) = tool.get(kind).filter(|it| it.is_object()) {
            let place = format!("the {kind} of the tool {name:?}");
            SchemaCheck { tool: name, place, findings }.run(schema, invalid);
        }
    }
}

struct SchemaCheck<'a> {
    tool: &'a str,
    place: String,
    findings: &'a mut DefinitionFindings,
}

impl SchemaCheck<'_> {
    fn add(&mut self, rule: Rule, message: &str, at: &str) {
        let message = format!("{message}{at} in {}", self.place);
        self.findings.add(rule, self.tool, message);
    }

    fn run(&mut self, schema: &Value, invalid: Rule) {
        let all = subschemas(schema);
        let mut unresolved = 0;
        for part in &all {
            let reference = part.schema.get("$ref").or(part.schema.get("$dynamicRef"));
            let problem = reference.and_then(Value::as_str);
            if let Some((rule, message)) = problem.and_then(|it| references::problem(&all, it)) {
                unresolved += 1;
                self.add(rule, &message, &part.place());
            }
            if unresolved == MAX_UNRESOLVED {
                break;
            }
        }
        let all_resolve = unresolved == 0;
        // Without the references the schema cannot be compiled.
        if all_resolve && !self.compiles(schema, invalid) {
            return;
        }
        let began = Instant::now();
        for part in &all {
            self.check_required(part);
            self.check_values(part);
            if all_resolve && began.elapsed() < EXAMPLES_TIME {
                self.check_examples(schema, part);
            }
        }
    }

    fn compiles(&mut self, schema: &Value, invalid: Rule) -> bool {
        let draft = schema["$schema"].as_str();
        if draft.is_some_and(|uri| !DRAFTS.iter().any(|name| uri.contains(name))) {
            return true;
        }
        match Schema::new(schema) {
            Err(error) if !error.too_complex => {
                let is_pattern = error.pointer.contains("/pattern");
                let rule = match is_pattern {
                    true => Rule::InvalidPattern,
                    // No value conforms to a schema that is only a reference to itself.
                    false if error.message.contains("endlessly") => Rule::ImpossibleSchema,
                    false => invalid,
                };
                self.add(rule, &format!("expected a valid JSON Schema; {error}"), "");
                is_pattern
            }
            _ => true,
        }
    }

    fn check_required(&mut self, part: &Subschema<'_>) {
        let Subschema { schema, .. } = part;
        let Some(required) = schema["required"].as_array() else { return };
        let composed = ["$ref", "allOf", "anyOf", "oneOf", "if", "patternProperties"];
        let may_declare = composed.iter().any(|key| schema.get(key).is_some());
        // A part such as `anyOf: [{required: [a]}]` requires what its parent declares.
        let declares = schema.get("properties").is_some() || part.is_root();
        if may_declare || !declares {
            return;
        }
        let missing = required.iter().filter_map(Value::as_str);
        for name in missing.filter(|name| schema["properties"].get(name).is_none()) {
            let expected = "expected each required property below `properties`";
            let message = format!("{expected}; {:?} is not declared", shown(name));
            self.add(Rule::UndeclaredRequired, &message, &part.place());
        }
    }

    fn check_values(&mut self, part: &Subschema<'_>) {
        if let Some(message) = values::enum_problem(part.schema) {
            self.add(Rule::WrongEnum, &message, &part.place());
        }
        if let Some(message) = values::impossible(part.schema) {
            self.add(Rule::ImpossibleSchema, &message, &part.place());
        }
    }

    fn check_examples(&mut self, root: &Value, part: &Subschema<'_>) {
        for (rule, message) in values::example_problems(root, part.schema) {
            self.add(rule, &message, &part.place());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check_schema(schema: Value, expected: &[Rule]) {
        let tool = json!({"name": "a", "inputSchema": schema});
        let mut findings = DefinitionFindings::default();
        check(&tool, Rule::InvalidSchema, &mut findings);
        let rules: Vec<Rule> = findings.found().into_iter().map(|(rule, _)| rule).collect();
        assert_eq!(rules, expected, "{schema}: {:?}", findings.messages());
    }

    #[track_caller]
    fn check_property(property: Value, expected: &[Rule]) {
        check_schema(json!({"type": "object", "properties": {"a": property}}), expected);
    }

    #[test]
    fn large_schemas_take_little_time_and_memory() {
        let values: Vec<String> = (0..100_000).map(|it| format!("v{it}")).collect();
        check_property(json!({"enum": values}), &[]);
        let long = "x".repeat(1_000_000);
        let inner: serde_json::Map<_, _> =
            (0..1_000).map(|it| (format!("p{it}"), json!({"enum": []}))).collect();
        let tool = json!({"name": long, "inputSchema": {"type": "object", "properties": {
            &*long: {"type": "object", "properties": inner},
        }}});
        let mut findings = DefinitionFindings::default();
        check(&tool, Rule::InvalidSchema, &mut findings);
        assert!(!findings.messages().is_empty());
        assert!(findings.messages().iter().all(|it| it.len() < 5_000));
    }

    #[test]
    fn finds_invalid_schemas() {
        check_property(json!({"type": "strin"}), &[Rule::InvalidSchema]);
        check_property(json!({"type": "string", "minLength": -1}), &[Rule::InvalidSchema]);
        check_property(json!({"type": "string", "pattern": "(a"}), &[Rule::InvalidPattern]);
        check_property(json!({"type": "string", "pattern": "^(?=a)\\w+$"}), &[]);
        let draft = "https://example.com/my-draft";
        check_schema(json!({"$schema": draft, "type": "object", "properties": []}), &[]);
        let draft = "http://json-schema.org/draft-07/schema#";
        check_schema(json!({"$schema": draft, "type": "object", "properties": {}}), &[]);
    }

    #[test]
    fn finds_references_that_do_not_resolve() {
        check_property(json!({"$ref": "#/$defs/b"}), &[Rule::UnresolvedReference]);
        check_property(json!({"$ref": "https://example.com/b.json"}), &[Rule::ExternalReference]);
        check_property(json!({"$ref": "b.json#/a"}), &[Rule::ExternalReference]);
        check_property(json!({"$ref": "#"}), &[]);
        check_property(json!({"$ref": "#/properties/a"}), &[Rule::ImpossibleSchema]);
        let anchored = json!({
            "properties": {"a": {"$ref": "#b"}, "c": {"$ref": "#/$defs/d~1e"}},
            "$defs": {"x": {"$anchor": "b"}, "d/e": {}},
        });
        check_schema(anchored, &[]);
    }

    #[test]
    fn finds_required_properties_without_declaration() {
        let declared = |required: Value| json!({"type": "object", "properties": {"a": {}}, "required": required});
        check_schema(declared(json!(["a"])), &[]);
        check_schema(declared(json!(["a", "b"])), &[Rule::UndeclaredRequired]);
        check_schema(json!({"type": "object", "required": ["b"]}), &[Rule::UndeclaredRequired]);
        let choice = json!({"properties": {"a": {}}, "anyOf": [{"required": ["a"]}]});
        check_schema(choice, &[]);
    }

    #[test]
    fn finds_wrong_enums_and_limits() {
        check_property(json!({"enum": []}), &[Rule::WrongEnum]);
        check_property(json!({"enum": ["a", "b", "a"]}), &[Rule::WrongEnum]);
        check_property(json!({"type": "string", "enum": ["a", null]}), &[]);
        check_property(json!({"type": "string", "enum": [1, 2]}), &[Rule::ImpossibleSchema]);
        check_property(json!({"type": "integer", "const": "a"}), &[Rule::ImpossibleSchema]);
        check_property(json!({"minimum": 5, "maximum": 4}), &[Rule::ImpossibleSchema]);
        check_property(json!({"minimum": 5, "exclusiveMaximum": 5}), &[Rule::ImpossibleSchema]);
        check_property(json!({"minimum": 5, "maximum": 5}), &[]);
        check_property(json!({"minLength": 5, "maxLength": 4}), &[Rule::ImpossibleSchema]);
        check_property(json!({"minItems": 5, "maxItems": 4}), &[Rule::ImpossibleSchema]);
        check_property(
            json!({"type": "integer", "minimum": 1.2, "maximum": 1.8}),
            &[Rule::ImpossibleSchema],
        );
        let never = json!({"properties": {"a": false}, "required": ["a"]});
        check_schema(never, &[Rule::ImpossibleSchema]);
    }

    #[test]
    fn finds_defaults_and_examples_that_break_their_schema() {
        check_property(json!({"type": "integer", "default": "ten"}), &[Rule::WrongDefault]);
        check_property(json!({"type": "integer", "default": null}), &[]);
        check_property(json!({"type": "integer", "default": 10}), &[]);
        check_property(json!({"enum": ["a"], "default": "b"}), &[Rule::WrongDefault]);
        check_property(json!({"type": "string", "examples": ["a", 2]}), &[Rule::WrongExample]);
        check_property(json!({"type": "string", "examples": "a"}), &[Rule::InvalidSchema]);
        let referring = json!({
            "properties": {"a": {"$ref": "#/$defs/b", "default": 1}},
            "$defs": {"b": {"type": "string"}},
        });
        check_schema(referring, &[Rule::WrongDefault]);
    }
}
