//! The fields of an elicitation form (client/elicitation): renders the question for a
//! field, and parses its answer. Asks nothing itself.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use sparring_script::Schema;
use sparring_script::schema::Verdict;

/// Maximum number of choices in a question.
const MAX_CHOICES_SHOWN: usize = 20;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Field {
    /// The name in the answer.
    pub(crate) name: String,
    schema: Map<String, Value>,
    required: bool,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Text,
    Number,
    WholeNumber,
    YesOrNo,
    OneOf(Vec<Choice>),
    SomeOf(Vec<Choice>),
}

#[derive(Debug, Clone, PartialEq)]
struct Choice {
    value: String,
    title: Option<String>,
}

/// Returns the fields of a schema, in its order.
pub(crate) fn parse_fields(schema: &Value) -> Vec<Field> {
    let required = schema["required"].as_array().into_iter().flatten();
    let required: HashSet<&str> = required.filter_map(Value::as_str).collect();
    let properties = schema["properties"].as_object().into_iter().flatten();
    let field = |(name, property): (&String, &Value)| Field {
        name: name.clone(),
        schema: property.as_object().cloned().unwrap_or_default(),
        required: required.contains(name.as_str()),
        kind: parse_kind(property),
    };
    properties.map(field).collect()
}

impl Field {
    /// Renders the question in one line.
    pub(crate) fn question(&self) -> String {
        let text = |key: &str| self.schema.get(key).and_then(Value::as_str);
        let mut question = text("title").unwrap_or(&self.name).to_owned();
        if let Some(about) = text("description") {
            question.push_str(&format!(", {about}"));
        }
        let optional = if self.required { "" } else { "; optional" };
        let default = self.default().map(|default| format!(" [{}]", to_plain_text(default)));
        format!("{question} ({}{optional}){}: ", self.kind.describe(), default.unwrap_or_default())
    }

    /// Parses the answer. Returns nothing if the field is left out.
    ///
    /// # Errors
    /// When the answer does not match the field; the error is the reason.
    pub(crate) fn parse(&self, typed: &str) -> Result<Option<Value>, String> {
        let typed = typed.trim();
        if typed.is_empty() {
            return match self.default() {
                Some(default) => Ok(Some(default.clone())),
                None if self.required => Err("a value is required".to_owned()),
                None => Ok(None),
            };
        }
        let value = self.kind.parse(typed)?;
        // A schema that is invalid restricts nothing.
        match Schema::new(&json!(self.schema)).map(|schema| schema.check(&value, 1)) {
            Ok(Verdict::Invalid(found)) => {
                Err(found.into_iter().map(|mismatch| mismatch.message).collect())
            }
            _ => Ok(Some(value)),
        }
    }

    fn default(&self) -> Option<&Value> {
        self.schema.get("default")
    }
}

impl Kind {
    fn describe(&self) -> String {
        match self {
            Kind::Text => "text".to_owned(),
            Kind::Number => "a number".to_owned(),
            Kind::WholeNumber => "a whole number".to_owned(),
            Kind::YesOrNo => "yes or no".to_owned(),
            Kind::OneOf(choices) => format!("one of {}", list_choices(choices)),
            Kind::SomeOf(choices) => {
                format!("any of {}, separated by commas", list_choices(choices))
            }
        }
    }

    fn parse(&self, typed: &str) -> Result<Value, String> {
        match self {
            Kind::Text => Ok(typed.into()),
            Kind::Number => {
                let number = serde_json::from_str::<serde_json::Number>(typed);
                number.map(Value::Number).map_err(|_| format!("'{typed}' is not a number"))
            }
            Kind::WholeNumber => {
                let number = typed.parse::<i64>();
                number.map(Value::from).map_err(|_| format!("'{typed}' is not a whole number"))
            }
            Kind::YesOrNo => match typed.to_ascii_lowercase().as_str() {
                "y" | "yes" | "true" => Ok(true.into()),
                "n" | "no" | "false" => Ok(false.into()),
                _ => Err(format!("'{typed}' is neither yes nor no")),
            },
            Kind::OneOf(choices) => find_choice(choices, typed).map(Value::from),
            Kind::SomeOf(choices) => {
                let each = typed.split(',').map(str::trim).filter(|it| !it.is_empty());
                let each =
                    each.map(|it| find_choice(choices, it)).collect::<Result<Vec<_>, _>>()?;
                Ok(each.into())
            }
        }
    }
}

/// Returns the kind of a property, including choices with `enumNames` as in 2025-06-18.
fn parse_kind(property: &Value) -> Kind {
    let own = parse_choices(property);
    match property["type"].as_str() {
        _ if !own.is_empty() => Kind::OneOf(own),
        Some("number") => Kind::Number,
        Some("integer") => Kind::WholeNumber,
        Some("boolean") => Kind::YesOrNo,
        Some("array") => Kind::SomeOf(parse_choices(&property["items"])),
        _ => Kind::Text,
    }
}

