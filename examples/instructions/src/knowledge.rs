//! The folder of instructions as it is on disk: which files there are, and what
//! stands in them. What cannot be read is told and left out; nothing in a folder
//! keeps the rest of it from being served.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use walkdir::{DirEntry, WalkDir};

use crate::front_matter::{self, FrontMatter, Triggers};

/// The most bytes that a file may have.
pub const LARGEST: u64 = 256 * 1024;

/// The most files that are read.
pub const MOST: usize = 10_000;

/// How deep folders may be nested.
const DEEPEST: usize = 32;

/// What stands in a URI as it is: letters, digits, and these.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.');

/// One file.
#[derive(Debug, Clone, PartialEq)]
pub struct Instruction {
    /// Its path from the folder, without `.md`.
    pub id: String,
    /// Its address as a resource.
    pub uri: String,
    /// What it is called.
    pub title: String,
    /// What it is about.
    pub topic: String,
    /// What kind of instruction it is.
    pub category: String,
    /// What it is for, if it says so.
    pub description: Option<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// What it is routed to by.
    pub triggers: Triggers,
    /// Topics of instructions that belong to it.
    pub related: Vec<String>,
    /// Of two that fit equally well the one with more comes first.
    pub priority: i32,
    /// What it says.
    pub body: String,
}

/// What is wrong with a file, or with a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where it is.
    pub path: PathBuf,
    /// In which line.
    pub line: Option<u64>,
    /// What is wrong, and what comes of it.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, "{line}:")?;
        }
        write!(f, " {}", self.what)
    }
}

/// What tells a file from itself at another time: when it was changed, and how
/// long it is.
pub type Stamps = BTreeMap<PathBuf, (Option<SystemTime>, u64)>;

/// A folder that has been read.
#[derive(Debug)]
pub struct Reading {
    /// What it has, in the order of the ids.
    pub instructions: Vec<Instruction>,
    /// What is wrong in it.
    pub problems: Vec<Problem>,
    /// What its files were just before they were read.
    pub stamps: Stamps,
}

/// Reads a folder.
///
/// # Errors
/// When there is no such folder.
pub fn read(root: &Path) -> io::Result<Reading> {
    read_at_most(root, MOST)
}

/// The same, with another limit than [`MOST`].
///
/// # Errors
/// When there is no such folder.
pub fn read_at_most(root: &Path, most: usize) -> io::Result<Reading> {
    let mut problems = Vec::new();
    let files = files(root, most, &mut problems)?;
    let mut stamps = Stamps::new();
    let mut instructions = Vec::new();
    for (path, id) in files {
        stamps.insert(path.clone(), stamp(&path));
        let problem = |line, what| Problem { path: path.clone(), line, what };
        match text(&path) {
            Err(what) => problems.push(problem(None, format!("{what}; it is left out"))),
            Ok(text) => {
                let parts = front_matter::read(&text);
                if let Some(flaw) = parts.flaw {
                    let what = format!("{}; it is served without front matter", flaw.what);
                    problems.push(problem(Some(flaw.line), what));
                }
                instructions.push(instruction(id, parts.front, parts.body));
            }
        }
    }
    instructions.sort_by(|one, other| one.id.cmp(&other.id));
    Ok(Reading { instructions, problems, stamps })
}

/// What the files of a folder are now, to see whether it has to be read again.
///
/// # Errors
/// When there is no such folder.
pub fn look(root: &Path) -> io::Result<Stamps> {
    let files = files(root, MOST, &mut Vec::new())?;
    Ok(files.into_iter().map(|(path, _)| (path.clone(), stamp(&path))).collect())
}

fn stamp(path: &Path) -> (Option<SystemTime>, u64) {
    match fs::metadata(path) {
        Ok(about) => (about.modified().ok(), about.len()),
        Err(_) => (None, 0),
    }
}

/// The Markdown files below a folder, each with its id. Links are followed, but
/// neither in circles nor out of the folder.
fn files(
    root: &Path,
    most: usize,
    problems: &mut Vec<Problem>,
) -> io::Result<Vec<(PathBuf, String)>> {
    let whole = fs::canonicalize(root)?;
    // A file in its place is told as what it is.
    fs::read_dir(&whole)?;
    let mut files = Vec::new();
    let is_shown = |entry: &DirEntry| entry.depth() == 0 || !is_hidden(entry);
    let walk = WalkDir::new(root).follow_links(true).max_depth(DEEPEST).sort_by_file_name();
    for entry in walk.into_iter().filter_entry(is_shown) {
        let mut problem = |path: &Path, what: &str| {
            let what = format!("{what}; it is left out");
            problems.push(Problem { path: path.to_owned(), line: None, what });
        };
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                problem(error.path().unwrap_or(root), &reason(&error));
                continue;
            }
        };
        let path = entry.path();
        if !entry.file_type().is_file() || path.extension().is_none_or(|end| end != "md") {
            continue;
        }
        let below = path.strip_prefix(root).unwrap_or(path).with_extension("");
        match below.to_str() {
            None => problem(path, "its name is not UTF-8"),
            Some(_) if !fs::canonicalize(path).is_ok_and(|real| real.starts_with(&whole)) => {
                problem(path, "it is a link that leads out of the folder");
            }
            Some(_) if files.len() == most => {
                problem(path, &format!("this and all that follow are more than {most} files"));
                break;
            }
            Some(id) => files.push((path.to_owned(), id.replace('\\', "/"))),
        }
    }
    Ok(files)
}

fn is_hidden(entry: &DirEntry) -> bool {
    entry.file_name().as_encoded_bytes().starts_with(b".")
}

fn reason(error: &walkdir::Error) -> String {
    match (error.loop_ancestor(), error.io_error()) {
        (Some(above), _) => format!("it is a link to {}, which it is in", above.display()),
        (None, Some(error)) => error.to_string(),
        (None, None) => error.to_string(),
    }
}

/// What stands in a file.
fn text(path: &Path) -> Result<String, String> {
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| error.to_string())?;
    // One that grows while it is read is not read for ever.
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > LARGEST {
        return Err(format!("it has more than {LARGEST} bytes"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let line = error.as_bytes()[..error.utf8_error().valid_up_to()].split(|b| *b == b'\n');
        format!("it is not UTF-8 in line {}", line.count())
    })
}

/// A file with what follows from its place and its text where it says nothing
/// itself.
fn instruction(id: String, front: FrontMatter, body: &str) -> Instruction {
    let (folder, name) = id.rsplit_once('/').unwrap_or(("general", &id));
    let given = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
    let heading = body.lines().find_map(|line| line.strip_prefix("# ")).map(str::trim);
    let title = given(front.title).or_else(|| given(heading.map(str::to_owned)));
    Instruction {
        uri: format!("instructions:///{}", utf8_percent_encode(&id, PLAIN)),
        title: title.unwrap_or_else(|| name.to_owned()),
        topic: given(front.topic).unwrap_or_else(|| name.to_owned()),
        category: given(front.category).unwrap_or_else(|| folder.to_owned()),
        description: given(front.description),
        tags: front.tags,
        triggers: front.triggers,
        related: front.related,
        priority: front.priority,
        body: body.trim().to_owned(),
        id,
    }
}
