//! A temporary project with the sample instructions, and clients of its server.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use instructions::library::Opened;
use instructions::test_support::{project_with, sample_instructions};
use instructions::{Instructions, Library, Log};
use sparring::fixture::{Image, SharedContainer, skip_test};
use sparring::{ChildTarget, Client, Server};

use crate::generated::InstructionsClient;

/// Maximum wait for anything.
pub(crate) const TEST_TIMEOUT: Duration = Duration::from_secs(60);

/// The variable in which `cargo xtask containers` passes the podman command.
const ENGINE: &str = "SPAR_CONTAINER_ENGINE";

/// The image of `cargo xtask containers`, with the server and the sample instructions.
const IMAGE: &str = "localhost/spar-bare";

/// Flags for podman where limits cannot be raised and no network is set up.
const FLAGS: [&str; 4] =
    ["--network=none", "--ulimit=nofile=1024:20000", "--ulimit=nproc=1000:1000", "--init=false"];

/// The folder of instructions in a project. The server finds it only by the variable.
pub(crate) const FOLDER: &str = "docs/instructions";

/// A project in a temporary folder.
pub(crate) struct Project(sparring::Project);

impl Project {
    /// A project with the sample instructions.
    pub(crate) fn with_samples() -> Project {
        Project(project_with(&sample_instructions(), FOLDER))
    }

    /// A project without instructions.
    pub(crate) fn empty() -> Project {
        let project = sparring::Project::new();
        fs::create_dir_all(project.join(FOLDER)).unwrap();
        Project(project)
    }

    /// A project with these files.
    pub(crate) fn with_files(files: &[(&str, &[u8])]) -> Project {
        let project = Project::empty();
        for (name, bytes) in files {
            project.write(name, bytes);
        }
        project
    }

    /// The path of the project.
    pub(crate) fn root(&self) -> &Path {
        self.0.path()
    }

    /// The path of its instructions.
    pub(crate) fn folder(&self) -> PathBuf {
        self.0.join(FOLDER)
    }

    /// Replaces a file atomically, as editors do. The server could read a file that is
    /// written in parts more than once.
    pub(crate) fn write(&self, name: impl AsRef<Path>, bytes: impl AsRef<[u8]>) {
        let path = self.folder().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        self.0.write("aside", bytes);
        fs::rename(self.0.join("aside"), path).unwrap();
    }

    /// Reads its instructions.
    pub(crate) fn open(&self) -> Opened {
        Library::open(&self.folder()).unwrap()
    }

    /// A server of its instructions.
    pub(crate) fn server(&self) -> Server<Instructions> {
        Server::new(Instructions::new(self.open().library, Log::SILENT))
    }

    /// A client of a server in this process.
    pub(crate) async fn in_memory(&self) -> InstructionsClient {
        InstructionsClient::new(Client::in_memory(self.server()).await.unwrap())
    }

    /// The program as a child process in the project, in test mode.
    pub(crate) fn child(&self) -> ChildTarget {
        ChildTarget::new(env!("CARGO_BIN_EXE_instructions-server"))
            .cwd(self.root())
            .env("PONGOGO_KNOWLEDGE_PATH", self.folder().to_str().unwrap())
            .env("PONGOGO_LOG_LEVEL", "DEBUG")
            .env("PONGOGO_TEST_MODE", "1")
    }

    /// A client of the program as a child process.
    pub(crate) async fn over_stdio(&self) -> InstructionsClient {
        InstructionsClient::new(Client::connect(self.child()).await.unwrap())
    }
}

/// A client of the program in a container that all tests of a run share. Returns `None`
/// if containers are not available, and prints this; if `CI` is set, it panics.
pub(crate) async fn in_container() -> Option<InstructionsClient> {
    if std::env::var_os(ENGINE).is_none() {
        skip_test::<()>(format_args!("there are no containers; run `cargo xtask containers`"));
        return None;
    }
    let container = SharedContainer::builder(Image::named(IMAGE)).flags(FLAGS);
    let container = container.command(["sleep", "infinity"]).start().await.unwrap();
    let command = ChildTarget::new("instructions-server")
        .env("PONGOGO_KNOWLEDGE_PATH", "/knowledge")
        .env("PONGOGO_TEST_MODE", "1");
    let client = Client::connect(container.exec(command)).await.unwrap();
    Some(InstructionsClient::new(client))
}

/// Clients of the sample instructions: in memory, over stdio and in a container.
pub(crate) async fn clients_of_every_kind(project: &Project) -> Vec<InstructionsClient> {
    let mut clients = vec![project.in_memory().await, project.over_stdio().await];
    clients.extend(in_container().await);
    clients
}
