//! A host of many small servers: connects to COUNT instances of COMMAND, prints
//! their process ids, and stays until its stdin ends.

use std::io::Read as _;
use std::time::Duration;

use sparring_host::config::{Origin, Reconnect, Rules, Scope, ServerConfig};
use sparring_host::manager::Manager;
use sparring_peer::Protocol;
use sparring_transport::{ChildTarget, Target};

#[tokio::main]
#[expect(clippy::print_stdout, reason = "whoever starts it reads that")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let count: usize = args.next().ok_or("host COUNT COMMAND")?.parse()?;
    let command = args.next().ok_or("host COUNT COMMAND")?;
    let servers = (0..count).map(|number| ServerConfig {
        name: number.to_string(),
        origin: Origin { file: "none".into(), scope: Scope::User, line: 1, column: 1 },
        target: Target::Child(ChildTarget::new(&command).args([number.to_string()])),
        protocol: Protocol::Auto,
        enabled: true,
        auto_connect: true,
        timeout: Duration::from_secs(30),
        reconnect: Reconnect::default(),
        rules: Rules::default(),
    });
    let manager = Manager::new(servers);
    for (_, connection) in manager.connect_all().await {
        let answer = connection?.call_tool("pid", serde_json::json!({})).await?;
        println!("{}", answer.content());
    }
    let _ = tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())).await;
    manager.shut_down(Duration::from_secs(10)).await;
    Ok(())
}
