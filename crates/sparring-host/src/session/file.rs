//! Stores a session in a file that only the user can read.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sparring_transport::PrivateFile;

use super::Session;

/// The version of the file format.
const VERSION: u64 = 1;

/// Why a session cannot be loaded or saved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The file does not exist.
    #[error("no session file: {}", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be read.
    #[error("cannot read the session file {}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// The file is damaged, and was moved aside.
    #[error("damaged session file {} ({why}): {}", path.display(), aside_note(aside))]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The damage.
        why: String,
        /// The new path; or why it could not be moved.
        aside: Result<PathBuf, String>,
    },
    /// A newer program wrote the file. It stays unchanged.
    #[error(
       "session file {} has version {version}, but this program supports only {VERSION}",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u64,
    },
    /// The file cannot be written. The old one stays unchanged.
    #[error("cannot save the session in {}: {error}", path.display())]
    NotSaved {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
}

/// The contents of the file.
#[derive(Serialize, Deserialize)]
struct SessionFile<S> {
    version: u64,
    session: S,
}

/// The part of the file that every version has.
#[derive(Deserialize)]
struct VersionField {
    version: u64,
}

impl Session {
    /// Saves the session atomically: readers see the old or the new file.
    /// Creates the folder if needed.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub async fn save(&self, path: &Path) -> Result<(), SessionError> {
        let file = PrivateFile::new(path);
        let written = async {
            let text =
                serde_json::to_string_pretty(&SessionFile { version: VERSION, session: self })?;
            let _lock = file.lock().await?;
            file.write(&text)
        };
        let not_saved = |error| SessionError::NotSaved { path: path.to_owned(), error };
        written.await.map_err(not_saved)
    }

    /// Loads a session. A damaged file is moved aside to a name with
    /// `.damaged-1` or another number.
    ///
    /// # Errors
    /// If the file does not exist or cannot be used; the error contains what
    /// happened to the file.
    pub fn load(path: &Path) -> Result<Session, SessionError> {
        let file = PrivateFile::new(path);
        if file.is_missing() {
            return Err(SessionError::Missing { path: path.to_owned() });
        }
        let damaged = |why: String| {
            let aside = file.move_aside().map_err(|error| error.to_string());
            SessionError::Damaged { path: path.to_owned(), why, aside }
        };
        let text = match file.read() {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                return Err(damaged(error.to_string()));
            }
            Err(error) => return Err(SessionError::Unreadable { path: path.to_owned(), error }),
        };
        match serde_json::from_str::<VersionField>(&text) {
            Ok(VersionField { version }) if version > VERSION => {
                return Err(SessionError::Newer { path: path.to_owned(), version });
            }
            _ => {}
        }
        let read = serde_json::from_str::<SessionFile<Session>>(&text);
        read.map(|written| written.session).map_err(|error| damaged(error.to_string()))
    }
}

