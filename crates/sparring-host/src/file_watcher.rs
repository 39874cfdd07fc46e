//! Watches files for changes.
//!
//! Folders are watched instead of files, because editors replace files when
//! they save. An event of the system only triggers a check, and there is a
//! check at a regular interval too: not every file system sends events, and a
//! folder that replaces a watched one is not watched.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use notify_debouncer_mini::notify::{RecommendedWatcher, RecursiveMode};
use notify_debouncer_mini::{DebounceEventResult, Debouncer, new_debouncer};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};

/// The time without changes before a folder and its files are read.
const QUIET_PERIOD: Duration = Duration::from_millis(50);

/// The interval of checks without an event.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Maximum absence of a file while an editor saves it.
const MAX_ABSENCE: Duration = Duration::from_millis(300);

/// Watches files.
pub struct FileWatcher {
    /// `None` if the system has no watcher; then there are only regular checks.
    debouncer: Option<Debouncer<RecommendedWatcher>>,
    /// The last known stamp of each file; `None` if it did not exist.
    known: BTreeMap<PathBuf, Option<Stamp>>,
    /// The watched folders with their stamps.
    folders: BTreeMap<PathBuf, Stamp>,
    notify: Arc<Notify>,
}

/// Distinguishes a file from another one and from its earlier versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    changed: Option<SystemTime>,
    length: u64,
    number: (u64, u64),
}

/// A watcher without files.
impl Default for FileWatcher {
    fn default() -> FileWatcher {
        let notify = Arc::new(Notify::new());
        let sender = Arc::clone(&notify);
        let on_event = move |_: DebounceEventResult| sender.notify_one();
        FileWatcher {
            debouncer: new_debouncer(QUIET_PERIOD, on_event).ok(),
            known: BTreeMap::new(),
            folders: BTreeMap::new(),
            notify,
        }
    }
}

impl FileWatcher {
    /// Replaces the watched files. Returns true if some were not watched
    /// before: those may have changed since they were read.
    pub fn watch(&mut self, files: &[PathBuf]) -> bool {
        let before = std::mem::take(&mut self.known);
        for file in files {
            let known = before.get(file).copied().unwrap_or_else(|| Stamp::read(file));
            self.known.insert(file.clone(), known);
        }
        self.watch_folders();
        files.iter().any(|file| !before.contains_key(file))
    }

    /// Waits until watched files have changed, and returns them.
    pub async fn changed(&mut self) -> Vec<PathBuf> {
        loop {
            let _ = timeout(CHECK_INTERVAL, self.notify.notified()).await;
            self.watch_folders();
            if self.read_stamps() == self.known {
                continue;
            }
            let found = self.wait_until_settled().await;
            let is_other = |file: &&PathBuf| found.get(*file) != self.known.get(*file);
            let changed: Vec<PathBuf> = found.keys().filter(is_other).cloned().collect();
            if !changed.is_empty() {
                self.known = found;
                return changed;
            }
        }
    }

    fn read_stamps(&self) -> BTreeMap<PathBuf, Option<Stamp>> {
        self.known.keys().map(|file| (file.clone(), Stamp::read(file))).collect()
    }

    /// Waits, up to a limit, until nothing changes any more and every file that
    /// existed exists again, so that no half-written file is read.
    async fn wait_until_settled(&self) -> BTreeMap<PathBuf, Option<Stamp>> {
        let since = Instant::now();
        let mut found = self.read_stamps();
        loop {
            sleep(QUIET_PERIOD).await;
            let before = std::mem::replace(&mut found, self.read_stamps());
            let mut both = found.values().zip(self.known.values());
            let is_away = both.any(|(now, known)| now.is_none() && known.is_some());
            let limit = if found == before { MAX_ABSENCE } else { CHECK_INTERVAL };
            let is_settled = found == before && !is_away;
            if is_settled || since.elapsed() >= limit {
                return found;
            }
        }
    }

    /// Watches the folders of all files, and watches replaced folders again.
    fn watch_folders(&mut self) {
        let Some(debouncer) = &mut self.debouncer else { return };
        let watcher = debouncer.watcher();
        let wanted: BTreeSet<PathBuf> = self.known.keys().map(|file| folder(file)).collect();
        self.folders.retain(|folder, stamp| {
            let stays = wanted.contains(folder)
                && Stamp::read(folder).is_some_and(|now| now.number == stamp.number);
            if !stays {
                // A removed folder is not watched any more anyway.
                let _ = watcher.unwatch(folder);
            }
            stays
        });
        for folder in wanted {
            if self.folders.contains_key(&folder) {
                continue;
            }
            // Folders that cannot be watched are still checked at the interval.
            let stamp = Stamp::read(&folder);
            if let Some(stamp) = stamp
                && watcher.watch(&folder, RecursiveMode::NonRecursive).is_ok()
            {
                self.folders.insert(folder, stamp);
            }
        }
    }
}

