//! The text of a file as it may be shown: literal values of headers, of the
//! environment and of credentials may be secrets, and stand there as stars. Each
//! byte has one, so that places stay where they are.

use sparring_script::{Kind, Node, Problems, Source, Span};

use super::places::Format;

/// Below these keys of an entry, values are hidden. What names a variable is
/// not: it is no secret, and what one looks for.
const SECRET: [&str; 4] = ["env", "headers", "auth", "oauth"];

/// The same text without what may be secret in it.
pub(super) fn source(source: &Source, root: &Node, format: Format) -> Source {
    let mut spans = Vec::new();
    let servers = root.get(format.servers()).map(Node::entries).unwrap_or_default();
    for server in servers {
        let entries = server.value.entries().iter();
        let secret = entries.filter(|entry| SECRET.contains(&&*entry.key));
        secret.for_each(|entry| leaves(&entry.value, &mut spans));
    }
    for input in root.get("inputs").map(Node::items).unwrap_or_default() {
        input.get("default").into_iter().for_each(|default| leaves(default, &mut spans));
    }
    starred(source, &spans)
}

/// Problems with a text of which nobody knows where its secrets are: only its
/// keys and its marks are shown.
pub(super) fn of_unreadable(problems: &Problems) -> Problems {
    let source = problems.source();
    let mut spans = Vec::new();
    let mut start = 0;
    for line in source.text().split_inclusive('\n') {
        // What has no key may be anything, such as a file that a link leads to.
        let from = line.find(':').unwrap_or_default();
        let words = line[from..].char_indices().filter(|(_, c)| c.is_alphanumeric());
        let at = words.map(|(at, c)| (start + from + at, c.len_utf8()));
        spans.extend(at.map(|(start, length)| Span { start, end: start + length }));
        start += line.len();
    }
    let mut hidden = Problems::new(&starred(source, &spans));
    for problem in problems.iter() {
        hidden.add_with_help(problem.span, problem.message.clone(), problem.help.clone());
    }
    hidden
}

fn leaves(node: &Node, spans: &mut Vec<Span>) {
    match &node.kind {
        Kind::String(text) if text.contains("${") => {}
        Kind::String(_) | Kind::Number(_) => spans.push(node.span),
        _ => {
            node.entries().iter().for_each(|entry| leaves(&entry.value, spans));
            node.items().iter().for_each(|item| leaves(item, spans));
        }
    }
}

fn starred(source: &Source, spans: &[Span]) -> Source {
    let mut bytes = source.text().as_bytes().to_vec();
    for span in spans {
        let end = span.end.min(bytes.len());
        let part = bytes.get_mut(span.start..end).unwrap_or_default();
        part.iter_mut().filter(|byte| !b"\n\r\"'".contains(byte)).for_each(|byte| *byte = b'*');
    }
    // Whole characters were replaced, so it is a text still.
    Source::new(source.name(), String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literal_values_of_headers_and_environment_are_stars() {
        let text = "servers:\n  a:\n    args: [x]\n    env: {K: hünter2, L: \"${L}\", M: 5}\n    \
                    headers:\n      A: 'Bearer hunter2'\n";
        let whole = Source::new("a", text);
        let shown = source(&whole, &Node::parse(&whole).unwrap(), Format::Yaml);
        let expected = "servers:\n  a:\n    args: [x]\n    env: {K: ********, L: \"${L}\", M: *}\n    \
                        headers:\n      A: '**************'\n";
        assert_eq!(shown.text(), expected);
    }

    #[test]
    fn of_a_text_that_cannot_be_read_only_keys_and_marks_are_shown() {
        let source = Source::new("a", "headers:\n  A: \"Bearer hunter2\n");
        let problems = of_unreadable(&Node::parse(&source).unwrap_err());
        assert_eq!(problems.source().text(), "headers:\n  A: \"****** *******\n");
        assert!(problems.to_string().contains("this is not YAML"));
        let source = Source::new("a", "-----BEGIN KEY-----\nabc\n");
        assert_eq!(
            of_unreadable(&Problems::new(&source)).source().text(),
            "-----***** ***-----\n***\n"
        );
    }
}
