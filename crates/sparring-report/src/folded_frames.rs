//! Renders the frames of a failed step for a person, with their JSON folded to a width.
//!
//! Long strings stay in one line. The caller wraps them, and escapes control characters.

use pretty::RcDoc;
use serde_json::value::RawValue;

use crate::traffic::{JsonFields, render_member, summarize_text};
use crate::{Sender, StepFrame, format};

/// The maximum number of lines of one frame.
const MAX_LINES: usize = 40;

/// The spaces below a direction.
const INDENT: isize = 3;

/// The depth from which JSON is not folded.
const MAX_DEPTH: usize = 16;

/// Renders the frames of a step. Leaves out the parts that all frames have, except in complete
/// frames.
pub fn fold_frames(frames: &[StepFrame], left_out: usize, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for (index, frame) in frames.iter().enumerate() {
        if left_out > 0 && index == frames.len() / 2 {
            lines.push(format!("   [{} omitted]", format::count(left_out, "frame")));
        }
        lines.extend(fold_frame(frame, width));
    }
    lines
}

fn fold_frame(frame: &StepFrame, width: usize) -> Vec<String> {
    let direction = match frame.from {
        Sender::Client => "->",
        Sender::Server => "<-",
    };
    let summary = summarize_text(&frame.text).filter(|_| !frame.is_complete);
    let (title, json) = match summary {
        Some((title, json)) => (format!("{direction} {title} "), json),
        None => (format!("{direction} "), frame.text.clone()),
    };
    let layout = RcDoc::text(title).append(lay_out(&json, MAX_DEPTH).nest(INDENT));
    let text = layout.pretty(width).to_string();
    let all = text.lines().count();
    let mut lines: Vec<String> =
        text.lines().take(MAX_LINES).map(|line| line.trim_end().to_owned()).collect();
    if all > MAX_LINES {
        lines.push(format!("   [{} omitted]", format::count(all - MAX_LINES, "line")));
    }
    lines
}

/// Lays out a JSON value: an object or an array is in one line if it fits, otherwise each of
/// its members has a line. Another text stays as it is.
fn lay_out(text: &str, depth: usize) -> RcDoc<'static> {
    let as_it_is = || RcDoc::intersperse(text.lines().map(str::to_owned), RcDoc::hardline());
    let Some(depth) = depth.checked_sub(1) else { return as_it_is() };
    if let Some(JsonFields(fields)) = JsonFields::parse(text) {
        let members = fields.iter().map(|(name, value)| {
            RcDoc::text(render_member(name, "")).append(lay_out(value.get(), depth))
        });
        return lay_out_members("{", members.collect(), "}");
    }
    match serde_json::from_str::<Vec<&RawValue>>(text) {
        Ok(items) => {
            let items = items.iter().map(|item| lay_out(item.get(), depth));
            lay_out_members("[", items.collect(), "]")
        }
        Err(_) => as_it_is(),
    }
}

fn lay_out_members(
    open: &'static str,
    members: Vec<RcDoc<'static>>,
    close: &'static str,
) -> RcDoc<'static> {
    if members.is_empty() {
        return RcDoc::text(open).append(close);
    }
    let separator = RcDoc::text(",").append(RcDoc::line_());
    let inner = RcDoc::line_().append(RcDoc::intersperse(members, separator)).nest(2);
    RcDoc::text(open).append(inner).append(RcDoc::line_()).append(close).group()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(from: Sender, text: &str) -> StepFrame {
        StepFrame { from, is_complete: false, text: text.to_owned() }
    }

    fn check(text: &str, width: usize, expected: &[&str]) {
        assert_eq!(fold_frames(&[frame(Sender::Server, text)], 0, width), expected);
    }

    #[test]
    fn json_that_fits_is_in_one_line() {
        check(
            r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"a":1.50}],"empty":{}}}"#,
            80,
            &[r#"<- result {"content":[{"a":1.50}],"empty":{}}"#],
        );
    }

    #[test]
    fn wide_json_has_a_line_for_each_member() {
        check(
            r#"{"id":1,"result":{"content":[{"type":"text","text":"a long text"}],"n":[1,2,3]}}"#,
            30,
            &[
                "<- result {",
                "     \"content\":[",
                "       {",
                "         \"type\":\"text\",",
                "         \"text\":\"a long text\"",
                "       }",
                "     ],",
                "     \"n\":[1,2,3]",
                "   }",
            ],
        );
    }

    #[test]
    fn metadata_of_the_protocol_is_left_out_unless_the_frame_breaks_a_rule() {
        let text = r#"{"id":1,"result":{"_meta":{"io.modelcontextprotocol/serverInfo":{}}}}"#;
        check(text, 80, &["<- result {}"]);
        let broken = StepFrame { is_complete: true, ..frame(Sender::Server, text) };
        assert_eq!(fold_frames(&[broken], 0, 80), [format!("<- {text}")]);
    }

    #[test]
    fn other_texts_stay_as_they_are() {
        check("oops\nagain", 4, &["<- oops", "   again"]);
        check("", 80, &["<-"]);
        check(r#"{"cut":"of…"#, 5, &[r#"<- {"cut":"of…"#]);
    }

    #[test]
    fn omitted_frames_and_lines_are_counted() {
        let frames = [frame(Sender::Client, "one"), frame(Sender::Server, "two")];
        assert_eq!(fold_frames(&frames, 3, 80), ["-> one", "   [3 frames omitted]", "<- two"]);
        let many = format!("[{}]", vec!["1"; 50].join(","));
        let lines = fold_frames(&[frame(Sender::Client, &many)], 0, 20);
        assert_eq!(lines.len(), MAX_LINES + 1);
        assert_eq!(lines[MAX_LINES], "   [12 lines omitted]");
    }
}
