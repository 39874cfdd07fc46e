//! The history of the shell, in a file that only the user can read.

use std::path::Path;

use rustyline::history::FileHistory;
use rustyline::{Editor, Helper};
use sparring_transport::PrivateFile;

/// Maximum number of lines.
pub(super) const MAX_LINES: usize = 1_000;

/// Words in the names of arguments whose values are secrets.
const SECRET_WORDS: [&str; 7] =
    ["password", "passwd", "secret", "token", "apikey", "credential", "authorization"];

/// Loads the lines of the file. Ignores a file that cannot be read or that others can
/// read.
pub(super) fn load<H: Helper>(editor: &mut Editor<H, FileHistory>, file: &Path) {
    if PrivateFile::new(file).read().is_ok() {
        // The file may not exist yet.
        let _ = editor.load_history(file);
    }
}

/// Adds a line to the history and to the file. Ignores errors.
pub(super) fn save<H: Helper>(
    editor: &mut Editor<H, FileHistory>,
    line: &str,
    file: Option<&Path>,
) {
    if line.trim().is_empty() || has_secret(line) {
        return;
    }
    let Ok(true) = editor.add_history_entry(line) else { return };
    let Some(file) = file else { return };
    if let Some(folder) = file.parent() {
        let _ = std::fs::create_dir_all(folder);
    }
    if PrivateFile::new(file).read().is_ok() {
        let _ = editor.append_history(file);
    }
}

/// Returns true if a line has an argument that is named like a secret.
fn has_secret(line: &str) -> bool {
    let names = line.split_whitespace().filter_map(|word| word.split_once('='));
    let mut names = names.map(|(name, _)| {
        name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase()
    });
    names.any(|name| SECRET_WORDS.iter().any(|secret| name.contains(secret)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn does_not_save_lines_with_secrets() {
        for line in ["/mcp call a b api_key=x", "/mcp call a b c=d access-token:=1", "x Password=y"]
        {
            assert!(has_secret(line), "{line}");
        }
        for line in ["/mcp call a b key=x", "/mcp tools", "/mcp read a token"] {
            assert!(!has_secret(line), "{line}");
        }
    }
}
