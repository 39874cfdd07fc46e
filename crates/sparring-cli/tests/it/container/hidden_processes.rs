//! Tests containers whose processes the host does not show, as for a user of root's
//! engine: a shell in the container ends them. Without a shell, `spar` prints a note.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Instant;

use super::podman::{BARE, Podman, SHELL, kill, podman, printed, with_engine};
use crate::process::{SPAR, WAIT_LIMIT, output};

const NOBODY_UID: u32 = 65534;

/// Podman as a service for any user. Stopped when dropped.
struct Service {
    process: Child,
    folder: tempfile::TempDir,
}

impl Service {
    fn start(podman: &Podman) -> Option<Service> {
        if !rustix::process::geteuid().is_root() {
            eprintln!("SKIPPED: only root can become another user");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        let open =
            |path: &Path| fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
        open(folder.path());
        fs::copy(SPAR, folder.path().join("spar")).unwrap();
        let home = folder.path().join("home");
        fs::create_dir(&home).unwrap();
        std::os::unix::fs::chown(&home, Some(NOBODY_UID), Some(NOBODY_UID)).unwrap();
        let url = format!("unix://{}", socket.display());
        let mut command = podman.command(&["system", "service", "--time=0", &url]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let service = Service { process: command.spawn().unwrap(), folder };
        let until = Instant::now() + WAIT_LIMIT;
        while !socket.exists() {
            assert!(Instant::now() < until, "podman does not serve");
        }
        open(&socket);
        Some(service)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs `spar` as the user nobody, with a client of the service.
    fn spar(&self, client: &str, args: &[&str]) -> Output {
        let url = format!("unix://{}", self.path("socket").display());
        let mut command = Command::new(self.path("spar"));
        command.args(with_engine(args, &client.replace("URL", &url)));
        command.env("DOCKER_HOST", &url).env("HOME", self.path("home"));
        command.env("XDG_RUNTIME_DIR", self.path("home")).current_dir("/");
        output(command.uid(NOBODY_UID).gid(NOBODY_UID))
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

/// Podman's client, and docker's if it is installed, which works with podman too.
fn clients() -> Vec<&'static str> {
    let docker = Command::new("docker").arg("--version").output().is_ok();
    [Some("podman --remote --url URL"), docker.then_some("docker")].into_iter().flatten().collect()
}

const SILENT: &str = "error: no answer to server/discover and initialize within 1s\n";

#[test]
fn a_shell_in_the_container_ends_a_server_that_the_host_does_not_show() {
    let Some(podman) = podman() else { return };
    let Some(service) = Service::start(&podman) else { return };
    let commands = [("1000.11", "trap '' TERM"), ("1000.12", "")];
    for (client, (word, trap)) in clients().into_iter().zip(commands) {
        let succeeding = service.spar(client, &["ping", "--container", SHELL, "--", "server"]);
        assert_eq!(printed(&succeeding), (String::new(), Some(0)), "{client}");
        let script = format!("{trap}\nsleep {word} &\nwhile :; do sleep {word}; done");
        let flags = ["ping", "--timeout", "1s", "--container", SHELL, "--", "sh", "-c", &script];
        let silent = service.spar(client, &flags);
        assert_eq!(printed(&silent), (SILENT.to_owned(), Some(3)), "{client}");
        assert_eq!(podman.processes(SHELL, word), [""; 0], "{client}");
    }
}

#[test]
fn reports_a_server_that_cannot_be_ended() {
    let Some(podman) = podman() else { return };
    let Some(service) = Service::start(&podman) else { return };
    let succeeding = ["ping", "--container", BARE, "--", "server"];
    let stays = ["ping", "--timeout", "1s", "--container", BARE, "--", "sleep", "1000.13"];
    let client = "podman --remote --url URL";
    assert_eq!(printed(&service.spar(client, &succeeding)), (String::new(), Some(0)));
    let note = "note: the server may still run in container spar-bare: \
                the host does not show the process, and no shell in the container can end it\n";
    assert_eq!(printed(&service.spar(client, &stays)), (format!("{SILENT}{note}"), Some(3)));
    assert_eq!(podman.processes(BARE, "1000.13").len(), 1);
    kill(&podman, BARE, "1000.13");
}