impl Stamp {
    fn read(path: &Path) -> Option<Stamp> {
        let metadata = std::fs::metadata(path).ok()?;
        #[cfg(unix)]
        let number = {
            use std::os::unix::fs::MetadataExt as _;
            (metadata.dev(), metadata.ino())
        };
        #[cfg(not(unix))]
        let number = (0, 0);
        Some(Stamp { changed: metadata.modified().ok(), length: metadata.len(), number })
    }
}

/// The folder of a file.
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

    /// Maximum wait of a test for a change.
    const TEST_TIMEOUT: Duration = Duration::from_secs(10);

    struct Fixture {
        folder: tempfile::TempDir,
        files: FileWatcher,
    }

    impl Fixture {
        fn with(names: &[&str]) -> Fixture {
            let folder = tempfile::tempdir().expect("a folder");
            let paths: Vec<PathBuf> = names.iter().map(|name| folder.path().join(name)).collect();
            for path in &paths {
                fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
                fs::write(path, "before").expect("a file");
            }
            let mut files = FileWatcher::default();
            assert!(files.watch(&paths));
            assert!(!files.watch(&paths));
            Fixture { folder, files }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        async fn notices(&mut self, name: &str) {
            let changed = timeout(TEST_TIMEOUT, self.files.changed()).await.expect("it is noticed");
            assert_eq!(changed, [self.path(name)]);
        }
    }

    #[tokio::test]
    async fn a_file_that_is_written_or_replaced_or_deleted_is_noticed() {
        let mut fixture = Fixture::with(&["a", "sub/b"]);
        fs::write(fixture.path("sub/b"), "afterwards").expect("written");
        fixture.notices("sub/b").await;
        fs::write(fixture.path("new"), "replaced").expect("written");
        fs::rename(fixture.path("new"), fixture.path("a")).expect("renamed");
        fixture.notices("a").await;
        fs::remove_file(fixture.path("a")).expect("deleted");
        fixture.notices("a").await;
        fs::write(fixture.path("a"), "again").expect("written");
        fixture.notices("a").await;
    }

    #[tokio::test]
    async fn a_folder_that_is_replaced_is_watched_anew() {
        let mut fixture = Fixture::with(&["sub/b"]);
        fs::rename(fixture.path("sub"), fixture.path("old")).expect("renamed");
        fs::create_dir(fixture.path("sub")).expect("a folder");
        fs::write(fixture.path("sub/b"), "another").expect("written");
        fixture.notices("sub/b").await;
        fs::write(fixture.path("sub/b"), "and once more").expect("written");
        fixture.notices("sub/b").await;
    }

    #[test]
    fn unwatched_files_and_reads_are_not_changes() {
        let fixture = Fixture::with(&["a"]);
        fs::write(fixture.path("other"), "x").expect("written");
        fs::read(fixture.path("a")).expect("read");
        assert_eq!(fixture.files.read_stamps(), fixture.files.known);
    }

    #[tokio::test(start_paused = true)]
    async fn a_file_that_is_being_written_is_waited_for() {
        let fixture = Fixture::with(&["a"]);
        let path = fixture.path("a");
        let saving = async move {
            fs::write(&path, "").expect("written");
            sleep(QUIET_PERIOD / 2).await;
            fs::write(&path, "half").expect("written");
            sleep(QUIET_PERIOD).await;
            fs::write(&path, "and whole").expect("written");
        };
        let (found, ()) = tokio::join!(fixture.files.wait_until_settled(), saving);
        assert_eq!(found, fixture.files.read_stamps());
    }

    #[tokio::test(start_paused = true)]
    async fn a_file_that_is_away_while_it_is_saved_is_waited_for() {
        let fixture = Fixture::with(&["a"]);
        fs::rename(fixture.path("a"), fixture.path("a~")).expect("renamed");
        let path = fixture.path("a");
        let saving = async move {
            sleep(MAX_ABSENCE / 3).await;
            fs::write(path, "saved").expect("written");
        };
        let (found, ()) = tokio::join!(fixture.files.wait_until_settled(), saving);
        assert!(found.values().all(Option::is_some));
        fs::remove_file(fixture.path("a")).expect("deleted");
        assert!(fixture.files.wait_until_settled().await.values().all(Option::is_none));
    }

    #[tokio::test]
    async fn a_link_that_points_elsewhere_is_noticed() {
        let mut fixture = Fixture::with(&["one", "two"]);
        let link = fixture.path("link");
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(fixture.path("one"), &link).expect("a link");
            fs::write(fixture.path("two"), "longer than before").expect("written");
            fixture.files.watch(std::slice::from_ref(&link));
            std::os::unix::fs::symlink(fixture.path("two"), fixture.path("new")).expect("a link");
            fs::rename(fixture.path("new"), &link).expect("renamed");
            fixture.notices("link").await;
        }
    }
}
