//! A server of another project, over stdio or HTTP; the tests are the same.

use std::process::Stdio;

use sparring_peer::link::Link;
use sparring_transport::http::{HttpLink, HttpTarget, HttpTransport};
use sparring_transport::{ChildLink, ChildTarget, Stderr};
use sparring_wire::Revision;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::mpsc;

use super::installed;
use super::peer_connection::within;

/// A server of another project.
pub(super) enum Peer {
    /// Started for each connection.
    Stdio(ChildTarget),
    /// Started once. Dropping it stops it.
    Http { target: HttpTarget, _process: Box<Child> },
}

impl Peer {
    /// Starts a server over Streamable HTTP. `{port}` in `target` becomes the port; the server
    /// reports when it listens.
    pub(super) async fn http(target: ChildTarget) -> Peer {
        Peer::behind_a_port(target, HttpTransport::Streamable, "/mcp").await
    }

    /// Starts a server over HTTP+SSE.
    pub(super) async fn sse(target: ChildTarget) -> Peer {
        Peer::behind_a_port(target, HttpTransport::Sse, "/sse").await
    }

    /// Starts a Python server of the tests over all its transports; returns none without
    /// Python.
    pub(super) async fn python(name: &str) -> Vec<Peer> {
        let script = installed::script(&format!("servers/{name}"));
        let Some(target) = installed::python(&[&script]) else { return Vec::new() };
        vec![
            Peer::http(target.clone().args(["streamable-http", "{port}"])).await,
            Peer::sse(target.clone().args(["sse", "{port}"])).await,
            Peer::Stdio(target),
        ]
    }

    async fn behind_a_port(target: ChildTarget, transport: HttpTransport, path: &str) -> Peer {
        // Some servers cannot choose a free port.
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let port = free.port().to_string();
        let with_port = |text: &String| text.replace("{port}", &port);
        let mut process = Command::new(&target.program)
            .args(target.args.iter().map(with_port))
            .envs(target.env.iter().map(|(name, value)| (name, with_port(value))))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let (sender, mut lines) = mpsc::unbounded_channel();
        tokio::spawn(forward_lines(process.stdout.take().unwrap(), sender.clone()));
        tokio::spawn(forward_lines(process.stderr.take().unwrap(), sender));
        let mut output = String::new();
        loop {
            let line = within(lines.recv()).await;
            let line = line.unwrap_or_else(|| panic!("{}: {output}", target.command_line()));
            if line.to_lowercase().contains("listening") || line.contains("running on") {
                break;
            }
            output.push_str(&line);
        }
        let url = format!("http://127.0.0.1:{port}{path}");
        let target = HttpTarget { transport, ..HttpTarget::new(url) };
        Peer::Http { target, _process: Box::new(process) }
    }

    /// Returns the name for messages.
    pub(super) fn name(&self) -> String {
        match self {
            Peer::Stdio(target) => target.command_line(),
            Peer::Http { target, .. } => target.url.clone(),
        }
    }

    /// Returns those of the revisions that this transport supports.
    pub(super) fn supported_revisions(
        &self,
        revisions: impl IntoIterator<Item = Revision>,
    ) -> impl Iterator<Item = Revision> {
        let old =
            matches!(self, Peer::Http { target, .. } if target.transport == HttpTransport::Sse);
        revisions.into_iter().filter(move |revision| !(old && revision.is_modern()))
    }

    /// Returns a link to it, and the process that was started for it.
    pub(super) fn open(&self) -> (Box<dyn Link>, Option<u32>, Option<Stderr>) {
        match self {
            Peer::Stdio(target) => {
                let link = ChildLink::spawn(target).unwrap();
                let (id, stderr) = (link.id(), link.stderr());
                (Box::new(link), Some(id), Some(stderr))
            }
            Peer::Http { target, .. } => (Box::new(HttpLink::new(target).unwrap()), None, None),
        }
    }
}

/// Reads to the end, so that the server never blocks.
async fn forward_lines(output: impl AsyncRead + Unpin, sender: mpsc::UnboundedSender<String>) {
    let mut lines = BufReader::new(output).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let _ = sender.send(line + "\n");
    }
}