fn parse_choices(schema: &Value) -> Vec<Choice> {
    if let Some(values) = schema["enum"].as_array() {
        let title = |index: usize| Some(schema["enumNames"].get(index)?.as_str()?.to_owned());
        let choice = |(index, value): (usize, &Value)| {
            Some(Choice { value: value.as_str()?.to_owned(), title: title(index) })
        };
        return values.iter().enumerate().filter_map(choice).collect();
    }
    let titled = schema["oneOf"].as_array().or_else(|| schema["anyOf"].as_array());
    let choice = |of: &Value| {
        let title = of["title"].as_str().map(str::to_owned);
        Some(Choice { value: of["const"].as_str()?.to_owned(), title })
    };
    titled.into_iter().flatten().filter_map(choice).collect()
}

/// Finds a choice by its value or its title, in any case.
fn find_choice(choices: &[Choice], typed: &str) -> Result<String, String> {
    let exact = choices.iter().find(|it| it.value == typed);
    let like = |text: &str| text.eq_ignore_ascii_case(typed);
    let close =
        || choices.iter().find(|it| like(&it.value) || it.title.as_deref().is_some_and(like));
    match exact.or_else(close) {
        Some(choice) => Ok(choice.value.clone()),
        None if choices.is_empty() => Ok(typed.to_owned()),
        None => Err(format!("'{typed}' is not one of {}", list_choices(choices))),
    }
}

fn list_choices(choices: &[Choice]) -> String {
    let shown = choices.iter().take(MAX_CHOICES_SHOWN).map(|choice| match &choice.title {
        Some(title) if *title != choice.value => format!("{} ({title})", choice.value),
        _ => choice.value.clone(),
    });
    let mut shown: Vec<String> = shown.collect();
    if choices.len() > MAX_CHOICES_SHOWN {
        shown.push(format!("and {} more", choices.len() - MAX_CHOICES_SHOWN));
    }
    shown.join(", ")
}

fn to_plain_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(property: &Value, required: bool) -> Field {
        let names: &[&str] = if required { &["it"] } else { &[] };
        let mut all = parse_fields(&json!({"properties": {"it": property}, "required": names}));
        all.remove(0)
    }

    #[test]
    fn a_question_describes_its_field() {
        for (property, required, expected) in [
            (json!({"type": "string"}), true, "it (text): "),
            (
                json!({"type": "string", "title": "Name", "description": "as on the door"}),
                false,
                "Name, as on the door (text; optional): ",
            ),
            (json!({"type": "integer", "default": 3}), true, "it (a whole number) [3]: "),
            (json!({"type": "boolean", "default": true}), true, "it (yes or no) [true]: "),
            (
                json!({"type": "string", "enum": ["a", "b"], "enumNames": ["A!", "b"]}),
                true,
                "it (one of a (A!), b): ",
            ),
            (
                json!({"type": "array", "items": {"anyOf": [{"const": "x", "title": "X ray"}]}}),
                true,
                "it (any of x (X ray), separated by commas): ",
            ),
        ] {
            assert_eq!(field(&property, required).question(), expected);
        }
    }

    #[test]
    fn an_answer_is_parsed_as_the_schema_requires() {
        let colours = json!({"type": "string", "oneOf": [{"const": "r", "title": "Red"}]});
        let some = json!({"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 1});
        for (property, typed, expected) in [
            (json!({"type": "string"}), " Ada ", Ok(json!("Ada"))),
            (json!({"type": "number"}), "1.5", Ok(json!(1.5))),
            (json!({"type": "number"}), "much", Err("'much' is not a number")),
            (json!({"type": "integer", "minimum": 1}), "7", Ok(json!(7))),
            (json!({"type": "integer"}), "1.5", Err("'1.5' is not a whole number")),
            (json!({"type": "boolean"}), "Y", Ok(json!(true))),
            (json!({"type": "boolean"}), "maybe", Err("'maybe' is neither yes nor no")),
            (colours.clone(), "red", Ok(json!("r"))),
            (colours, "blue", Err("'blue' is not one of r (Red)")),
            (some, "B", Ok(json!(["b"]))),
        ] {
            let read = field(&property, true).parse(typed);
            assert_eq!(read, expected.map(Some).map_err(str::to_owned), "{typed}");
        }
        let small = field(&json!({"type": "integer", "minimum": 1}), true).parse("0");
        assert!(small.is_err_and(|why| why.contains('1')), "the schema's limits hold");
    }

    #[test]
    fn an_empty_answer_is_the_default_or_nothing_or_an_error() {
        let default = field(&json!({"type": "string", "default": "x"}), true);
        assert_eq!(default.parse(""), Ok(Some(json!("x"))));
        assert_eq!(field(&json!({"type": "string"}), false).parse(""), Ok(None));
        let needed = field(&json!({"type": "string"}), true).parse("");
        assert_eq!(needed, Err("a value is required".to_owned()));
    }
}
