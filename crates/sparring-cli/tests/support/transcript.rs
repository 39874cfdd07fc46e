//! Transcripts: commands with the output of `spar`, as text files that a person can read.
//!
//! This file reads and writes the format. It does not run anything.
//!
//! ```text
//! A sentence about the topic of the file.
//!
//! == name-of-the-case
//! A sentence about the case, if it needs one.
//! $ spar call fail --json -- sh ../server.sh
//! {"isError":true}
//! ! error: the tool failed
//! ? 1
//! ```
//!
//! The lines of a case come in this order:
//!
//! | line | meaning |
//! |---|---|
//! | `== NAME` | begins a case |
//! | `answers: FILE` | starts an HTTP server that answers from this file (optional) |
//! | `$ COMMAND` | what `sh` runs, in the folder of the transcript |
//! | `> COMMAND` | further lines of the command |
//! | any other line | stdout |
//! | `! LINE` | stderr |
//! | `? CODE` | the exit code if it is not 0, or `signal` |
//!
//! An empty line separates two cases. A line of stdout that looks like one of these
//! begins with a `\`, and so does a last line that is empty. The line
//! `\ no newline at the end` follows a stream without a newline at its end. Control
//! characters other than tabs are written as their Unicode pictures: `␛` for escape. A
//! picture that was printed itself has a `␦` before it.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

/// Marks a control picture that the program itself printed.
const PRINTED: char = '\u{2426}';

/// Follows a stream that does not end with a newline.
const NO_NEWLINE: &str = "\\ no newline at the end";

/// A file of cases.
pub(crate) struct Transcript {
    /// The text above the first case.
    intro: String,
    pub(crate) cases: Vec<Case>,
}

/// A command and its output.
pub(crate) struct Case {
    pub(crate) name: String,
    /// The lines between the name and the command.
    notes: Vec<String>,
    pub(crate) command: String,
    pub(crate) outcome: Outcome,
}

/// The output and the exit code of a command.
pub(crate) struct Outcome {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// None after a signal.
    pub(crate) exit: Option<i32>,
}

/// The folder with all transcripts and their fixtures.
pub(crate) fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// Every file below a folder, sorted.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let is_folder = entry.file_type().unwrap().is_dir();
            if is_folder { &mut folders } else { &mut found }.push(entry.path());
        }
    }
    found.sort();
    found
}

/// The paths of all transcripts, sorted.
pub(crate) fn transcripts() -> Vec<PathBuf> {
    files(&golden()).into_iter().filter(|path| is_transcript(path)).collect()
}

pub(crate) fn is_transcript(path: &Path) -> bool {
    path.extension().is_some_and(|it| it == "txt")
}

/// All cases of all transcripts.
pub(crate) fn all_cases() -> Vec<Case> {
    transcripts().iter().flat_map(|path| Transcript::read(path).unwrap().cases).collect()
}

impl Transcript {
    /// Reads a transcript, after any process that is rewriting it.
    pub(crate) fn read(path: &Path) -> Result<Transcript, String> {
        let read = || {
            let mut file = File::open(path)?;
            file.lock_shared()?;
            io::read_to_string(&mut file)
        };
        let text = read().map_err(|error| format!("{}: {error}", path.display()))?;
        Transcript::parse(&text).map_err(|error| format!("{}:{error}", path.display()))
    }

    /// Replaces the outcome of one case in a file. Other processes may replace other
    /// cases at the same time.
    pub(crate) fn rewrite(path: &Path, name: &str, outcome: Outcome) -> Result<(), String> {
        let failed = |error: io::Error| format!("{}: {error}", path.display());
        let mut file = File::options().read(true).write(true).open(path).map_err(failed)?;
        file.lock().map_err(failed)?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(failed)?;
        let mut transcript = Transcript::parse(&text)?;
        let case = transcript.cases.iter_mut().find(|case| case.name == name);
        case.ok_or_else(|| format!("{}: no case {name}", path.display()))?.outcome = outcome;
        let text = transcript.to_string();
        file.set_len(0).and_then(|()| file.rewind()).map_err(failed)?;
        file.write_all(text.as_bytes()).map_err(failed)
    }

    /// Parses the text of a file. An error begins with the number of its line.
    pub(crate) fn parse(text: &str) -> Result<Transcript, String> {
        let mut transcript = Transcript { intro: String::new(), cases: Vec::new() };
        let mut section: Vec<&str> = Vec::new();
        let mut starts_at = 1;
        let count = text.lines().count();
        for (index, line) in text.lines().chain(["== "]).enumerate() {
            if !line.starts_with("== ") {
                section.push(line);
                continue;
            }
            // The empty line before the next case separates the two; the last case has none.
            if index > 0 && index < count && section.pop() != Some("") {
                return Err(format!("{}: an empty line is missing before a case", index + 1));
            }
            let at = |(offset, error): (usize, String)| format!("{}: {error}", starts_at + offset);
            match section.first().copied().filter(|first| first.starts_with("== ")) {
                None => transcript.intro = section.iter().map(|line| format!("{line}\n")).collect(),
                Some(_) => transcript.cases.push(Case::parse(&section).map_err(at)?),
            }
            section = vec![line];
            starts_at = index + 1;
        }
        let names: Vec<&str> = transcript.cases.iter().map(|case| &*case.name).collect();
        let twice = names.iter().enumerate().find(|(index, name)| names[..*index].contains(name));
        match twice {
            Some((_, name)) => Err(format!("1: two cases are named {name}")),
            None if names.is_empty() => Err("1: no case begins with `== NAME`".to_owned()),
            None => Ok(transcript),
        }
    }
}

