//! Files that are watched: says when one of them is another than it was.
//!
//! Folders are watched and not files, since editors put another file in the
//! place of the old one. What the system tells is only a reason to look, and
//! now and then it is looked without one: not every file system tells, and a
//! folder that is put in the place of another is not watched any more.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use notify_debouncer_mini::notify::{RecommendedWatcher, RecursiveMode};
use notify_debouncer_mini::{DebounceEventResult, Debouncer, new_debouncer};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};

/// How long a folder and its files must be quiet before they are read.
const QUIET: Duration = Duration::from_millis(50);

/// How often it is looked although nobody told to.
const LOOK: Duration = Duration::from_secs(1);

/// How long a file may be away while it is saved.
const AWAY: Duration = Duration::from_millis(300);

/// Files that are watched.
pub struct Files {
    /// None where the system has none to give; then it is only looked.
    debouncer: Option<Debouncer<RecommendedWatcher>>,
    /// What is known of each.
    known: BTreeMap<PathBuf, Option<Stamp>>,
    /// The folders that are watched, as what they were.
    folders: BTreeMap<PathBuf, Stamp>,
    stirred: Arc<Notify>,
}

/// What tells a file from another, or from itself at another time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    changed: Option<SystemTime>,
    length: u64,
    number: (u64, u64),
}

impl Files {
    /// Begins with none.
    pub fn none() -> Files {
        let stirred = Arc::new(Notify::new());
        let told = Arc::clone(&stirred);
        let stir = move |_: DebounceEventResult| told.notify_one();
        Files {
            debouncer: new_debouncer(QUIET, stir).ok(),
            known: BTreeMap::new(),
            folders: BTreeMap::new(),
            stirred,
        }
    }

    /// Watches these from now on, and no others. Says whether there are any that
    /// were not watched before: those may have changed since they were read.
    pub fn set(&mut self, files: &[PathBuf]) -> bool {
        let before = std::mem::take(&mut self.known);
        for file in files {
            let known = before.get(file).copied().unwrap_or_else(|| Stamp::of(file));
            self.known.insert(file.clone(), known);
        }
        self.watch_folders();
        files.iter().any(|file| !before.contains_key(file))
    }

    /// Waits until some of them are others than they were, and gives them.
    pub async fn changed(&mut self) -> Vec<PathBuf> {
        loop {
            let _ = timeout(LOOK, self.stirred.notified()).await;
            self.watch_folders();
            if self.look() == self.known {
                continue;
            }
            let found = self.settled().await;
            let is_other = |file: &&PathBuf| found.get(*file) != self.known.get(*file);
            let changed: Vec<PathBuf> = found.keys().filter(is_other).cloned().collect();
            if !changed.is_empty() {
                self.known = found;
                return changed;
            }
        }
    }

    fn look(&self) -> BTreeMap<PathBuf, Option<Stamp>> {
        self.known.keys().map(|file| (file.clone(), Stamp::of(file))).collect()
    }

    /// Looks until nothing changes any more and every file is back that was there
    /// before, but not for long: what is read while it is written is not whole.
    async fn settled(&self) -> BTreeMap<PathBuf, Option<Stamp>> {
        let since = Instant::now();
        let mut found = self.look();
        loop {
            sleep(QUIET).await;
            let before = std::mem::replace(&mut found, self.look());
            let mut both = found.values().zip(self.known.values());
            let is_away = both.any(|(now, known)| now.is_none() && known.is_some());
            let longest = if found == before { AWAY } else { LOOK };
            let is_settled = found == before && !is_away;
            if is_settled || since.elapsed() >= longest {
                return found;
            }
        }
    }

    /// Watches the folders of all files, and those that are others by now anew.
    fn watch_folders(&mut self) {
        let Some(debouncer) = &mut self.debouncer else { return };
        let watcher = debouncer.watcher();
        let wanted: BTreeSet<PathBuf> = self.known.keys().map(|file| folder(file)).collect();
        self.folders.retain(|folder, stamp| {
            let stays = wanted.contains(folder)
                && Stamp::of(folder).is_some_and(|now| now.number == stamp.number);
            if !stays {
                // One that is gone is not watched any more anyway.
                let _ = watcher.unwatch(folder);
            }
            stays
        });
        for folder in wanted {
            if self.folders.contains_key(&folder) {
                continue;
            }
            // One that cannot be watched is looked at all the same.
            let stamp = Stamp::of(&folder);
            if let Some(stamp) = stamp
                && watcher.watch(&folder, RecursiveMode::NonRecursive).is_ok()
            {
                self.folders.insert(folder, stamp);
            }
        }
    }
}

