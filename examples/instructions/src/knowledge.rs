//! Reads the folder of instructions. A file that cannot be read is reported and left
//! out; the other files are served.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use walkdir::{DirEntry, WalkDir};

use crate::front_matter::{self, FrontMatter, Triggers};

/// Maximum bytes of a file.
pub const MAX_FILE_BYTES: u64 = 256 * 1024;

/// Maximum files in a folder.
pub const MAX_FILES: usize = 10_000;

/// Maximum nesting depth of folders.
const MAX_DEPTH: usize = 32;

/// The characters that are not escaped in a URI: letters, digits, and these.
const UNESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.');

/// One instruction, read from a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Instruction {
    /// Its path in the folder, without `.md`.
    pub id: String,
    /// The URI of its resource.
    pub uri: String,
    /// The title.
    pub title: String,
    /// The topic.
    pub topic: String,
    /// The category.
    pub category: String,
    /// The purpose, if the file states it.
    pub description: Option<String>,
    /// Words that find the instruction.
    pub tags: Vec<String>,
    /// The triggers that route to the instruction.
    pub triggers: Triggers,
    /// Topics of related instructions.
    pub related: Vec<String>,
    /// Of two instructions with the same score, the one with the higher priority comes first.
    pub priority: i32,
    /// The text.
    pub body: String,
}

/// A problem with a file or a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The path of the file or folder.
    pub path: PathBuf,
    /// The line in the file.
    pub line: Option<u64>,
    /// The problem, and its effect.
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

/// The modification time and the size of each file, which show that a file has changed.
pub type Stamps = BTreeMap<PathBuf, (Option<SystemTime>, u64)>;

/// The contents of a folder.
#[derive(Debug)]
pub struct FolderContents {
    /// The instructions, in the order of their ids.
    pub instructions: Vec<Instruction>,
    /// The problems in the folder.
    pub problems: Vec<Problem>,
    /// The stamps of the files just before they were read.
    pub stamps: Stamps,
}

/// Reads a folder.
///
/// # Errors
/// If the folder cannot be read.
pub fn read(root: &Path) -> io::Result<FolderContents> {
    read_up_to(root, MAX_FILES)
}

/// Reads a folder, with another limit than [`MAX_FILES`].
///
/// # Errors
/// If the folder cannot be read.
pub fn read_up_to(root: &Path, max_files: usize) -> io::Result<FolderContents> {
    let mut problems = Vec::new();
    let files = files(root, max_files, &mut problems)?;
    let mut stamps = Stamps::new();
    let mut instructions = Vec::new();
    for (path, id) in files {
        stamps.insert(path.clone(), stamp(&path));
        let problem = |line, what| Problem { path: path.clone(), line, what };
        match text(&path) {
            Err(what) => problems.push(problem(None, format!("{what}; skipped"))),
            Ok(text) => {
                let parts = front_matter::read(&text);
                if let Some(error) = parts.error {
                    let what = format!("{}; served without front matter", error.what);
                    problems.push(problem(Some(error.line), what));
                }
                instructions.push(instruction(id, parts.front, parts.body));
            }
        }
    }
    instructions.sort_by(|one, other| one.id.cmp(&other.id));
    Ok(FolderContents { instructions, problems, stamps })
}

/// The current stamps of a folder's files, which show that it must be read again.
///
/// # Errors
/// If the folder cannot be read.
pub fn read_stamps(root: &Path) -> io::Result<Stamps> {
    let files = files(root, MAX_FILES, &mut Vec::new())?;
    Ok(files.into_iter().map(|(path, _)| (path.clone(), stamp(&path))).collect())
}

fn stamp(path: &Path) -> (Option<SystemTime>, u64) {
    match fs::metadata(path) {
        Ok(about) => (about.modified().ok(), about.len()),
        Err(_) => (None, 0),
    }
}

/// The Markdown files below a folder, each with its id. Links are followed, except
/// those that form a cycle or lead out of the folder.
fn files(
    root: &Path,
    max_files: usize,
    problems: &mut Vec<Problem>,
) -> io::Result<Vec<(PathBuf, String)>> {
    let canonical_root = fs::canonicalize(root)?;
    // If the path is a file, this fails with the reason.
    fs::read_dir(&canonical_root)?;
    let mut files = Vec::new();
    let is_shown = |entry: &DirEntry| entry.depth() == 0 || !is_hidden(entry);
    let entries = WalkDir::new(root).follow_links(true).max_depth(MAX_DEPTH).sort_by_file_name();
    for entry in entries.into_iter().filter_entry(is_shown) {
        let mut problem = |path: &Path, what: &str| {
            let what = format!("{what}; skipped");
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
            None => problem(path, "the name is not UTF-8"),
            Some(_)
                if !fs::canonicalize(path).is_ok_and(|real| real.starts_with(&canonical_root)) =>
            {
                problem(path, "a link that leads out of the folder");
            }
            Some(_) if files.len() == max_files => {
                problem(
                    path,
                    &format!("this file and the following exceed the limit of {max_files} files"),
                );
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
        (Some(above), _) => format!("a link to its parent folder {}", above.display()),
        (None, Some(error)) => error.to_string(),
        (None, None) => error.to_string(),
    }
}

/// Reads a file as text.
fn text(path: &Path) -> Result<String, String> {
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| error.to_string())?;
    // The limit also holds for a file that grows while it is read.
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(format!("larger than {MAX_FILE_BYTES} bytes"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let line = error.as_bytes()[..error.utf8_error().valid_up_to()].split(|b| *b == b'\n');
        format!("not UTF-8 in line {}", line.count())
    })
}

/// Builds an instruction. The path and the text supply the values that the front matter lacks.
fn instruction(id: String, front: FrontMatter, body: &str) -> Instruction {
    let (folder, name) = id.rsplit_once('/').unwrap_or(("general", &id));
    let given = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
    let heading = body.lines().find_map(|line| line.strip_prefix("# ")).map(str::trim);
    let title = given(front.title).or_else(|| given(heading.map(str::to_owned)));
    Instruction {
        uri: format!("instructions:///{}", utf8_percent_encode(&id, UNESCAPED)),
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
