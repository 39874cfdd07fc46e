//! A project of a test's own: a fresh folder with the sample instructions in it,
//! and clients of a server that serves them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use instructions::knowledge;
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

/// Where a project has its instructions.
const FOLDER: &str = ".pongogo/instructions";

/// A project in a folder of the test's own.
pub(crate) struct Project(sparring::Project);

impl Project {
    /// One with the sample instructions.
    pub(crate) fn with_samples() -> Project {
        let project = Project::empty();
        for instruction in knowledge::read(&samples()).unwrap().stamps.into_keys() {
            let name = instruction.strip_prefix(samples()).unwrap();
            project.write(name, fs::read(&instruction).unwrap());
        }
        project
    }

    /// One without any instructions.
    pub(crate) fn empty() -> Project {
        let project = sparring::Project::new();
        fs::create_dir_all(project.join(FOLDER)).unwrap();
        Project(project)
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
        self.0.join(FOLDER)
    }

    /// Puts a file in the place of what was there, all at once, as editors do: what
    /// is written bit by bit may be read, and told of, more than once.
    pub(crate) fn write(&self, name: impl AsRef<Path>, bytes: impl AsRef<[u8]>) {
        let path = self.folder().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        self.0.write("aside", bytes);
        fs::rename(self.0.join("aside"), path).unwrap();
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

    /// The program as a child, in the project and with nothing told that is not the
    /// same each time.
    pub(crate) fn child(&self) -> ChildTarget {
        ChildTarget::new(env!("CARGO_BIN_EXE_instructions-server"))
            .cwd(self.root())
            .env("PONGOGO_KNOWLEDGE_PATH", self.folder().to_str().unwrap())
            .env("PONGOGO_LOG_LEVEL", "DEBUG")
            .env("PONGOGO_TEST_MODE", "1")
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
    let command = ChildTarget::new("instructions-server")
        .env("PONGOGO_KNOWLEDGE_PATH", "/knowledge")
        .env("PONGOGO_TEST_MODE", "1");
    let mut target = ContainerTarget::new(CONTAINER, command);
    target.engine = shlex::split(&engine).unwrap();
    Some(InstructionsClient::on(Client::connect(target).await.unwrap()))
}

/// Clients of the sample instructions: in memory, over stdio and in a container.
pub(crate) async fn in_every_place(project: &Project) -> Vec<InstructionsClient> {
    let mut clients = vec![project.in_memory().await, project.over_stdio().await];
    clients.extend(in_container().await);
    clients
}
