//! The fields of what a server asks a person for (client/elicitation): what each
//! is, in words, and what is typed for it. Nothing is asked here.

use serde_json::{Map, Value, json};

use sparring_script::Schema;
use sparring_script::schema::Verdict;

/// The most choices that a question names.
const MOST_SHOWN: usize = 20;

/// One field.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Field {
    /// What the answer calls it.
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

/// One that may be chosen.
#[derive(Debug, Clone, PartialEq)]
struct Choice {
    value: String,
    title: Option<String>,
}

/// The fields that a schema asks for, in its order.
pub(crate) fn fields(schema: &Value) -> Vec<Field> {
    let required: Vec<&str> = match schema["required"].as_array() {
        Some(names) => names.iter().filter_map(Value::as_str).collect(),
        None => Vec::new(),
    };
    let properties = schema["properties"].as_object().into_iter().flatten();
    let field = |(name, property): (&String, &Value)| Field {
        name: name.clone(),
        schema: property.as_object().cloned().unwrap_or_default(),
        required: required.contains(&name.as_str()),
        kind: kind(property),
    };
    properties.map(field).collect()
}

impl Field {
    /// What is asked, in one line.
    pub(crate) fn question(&self) -> String {
        let text = |key: &str| self.schema.get(key).and_then(Value::as_str);
        let mut said = text("title").unwrap_or(&self.name).to_owned();
        if let Some(about) = text("description") {
            said.push_str(&format!(", {about}"));
        }
        let optional = if self.required { "" } else { "; may be left out" };
        let default = self.default().map(|default| format!(" [{}]", plain(default)));
        format!("{said} ({}{optional}){}: ", self.kind.said(), default.unwrap_or_default())
    }

