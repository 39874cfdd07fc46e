//! A path into a frame, such as `$.result.tools[0].name`.
//!
//! The steps are on the stack of the check. Text is built only for a violation.

use crate::json::Key;

/// A path: its parent and one step.
#[derive(Clone, Copy)]
pub(super) struct JsonPath<'a> {
    parent: Option<&'a JsonPath<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    /// A path as text.
    Base(&'a str),
    Key(Key<'a>),
    Name(&'a str),
    Index(usize),
}

impl<'a> JsonPath<'a> {
    /// A path that starts with `base`.
    pub(super) fn new(base: &'a str) -> Self {
        JsonPath { parent: None, step: Step::Base(base) }
    }

    pub(super) fn key(&'a self, key: Key<'a>) -> Self {
        self.then(Step::Key(key))
    }

    pub(super) fn name(&'a self, name: &'a str) -> Self {
        self.then(Step::Name(name))
    }

    pub(super) fn index(&'a self, index: usize) -> Self {
        self.then(Step::Index(index))
    }

    fn then(&'a self, step: Step<'a>) -> Self {
        JsonPath { parent: Some(self), step }
    }

    fn write(&self, out: &mut String) {
        if let Some(parent) = self.parent {
            parent.write(out);
        }
        match self.step {
            Step::Base(text) => out.push_str(text),
            Step::Key(key) => write_name(&key.name(), out),
            Step::Name(name) => write_name(name, out),
            Step::Index(index) => out.push_str(&format!("[{index}]")),
        }
    }
}

impl std::fmt::Display for JsonPath<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = String::new();
        self.write(&mut out);
        f.write_str(&out)
    }
}

/// Writes an identifier after a dot, and any other name quoted in brackets.
fn write_name(name: &str, out: &mut String) {
    let mut chars = name.chars();
    let first = chars.next();
    let plain = first.is_some_and(|it| it.is_ascii_alphabetic() || it == '_' || it == '$')
        && chars.all(|it| it.is_ascii_alphanumeric() || it == '_' || it == '$');
    match plain {
        true => {
            out.push('.');
            out.push_str(name);
        }
        false => {
            let mut quoted = Vec::new();
            crate::json::scanner::write_string(name, &mut quoted);
            out.push('[');
            out.push_str(&String::from_utf8_lossy(&quoted));
            out.push(']');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_follow_a_dot_and_other_names_are_in_brackets() {
        let base = JsonPath::new("$.params");
        let (tools, meta) = (base.name("tools"), base.name("_meta"));
        assert_eq!(tools.index(3).to_string(), "$.params.tools[3]");
        assert_eq!(meta.name("io.x/y \"z\"").to_string(), r#"$.params._meta["io.x/y \"z\""]"#);
        assert_eq!(base.name("").to_string(), r#"$.params[""]"#);
        assert_eq!(base.name("1a").to_string(), r#"$.params["1a"]"#);
    }
}
