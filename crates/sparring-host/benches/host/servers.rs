//! The servers: one process each over stdio, one process for all over HTTP.

use std::fmt;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use sparring_host::config::{Origin, Reconnect, Rules, Scope, ServerConfig};
use sparring_host::manager::Connection;
use sparring_peer::link::LineLinkOptions;
use sparring_peer::server::{Context, Handler, HandlerResult};
use sparring_peer::{Protocol, Server};
use sparring_transport::http::{HttpOptions, HttpServer, HttpTarget};
use sparring_transport::{ChildTarget, Target, stdio};
use sparring_wire::Json;
use sparring_wire::types::{CallToolResult, ServerCapabilities, Tool};
use tokio::net::TcpListener;

use super::cpu_of;

/// The additional start time of each server, compared with the previous one.
const START_DELAY_STEP: Duration = Duration::from_millis(3);

/// The transport of the servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Stdio,
    Http,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Kind::Stdio { "stdio" } else { "HTTP" })
    }
}

/// Servers to connect to.
pub(crate) struct Servers {
    pub(crate) kind: Kind,
    pub(crate) configs: Vec<ServerConfig>,
    /// The process of the servers over HTTP. It is killed on drop.
    web: Option<Web>,
}

struct Web(Child);

impl Drop for Web {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Servers {
    pub(crate) fn start(kind: Kind, count: usize) -> Servers {
        let program = this_program();
        let (targets, web): (Vec<Target>, _) = match kind {
            Kind::Stdio => {
                let child = |number: usize| {
                    let delay = (START_DELAY_STEP * number as u32).as_millis().to_string();
                    Target::Child(ChildTarget::new(&program).args(["serve-stdio", &delay]))
                };
                ((0..count).map(child).collect(), None)
            }
            Kind::Http => {
                let mut command = Command::new(&program);
                command.args(["serve-http", &count.to_string()]).stdout(Stdio::piped());
                let mut child = command.spawn().expect("this program starts");
                let lines = BufReader::new(child.stdout.take().expect("its stdout")).lines();
                let urls = lines.take(count).map(|line| line.expect("a URL"));
                let targets = urls.map(|url| Target::Http(HttpTarget::new(url))).collect();
                (targets, Some(Web(child)))
            }
        };
        let configs =
            targets.into_iter().enumerate().map(|(number, target)| config(number, target));
        Servers { kind, configs: configs.collect(), web }
    }

    /// Gives an entry another server, which starts at once.
    pub(crate) fn change(&self, config: &mut ServerConfig, round: usize) {
        match &mut config.target {
            Target::Child(target) => {
                target.env.insert("ROUND".to_owned(), round.to_string());
            }
            Target::Http(target) => {
                target.headers = vec![("x-round".to_owned(), round.to_string())];
            }
            other => unreachable!("{other:?} is not measured"),
        }
    }

    /// The CPU time of the processes that run during all rounds.
    pub(crate) fn work(&self) -> Duration {
        self.web.as_ref().map(|web| cpu_of(web.0.id())).unwrap_or_default()
    }

    /// The CPU time of a connection's process, if it has its own.
    pub(crate) async fn work_of(&self, connection: &Connection) -> Duration {
        if self.kind == Kind::Http {
            return Duration::ZERO;
        }
        let answer = connection.call_tool("work", serde_json::json!({})).await;
        let nanoseconds = answer.expect("an answer").content().parse();
        Duration::from_nanos(nanoseconds.expect("a number"))
    }
}

/// The path of this program, which contains every server.
pub(crate) fn this_program() -> String {
    std::env::current_exe().expect("this program has a path").to_string_lossy().into_owned()
}

fn config(number: usize, target: Target) -> ServerConfig {
    ServerConfig {
        name: format!("{number:03}"),
        origin: Origin { file: "bench".into(), scope: Scope::User, line: 1, column: 1 },
        target,
        protocol: Protocol::Auto,
        enabled: true,
        auto_connect: true,
        timeout: Duration::from_secs(30),
        reconnect: Reconnect::default(),
        rules: Rules::default(),
    }
}

/// A server with one tool, which returns the CPU time of its process.
#[derive(Clone)]
struct Plain {
    /// The delay of the first list.
    delay: Duration,
}

impl Handler for Plain {
    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::none().tools()
    }

    async fn list_tools(&self, _: Option<&str>, _: &Context) -> HandlerResult {
        tokio::time::sleep(self.delay).await;
        Ok(vec![Tool::new("work")].into())
    }

    async fn call_tool(&self, _: &str, _: Json<'_>, _: &Context) -> HandlerResult {
        let work = super::cpu().as_nanos();
        Ok(CallToolResult::text(work.to_string()).into())
    }
}

/// Serves the parent process.
pub(crate) async fn over_stdio(delay: &str) {
    let delay = Duration::from_millis(delay.parse().expect("milliseconds"));
    tokio::time::sleep(delay).await;
    Server::new(Plain { delay: Duration::ZERO }).serve(stdio(LineLinkOptions::default())).await;
}

/// Starts so many servers, each on its own port, and prints their URLs.
pub(crate) async fn over_http(count: &str) {
    let count: u32 = count.parse().expect("a number");
    let mut all = Vec::new();
    for number in 0..count {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        println!("http://{}/mcp", listener.local_addr().expect("an address"));
        let server = Server::new(Plain { delay: START_DELAY_STEP * number });
        all.push(HttpServer::new(server, HttpOptions::default()).serve(listener));
    }
    std::io::stdout().flush().expect("somebody reads");
    std::future::pending::<()>().await;
}