    /// Reads what was typed: none where it is left out.
    ///
    /// # Errors
    /// When it is not what is asked for; the error says what is wrong.
    pub(crate) fn read(&self, typed: &str) -> Result<Option<Value>, String> {
        let typed = typed.trim();
        if typed.is_empty() {
            return match self.default() {
                Some(default) => Ok(Some(default.clone())),
                None if self.required => Err("it must not be left out".to_owned()),
                None => Ok(None),
            };
        }
        let value = self.kind.read(typed)?;
        // A schema that cannot be used limits nothing.
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
    fn said(&self) -> String {
        match self {
            Kind::Text => "text".to_owned(),
            Kind::Number => "a number".to_owned(),
            Kind::WholeNumber => "a whole number".to_owned(),
            Kind::YesOrNo => "yes or no".to_owned(),
            Kind::OneOf(choices) => format!("one of {}", named(choices)),
            Kind::SomeOf(choices) => format!("any of {}, with commas between", named(choices)),
        }
    }

    fn read(&self, typed: &str) -> Result<Value, String> {
        match self {
            Kind::Text => Ok(typed.into()),
            Kind::Number => {
                let number = serde_json::from_str::<serde_json::Number>(typed);
                number.map(Value::Number).map_err(|_| format!("'{typed}' is no number"))
            }
            Kind::WholeNumber => {
                let number = typed.parse::<i64>();
                number.map(Value::from).map_err(|_| format!("'{typed}' is no whole number"))
            }
            Kind::YesOrNo => match typed.to_ascii_lowercase().as_str() {
                "y" | "yes" | "true" => Ok(true.into()),
                "n" | "no" | "false" => Ok(false.into()),
                _ => Err(format!("'{typed}' is neither yes nor no")),
            },
            Kind::OneOf(choices) => chosen(choices, typed).map(Value::from),
            Kind::SomeOf(choices) => {
                let each = typed.split(',').map(str::trim).filter(|it| !it.is_empty());
                let each = each.map(|it| chosen(choices, it)).collect::<Result<Vec<_>, _>>()?;
                Ok(each.into())
            }
        }
    }
}

/// The kind of a property: also as 2025-06-18 spells choices, by `enumNames`.
fn kind(property: &Value) -> Kind {
    let own = choices(property);
    match property["type"].as_str() {
        _ if !own.is_empty() => Kind::OneOf(own),
        Some("number") => Kind::Number,
        Some("integer") => Kind::WholeNumber,
        Some("boolean") => Kind::YesOrNo,
        Some("array") => Kind::SomeOf(choices(&property["items"])),
        _ => Kind::Text,
    }
}

fn choices(schema: &Value) -> Vec<Choice> {
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

/// The value that was meant: by itself or by its title, in any case.
fn chosen(choices: &[Choice], typed: &str) -> Result<String, String> {
    let exact = choices.iter().find(|it| it.value == typed);
    let like = |text: &str| text.eq_ignore_ascii_case(typed);
    let close =
        || choices.iter().find(|it| like(&it.value) || it.title.as_deref().is_some_and(like));
    match exact.or_else(close) {
        Some(choice) => Ok(choice.value.clone()),
        None if choices.is_empty() => Ok(typed.to_owned()),
        None => Err(format!("'{typed}' is none of {}", named(choices))),
    }
}

fn named(choices: &[Choice]) -> String {
    let shown = choices.iter().take(MOST_SHOWN).map(|choice| match &choice.title {
        Some(title) if *title != choice.value => format!("{} ({title})", choice.value),
        _ => choice.value.clone(),
    });
    let mut shown: Vec<String> = shown.collect();
    if choices.len() > MOST_SHOWN {
        shown.push(format!("and {} more", choices.len() - MOST_SHOWN));
    }
    shown.join(", ")
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(property: &Value, required: bool) -> Field {
        let names: &[&str] = if required { &["it"] } else { &[] };
        let mut all = fields(&json!({"properties": {"it": property}, "required": names}));
        all.remove(0)
    }

    #[test]
    fn a_question_says_what_is_wanted() {
        for (property, required, expected) in [
            (json!({"type": "string"}), true, "it (text): "),
            (
                json!({"type": "string", "title": "Name", "description": "as on the door"}),
                false,
                "Name, as on the door (text; may be left out): ",
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
                "it (any of x (X ray), with commas between): ",
            ),
        ] {
            assert_eq!(field(&property, required).question(), expected);
        }
    }

    #[test]
    fn what_is_typed_becomes_what_the_schema_wants() {
        let colours = json!({"type": "string", "oneOf": [{"const": "r", "title": "Red"}]});
        let some = json!({"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 1});
        for (property, typed, expected) in [
            (json!({"type": "string"}), " Ada ", Ok(json!("Ada"))),
            (json!({"type": "number"}), "1.5", Ok(json!(1.5))),
            (json!({"type": "number"}), "much", Err("'much' is no number")),
            (json!({"type": "integer", "minimum": 1}), "7", Ok(json!(7))),
            (json!({"type": "integer"}), "1.5", Err("'1.5' is no whole number")),
            (json!({"type": "boolean"}), "Y", Ok(json!(true))),
            (json!({"type": "boolean"}), "maybe", Err("'maybe' is neither yes nor no")),
            (colours.clone(), "red", Ok(json!("r"))),
            (colours, "blue", Err("'blue' is none of r (Red)")),
            (some, "B", Ok(json!(["b"]))),
        ] {
            let read = field(&property, true).read(typed);
            assert_eq!(read, expected.map(Some).map_err(str::to_owned), "{typed}");
        }
        let small = field(&json!({"type": "integer", "minimum": 1}), true).read("0");
        assert!(small.is_err_and(|why| why.contains('1')), "the schema's limits hold");
    }

    #[test]
    fn what_is_left_out_is_the_default_or_nothing_or_asked_again() {
        let default = field(&json!({"type": "string", "default": "x"}), true);
        assert_eq!(default.read(""), Ok(Some(json!("x"))));
        assert_eq!(field(&json!({"type": "string"}), false).read(""), Ok(None));
        let needed = field(&json!({"type": "string"}), true).read("");
        assert_eq!(needed, Err("it must not be left out".to_owned()));
    }
}