impl fmt::Display for Transcript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.intro)?;
        for (index, case) in self.cases.iter().enumerate() {
            let gap = if index == 0 && self.intro.is_empty() { "" } else { "\n" };
            write!(f, "{gap}{case}")?;
        }
        Ok(())
    }
}

impl Case {
    /// The file with the answers of an HTTP server that the case needs.
    pub(crate) fn answers(&self) -> Option<&str> {
        self.notes.iter().find_map(|note| note.strip_prefix("answers: "))
    }

    /// The case as it would be written with another outcome.
    pub(crate) fn with(&self, outcome: &Outcome) -> String {
        let mut text = format!("== {}\n", self.name);
        self.notes.iter().for_each(|note| text += &format!("{note}\n"));
        text += &format!("$ {}\n", self.command.replace('\n', "\n> "));
        text += &lines_of(&outcome.stdout, |line| match line.chars().next() {
            Some('$' | '>' | '!' | '?' | '\\') => format!("\\{line}"),
            Some('=') if line.starts_with("== ") => format!("\\{line}"),
            _ => line.to_owned(),
        });
        if text.ends_with("\n\n") {
            text.insert(text.len() - 1, '\\');
        }
        text += &lines_of(&outcome.stderr, |line| match line {
            "" => "!".to_owned(),
            line => format!("! {line}"),
        });
        match outcome.exit {
            Some(0) => {}
            Some(code) => text += &format!("? {code}\n"),
            None => text += "? signal\n",
        }
        text
    }

    /// Parses the lines of a case; an error has the index of its line.
    fn parse(lines: &[&str]) -> Result<Case, (usize, String)> {
        let name = lines[0].trim_start_matches("== ").to_owned();
        let Some(start) = lines.iter().position(|line| line.starts_with("$ ")) else {
            return Err((0, format!("{name} has no command")));
        };
        let notes = lines[1..start].iter().map(|&note| note.to_owned()).collect();
        let further = lines[start + 1..].iter().take_while(|line| line.starts_with("> ")).count();
        let end = start + 1 + further;
        let command: Vec<&str> = lines[start..end].iter().map(|line| &line[2..]).collect();
        let mut outcome = Outcome { stdout: String::new(), stderr: String::new(), exit: Some(0) };
        let mut streams_end = false;
        for (index, line) in lines.iter().enumerate().skip(end) {
            let wrong = |what: &str| Err((index, format!("{what}: {line}")));
            if streams_end {
                return wrong("a line after the exit code");
            }
            match line.as_bytes().first() {
                Some(b'?') => {
                    streams_end = true;
                    outcome.exit = match line.strip_prefix("? ") {
                        Some("signal") => None,
                        Some(code) => match code.parse() {
                            Ok(code) => Some(code),
                            Err(_) => return wrong("not an exit code"),
                        },
                        None => return wrong("not an exit code"),
                    };
                }
                Some(b'!') => outcome.stderr += &shown(line[1..].strip_prefix(' ').unwrap_or("")),
                _ if *line == NO_NEWLINE && !outcome.stderr.is_empty() => _ = outcome.stderr.pop(),
                _ if *line == NO_NEWLINE => _ = outcome.stdout.pop(),
                _ if !outcome.stderr.is_empty() => return wrong("stdout after stderr"),
                Some(b'$' | b'>') => return wrong("stdout that needs a `\\`"),
                _ => outcome.stdout += &shown(line.strip_prefix('\\').unwrap_or(line)),
            }
        }
        Ok(Case { name, notes, command: command.join("\n"), outcome })
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.with(&self.outcome))
    }
}

/// A line of a transcript as it was printed.
fn shown(line: &str) -> String {
    let (mut printed, mut rest) = (String::new(), line.chars());
    while let Some(c) = rest.next() {
        printed.push(match c {
            PRINTED => rest.next().unwrap_or(PRINTED),
            '\u{2400}'..='\u{241f}' => char::from_u32(u32::from(c) - 0x2400).unwrap(),
            '\u{2421}' => '\u{7f}',
            c => c,
        });
    }
    printed + "\n"
}

/// Converts output to lines of a transcript, each with its mark.
fn lines_of(printed: &str, mark: impl Fn(&str) -> String) -> String {
    let mut visible = String::new();
    for c in printed.chars() {
        if matches!(c, '\u{2400}'..='\u{2421}' | PRINTED) {
            visible.push(PRINTED);
        }
        visible.push(match c {
            '\n' | '\t' => c,
            '\u{0}'..='\u{1f}' => char::from_u32(u32::from(c) + 0x2400).unwrap(),
            '\u{7f}' => '\u{2421}',
            c => c,
        });
    }
    let mut lines: String = visible.lines().map(|line| mark(line) + "\n").collect();
    if !printed.is_empty() && !printed.ends_with('\n') {
        lines += &format!("{NO_NEWLINE}\n");
    }
    lines
}
