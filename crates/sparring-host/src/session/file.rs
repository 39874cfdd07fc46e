//! A session in a file that only the user can read.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sparring_transport::PrivateFile;

use super::Session;

/// The version of what we write.
const VERSION: u64 = 1;

/// Why there is no session, or it is not saved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// There is no such file.
    #[error("there is no session in {}", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// It cannot be read.
    #[error("the session in {} cannot be read: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// What stands there is no session. It is out of the way now.
    #[error("the session in {} is damaged ({why}); {}", path.display(), kept(aside))]
    Damaged {
        /// The file.
        path: PathBuf,
        /// In what.
        why: String,
        /// Where it is now; or why it could not be moved.
        aside: Result<PathBuf, String>,
    },
    /// A newer program wrote it. It is left as it is.
    #[error(
        "the session in {} is of version {version}, and this program knows only {VERSION}",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u64,
    },
    /// It cannot be written. What was there before still is.
    #[error("the session cannot be saved in {}: {error}", path.display())]
    NotSaved {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
}

/// The file.
#[derive(Serialize, Deserialize)]
struct Written<S> {
    version: u64,
    session: S,
}

/// As much of it as every version has.
#[derive(Deserialize)]
struct Versioned {
    version: u64,
}

impl Session {
    /// Saves it, in one step: whoever reads the file finds all of the old or all
    /// of the new. The folder is made if it is not there.
    ///
    /// # Errors
    /// When it cannot be written.
    pub async fn save(&self, path: &Path) -> Result<(), SessionError> {
        let file = PrivateFile::new(path);
        let written = async {
            let text = serde_json::to_string_pretty(&Written { version: VERSION, session: self })?;
            let _lock = file.lock().await?;
            file.write(&text)
        };
        let not_saved = |error| SessionError::NotSaved { path: path.to_owned(), error };
        written.await.map_err(not_saved)
    }

    /// The one in that file. What is damaged is put aside, with `.damaged-1` or
    /// another number behind its name.
    ///
    /// # Errors
    /// When there is none, or it cannot be used; the error says what became of
    /// the file.
    pub fn load(path: &Path) -> Result<Session, SessionError> {
        let file = PrivateFile::new(path);
        if file.is_missing() {
            return Err(SessionError::Missing { path: path.to_owned() });
        }
        let damaged = |why: String| {
            let aside = file.put_aside().map_err(|error| error.to_string());
            SessionError::Damaged { path: path.to_owned(), why, aside }
        };
        let text = match file.read() {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                return Err(damaged(error.to_string()));
            }
            Err(error) => return Err(SessionError::Unreadable { path: path.to_owned(), error }),
        };
        match serde_json::from_str::<Versioned>(&text) {
            Ok(Versioned { version }) if version > VERSION => {
                return Err(SessionError::Newer { path: path.to_owned(), version });
            }
            _ => {}
        }
        let read = serde_json::from_str::<Written<Session>>(&text);
        read.map(|written| written.session).map_err(|error| damaged(error.to_string()))
    }
}

fn kept(aside: &Result<PathBuf, String>) -> String {
    match aside {
        Ok(aside) => format!("it is kept in {}", aside.display()),
        Err(error) => format!("it cannot be put aside: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::super::{Allowed, Wanted};
    use super::*;

    fn session() -> Session {
        let wanted = |connected| Wanted { connected, target: "ab".repeat(32) };
        let target = "cd".repeat(32);
        Session {
            saved: "2026-01-02T03:04:05Z".to_owned(),
            servers: [("a".to_owned(), wanted(true)), ("b".to_owned(), wanted(false))].into(),
            deny: vec!["mcp__a__wipe".to_owned()],
            ask: vec![],
            allow: vec![Allowed { pattern: "mcp__b".to_owned(), server: "b".to_owned(), target }],
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
    async fn what_is_saved_is_loaded_and_only_the_user_can_read_it() {
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
    fn a_damaged_file_is_told_and_kept_aside_each_time() {
        let place = tempfile::tempdir().expect("a folder");
        let path = place.path().join("s.json");
        let whole = serde_json::to_string(&Written { version: 1, session: session() });
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
            let told = error.to_string();
            assert!(told.contains("s.json is damaged (") && told.contains(".damaged-"), "{told}");
            assert!(matches!(Session::load(&path), Err(SessionError::Missing { .. })));
        }
    }

    #[test]
    fn a_newer_version_is_refused_by_name_and_left_alone() {
        let place = tempfile::tempdir().expect("a folder");
        let path = place.path().join("s.json");
        write(&path, br#"{"version": 7, "whatever": []}"#);
        let error = Session::load(&path).expect_err("it is newer").to_string();
        let expected = "s.json is of version 7, and this program knows only 1";
        assert!(error.ends_with(expected), "{error}");
        assert!(path.exists());
    }

    #[tokio::test]
    async fn what_is_no_file_or_cannot_be_written_is_named_and_stays() {
        let place = tempfile::tempdir().expect("a folder");
        let path = place.path().join("folder");
        fs::create_dir(&path).expect("a folder");
        let error = Session::load(&path).expect_err("it is no file");
        assert!(matches!(error, SessionError::Unreadable { .. }), "{error}");
        let error = session().save(&path).await.expect_err("it is a folder").to_string();
        assert!(error.starts_with("the session cannot be saved in "), "{error}");
        let inside = place.path().join("folder/s.json.lock/s.json");
        fs::write(place.path().join("folder/s.json.lock"), "").expect("written");
        let error = session().save(&inside).await.expect_err("no folder").to_string();
        assert!(error.contains("s.json.lock/s.json: "), "{error}");
        assert!(path.is_dir());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn no_file_makes_loading_crash_and_none_is_lost(
            cut in 0usize..400,
            garbage in proptest::collection::vec(any::<u8>(), 0..20),
        ) {
            let place = tempfile::tempdir().expect("a folder");
            let path = place.path().join("s.json");
            let whole = Written { version: 1, session: session() };
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