impl Stamp {
    fn of(path: &Path) -> Option<Stamp> {
        let about = std::fs::metadata(path).ok()?;
        #[cfg(unix)]
        let number = {
            use std::os::unix::fs::MetadataExt as _;
            (about.dev(), about.ino())
        };
        #[cfg(not(unix))]
        let number = (0, 0);
        Some(Stamp { changed: about.modified().ok(), length: about.len(), number })
    }
}

/// The folder that a file is in.
fn folder(file: &Path) -> PathBuf {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// How long anything may take.
    const PATIENCE: Duration = Duration::from_secs(10);

    struct Place {
        folder: tempfile::TempDir,
        files: Files,
    }

    impl Place {
        fn with(names: &[&str]) -> Place {
            let folder = tempfile::tempdir().expect("a folder");
            let paths: Vec<PathBuf> = names.iter().map(|name| folder.path().join(name)).collect();
            for path in &paths {
                fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
                fs::write(path, "before").expect("a file");
            }
            let mut files = Files::none();
            assert!(files.set(&paths));
            assert!(!files.set(&paths));
            Place { folder, files }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        async fn notices(&mut self, name: &str) {
            let changed = timeout(PATIENCE, self.files.changed()).await.expect("it is noticed");
            assert_eq!(changed, [self.path(name)]);
        }
    }

    #[tokio::test]
    async fn a_file_that_is_written_or_replaced_or_deleted_is_noticed() {
        let mut place = Place::with(&["a", "sub/b"]);
        fs::write(place.path("sub/b"), "afterwards").expect("written");
        place.notices("sub/b").await;
        fs::write(place.path("new"), "replaced").expect("written");
        fs::rename(place.path("new"), place.path("a")).expect("renamed");
        place.notices("a").await;
        fs::remove_file(place.path("a")).expect("deleted");
        place.notices("a").await;
        fs::write(place.path("a"), "again").expect("written");
        place.notices("a").await;
    }

    #[tokio::test]
    async fn a_folder_that_is_replaced_is_watched_anew() {
        let mut place = Place::with(&["sub/b"]);
        fs::rename(place.path("sub"), place.path("old")).expect("renamed");
        fs::create_dir(place.path("sub")).expect("a folder");
        fs::write(place.path("sub/b"), "another").expect("written");
        place.notices("sub/b").await;
        fs::write(place.path("sub/b"), "and once more").expect("written");
        place.notices("sub/b").await;
    }

    #[test]
    fn what_is_not_watched_or_is_only_read_is_no_change() {
        let place = Place::with(&["a"]);
        fs::write(place.path("other"), "x").expect("written");
        fs::read(place.path("a")).expect("read");
        assert_eq!(place.files.look(), place.files.known);
    }

    #[tokio::test(start_paused = true)]
    async fn a_file_that_is_being_written_is_waited_for() {
        let place = Place::with(&["a"]);
        let path = place.path("a");
        let saving = async move {
            fs::write(&path, "").expect("written");
            sleep(QUIET / 2).await;
            fs::write(&path, "half").expect("written");
            sleep(QUIET).await;
            fs::write(&path, "and whole").expect("written");
        };
        let (found, ()) = tokio::join!(place.files.settled(), saving);
        assert_eq!(found, place.files.look());
    }

    #[tokio::test(start_paused = true)]
    async fn a_file_that_is_away_while_it_is_saved_is_waited_for() {
        let place = Place::with(&["a"]);
        fs::rename(place.path("a"), place.path("a~")).expect("renamed");
        let path = place.path("a");
        let saving = async move {
            sleep(AWAY / 3).await;
            fs::write(path, "saved").expect("written");
        };
        let (found, ()) = tokio::join!(place.files.settled(), saving);
        assert!(found.values().all(Option::is_some));
        fs::remove_file(place.path("a")).expect("deleted");
        assert!(place.files.settled().await.values().all(Option::is_none));
    }

    #[tokio::test]
    async fn a_link_that_points_elsewhere_is_noticed() {
        let mut place = Place::with(&["one", "two"]);
        let link = place.path("link");
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(place.path("one"), &link).expect("a link");
            fs::write(place.path("two"), "longer than before").expect("written");
            place.files.set(std::slice::from_ref(&link));
            std::os::unix::fs::symlink(place.path("two"), place.path("new")).expect("a link");
            fs::rename(place.path("new"), &link).expect("renamed");
            place.notices("link").await;
        }
    }
}
