//! A project of a test's own: a fresh folder with the sample instructions in it,
//! and clients of a server that serves them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use instructions::library::Opened;
use instructions::{Instructions, Library, Log};
use sparring::{ChildTarget, Client, ContainerTarget, Server};

use crate::client::InstructionsClient;

/// How long anything may take that is waited for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The variable that names the engine that `cargo xtask containers` has started
/// containers by.
const ENGINE: &str = "SPAR_CONTAINER_ENGINE";

/// The container that has the server and the sample instructions.
const CONTAINER: &str = "spar-bare";

/// The sample instructions.
pub(crate) fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("knowledge")
}

/// A project in a folder that is gone afterwards.
pub(crate) struct Project(tempfile::TempDir);

impl Project {
    /// One with the sample instructions.
    pub(crate) fn with_samples() -> Project {
        let project = Project::empty();
        copy(&samples(), &project.folder());
        project
    }

    /// One without any instructions.
    pub(crate) fn empty() -> Project {
        let project = Project(tempfile::tempdir().unwrap());
        fs::create_dir_all(project.folder()).unwrap();
        project
    }

    /// One with these files.
    pub(crate) fn of(files: &[(&str, &[u8])]) -> Project {
        let project = Project::empty();
        for (name, bytes) in files {
            project.write(name, bytes);
        }
        project
    }

    /// Where the project is.
    pub(crate) fn root(&self) -> &Path {
        self.0.path()
    }

    /// Where its instructions are.
    pub(crate) fn folder(&self) -> PathBuf {
        self.0.path().join(".pongogo/instructions")
    }

    /// Puts a file in the place of what was there, all at once, as editors do.
    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.folder().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let aside = self.0.path().join("aside");
        fs::write(&aside, bytes).unwrap();
        fs::rename(aside, path).unwrap();
    }

    /// Its instructions, read.
    pub(crate) fn open(&self) -> Opened {
        Library::open(&self.folder()).unwrap()
    }

    /// A server of them.
    pub(crate) fn server(&self) -> Server<Instructions> {
        Server::new(Instructions::new(self.open().library, Log::SILENT))
    }

    /// A client of a server in this process.
    pub(crate) async fn in_memory(&self) -> InstructionsClient {
        InstructionsClient::on(Client::in_memory(self.server()).await.unwrap())
    }

    /// The program as a child, in the project and with nothing set but what makes
    /// it the same each time.
    pub(crate) fn child(&self) -> ChildTarget {
        let mut child = ChildTarget::new(env!("CARGO_BIN_EXE_instructions-server"));
        child.cwd = Some(self.root().to_owned());
        child.env = environment([
            ("PONGOGO_KNOWLEDGE_PATH", self.folder().to_str().unwrap()),
            ("PONGOGO_LOG_LEVEL", "DEBUG"),
        ]);
        child
    }

    /// A client of the program as a child.
    pub(crate) async fn over_stdio(&self) -> InstructionsClient {
        InstructionsClient::on(Client::connect(self.child()).await.unwrap())
    }
}

/// A client of the program in the container that all tests share; none where there
/// are no containers.
pub(crate) async fn in_container() -> Option<InstructionsClient> {
    let Ok(engine) = std::env::var(ENGINE) else {
        let ci = std::env::var_os("CI").is_some_and(|value| !value.is_empty());
        assert!(!ci, "{ENGINE} is not set; with CI set no test may be skipped");
        eprintln!("SKIPPED: there are no containers; run `cargo xtask containers`");
        return None;
    };
    let mut command = ChildTarget::new("instructions-server");
    command.env = environment([("PONGOGO_KNOWLEDGE_PATH", "/knowledge")]);
    let mut target = ContainerTarget::new(CONTAINER, command);
    target.engine = shlex::split(&engine).unwrap();
    Some(InstructionsClient::on(Client::connect(target).await.unwrap()))
}

/// Clients of the sample instructions over everything there is.
pub(crate) async fn everywhere(project: &Project) -> Vec<InstructionsClient> {
    let mut clients = vec![project.in_memory().await, project.over_stdio().await];
    clients.extend(in_container().await);
    clients
}

fn environment<const N: usize>(
    variables: [(&str, &str); N],
) -> std::collections::BTreeMap<String, String> {
    let all = variables.into_iter().chain([("PONGOGO_TEST_MODE", "1")]);
    all.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(fs::copy(entry.path(), to).unwrap()),
        }
    }
}
