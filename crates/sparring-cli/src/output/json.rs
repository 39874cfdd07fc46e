//! Renders JSON over several lines, with every value as the server spelled it.

use sparring_wire::{Json, JsonKind, RawJson};

/// Renders the value without a final line break.
pub(crate) fn render_pretty(json: Json<'_>) -> String {
    let mut text = String::new();
    write_value(json, 0, &mut text);
    text
}

fn write_value(json: Json<'_>, depth: usize, text: &mut String) {
    match json.kind() {
        JsonKind::Object if json.members().next().is_some() => {
            let members =
                json.members().map(|(key, value)| (Some(RawJson::string(&key.name())), value));
            write_entries('{', members, '}', depth, text);
        }
        JsonKind::Array if json.items().next().is_some() => {
            write_entries('[', json.items().map(|item| (None, item)), ']', depth, text);
        }
        JsonKind::Object => text.push_str("{}"),
        JsonKind::Array => text.push_str("[]"),
        _ => text.push_str(&json.text()),
    }
}

fn write_entries<'a>(
    open: char,
    entries: impl Iterator<Item = (Option<RawJson>, Json<'a>)>,
    close: char,
    depth: usize,
    text: &mut String,
) {
    let line = |depth: usize| format!("\n{}", "  ".repeat(depth));
    text.push(open);
    for (index, (key, value)) in entries.enumerate() {
        if index > 0 {
            text.push(',');
        }
        text.push_str(&line(depth + 1));
        if let Some(key) = key {
            text.push_str(&format!("{}: ", key.text()));
        }
        write_value(value, depth + 1, text);
    }
    text.push_str(&line(depth));
    text.push(close);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_spelling_over_several_lines() {
        let json = RawJson::parse(r#"{"a":[1e999,{}],"b":{"c":-0.10,"d":"x\u0041"},"e":[]}"#);
        let expected = r#"{
  "a": [
    1e999,
    {}
  ],
  "b": {
    "c": -0.10,
    "d": "x\u0041"
  },
  "e": []
}"#;
        assert_eq!(render_pretty(json.unwrap().view()), expected);
    }
}
