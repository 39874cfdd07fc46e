//! What was typed before, in a file that only the user can read.

use std::path::Path;

use rustyline::history::FileHistory;
use rustyline::{Editor, Helper};
use sparring_transport::PrivateFile;

/// How many lines are kept.
pub(super) const MOST: usize = 1_000;

/// Words in the name of an argument whose value is nobody's business.
const SECRETS: [&str; 7] =
    ["password", "passwd", "secret", "token", "apikey", "credential", "authorization"];

/// Begins with the lines in that file. One that cannot be used, or that others
/// can read, is left as it is.
pub(super) fn load<H: Helper>(editor: &mut Editor<H, FileHistory>, file: &Path) {
    if PrivateFile::new(file).read().is_ok() {
        // There may be none yet.
        let _ = editor.load_history(file);
    }
}

/// Keeps a line, and in that file for the next time. It is nobody's loss if that
/// cannot be done.
pub(super) fn keep<H: Helper>(
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

/// Whether a line gives an argument that is called like a secret.
fn has_secret(line: &str) -> bool {
    let names = line.split_whitespace().filter_map(|word| word.split_once('='));
    let mut names = names.map(|(name, _)| {
        name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase()
    });
    names.any(|name| SECRETS.iter().any(|secret| name.contains(secret)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_called_like_a_secret_is_not_kept() {
        for line in ["/mcp call a b api_key=x", "/mcp call a b c=d access-token:=1", "x Password=y"]
        {
            assert!(has_secret(line), "{line}");
        }
        for line in ["/mcp call a b key=x", "/mcp tools", "/mcp read a token"] {
            assert!(!has_secret(line), "{line}");
        }
    }
}