fn aside_note(aside: &Result<PathBuf, String>) -> String {
    match aside {
        Ok(aside) => format!("moved to {}", aside.display()),
        Err(error) => format!("cannot move it aside: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::super::{AllowedPattern, SavedServer};
    use super::*;

    fn session() -> Session {
        let wanted = |connected| SavedServer { connected, target: "ab".repeat(32) };
        let target = "cd".repeat(32);
        Session {
            saved: "2026-01-02T03:04:05Z".to_owned(),
            servers: [("a".to_owned(), wanted(true)), ("b".to_owned(), wanted(false))].into(),
            deny: vec!["mcp__a__wipe".to_owned()],
            ask: vec![],
            allow: vec![AllowedPattern {
                pattern: "mcp__b".to_owned(),
                server: "b".to_owned(),
                target,
            }],
        }
    }

    fn write(path: &Path, bytes: &[u8]) {
        fs::write(path, bytes).expect("written");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            fs::set_permissions(path, fs::Permissions::from_mode(0o600)).expect("it is ours");
        }
    }

    #[tokio::test]
    async fn a_saved_session_is_loaded_and_only_the_user_can_read_the_file() {
        let place = tempfile::tempdir().expect("a folder");
        let path = place.path().join("sessions/work.json");
        session().save(&path).await.expect("saved");
        assert_eq!(Session::load(&path).expect("loaded"), session());
        let other = Session { deny: vec![], ..session() };
        other.save(&path).await.expect("saved again");
        assert_eq!(Session::load(&path).expect("loaded"), other);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = fs::metadata(&path).expect("a file").permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn a_damaged_file_is_moved_aside_each_time() {
        let place = tempfile::tempdir().expect("a folder");
        let path = place.path().join("s.json");
        let whole = serde_json::to_string(&SessionFile { version: 1, session: session() });
        let whole = whole.expect("JSON").into_bytes();
        let half = &whole[..whole.len() / 2];
        let cases: [&[u8]; 6] =
            [half, b"", b"\xff\xfe", b"[]", b"{\"version\": 1}", b"{\"version\": -1}"];
        for (number, damage) in cases.into_iter().enumerate() {
            write(&path, damage);
            let error = Session::load(&path).expect_err("it is damaged");
            let SessionError::Damaged { aside: Ok(aside), .. } = &error else {
                panic!("{damage:?}: {error:?}")
            };
            assert_eq!(*aside, place.path().join(format!("s.json.damaged-{}", number + 1)));
            assert_eq!(fs::read(aside).expect("it is kept"), damage);
            let message = error.to_string();
            assert!(message.contains("s.json (") && message.contains(".damaged-"), "{message}");
            assert!(matches!(Session::load(&path), Err(SessionError::Missing { .. })));
        }
    }

    #[test]
    fn a_newer_version_is_refused_and_stays_unchanged() {
        let place = tempfile::tempdir().expect("a folder");
        let path = place.path().join("s.json");
        write(&path, br#"{"version": 7, "whatever": []}"#);
        let error = Session::load(&path).expect_err("it is newer").to_string();
        let expected = "s.json has version 7, but this program supports only 1";
        assert!(error.ends_with(expected), "{error}");
        assert!(path.exists());
    }

    #[tokio::test]
    async fn a_folder_and_an_unwritable_file_are_errors_with_the_path() {
        let place = tempfile::tempdir().expect("a folder");
        let path = place.path().join("folder");
        fs::create_dir(&path).expect("a folder");
        let error = Session::load(&path).expect_err("it is no file");
        assert!(matches!(error, SessionError::Unreadable { .. }), "{error}");
        let error = session().save(&path).await.expect_err("it is a folder").to_string();
        assert!(error.starts_with("cannot save the session in "), "{error}");
        let inside = place.path().join("folder/s.json.lock/s.json");
        fs::write(place.path().join("folder/s.json.lock"), "").expect("written");
        let error = session().save(&inside).await.expect_err("no folder").to_string();
        assert!(error.contains("s.json.lock/s.json: "), "{error}");
        assert!(path.is_dir());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
       fn no_file_makes_loading_panic_and_no_file_is_lost(
            cut in 0usize..400,
            garbage in proptest::collection::vec(any::<u8>(), 0..20),
        ) {
            let place = tempfile::tempdir().expect("a folder");
            let path = place.path().join("s.json");
            let whole = SessionFile { version: 1, session: session() };
            let mut bytes = serde_json::to_vec(&whole).expect("JSON");
            bytes.truncate(cut.min(bytes.len()));
            bytes.extend(garbage);
            write(&path, &bytes);
            let found = match Session::load(&path) {
                Ok(_) | Err(SessionError::Newer { .. }) => path,
                Err(SessionError::Damaged { aside: Ok(aside), .. }) => aside,
                Err(error) => panic!("{error:?}"),
            };
            prop_assert_eq!(fs::read(found).expect("it is kept"), bytes);
        }
    }
}
