//! A client connects to a server in a container that all tests share. The tests are skipped
//! without a container engine.

use sparring_peer::Client;
use sparring_transport::{ChildTarget, ContainerTarget, OpenedTarget, Target};
use sparring_wire::Revision;

use crate::script::within;

/// Returns the server in a container that `cargo xtask containers` has started.
fn target(container: &str, command: ChildTarget) -> Option<Target> {
    let Ok(engine) = std::env::var("SPAR_CONTAINER_ENGINE") else {
        let ci = std::env::var_os("CI").is_some_and(|value| !value.is_empty());
        assert!(!ci, "SPAR_CONTAINER_ENGINE is not set; with CI set no test may be skipped");
        eprintln!("SKIPPED: there are no containers; run `cargo xtask containers`");
        return None;
    };
    let mut target = ContainerTarget::new(container, command);
    target.engine = shlex::split(&engine).unwrap();
    Some(Target::Container(target))
}

#[tokio::test]
async fn a_client_talks_to_a_server_in_a_shared_container_in_every_revision() {
    for revision in Revision::ALL {
        let Some(target) = target("spar-bare", ChildTarget::new("server")) else { return };
        let OpenedTarget { link, stderr, container, .. } = within(target.open()).await.unwrap();
        let connecting = Client::builder().revision(revision).connect(link);
        let client = within(connecting).await.unwrap();
        let call = client.call_tool("echo", serde_json::json!({"message": "hi"}));
        assert_eq!(within(call.into_future()).await.unwrap().content(), "hi");
        within(client.close()).await;
        assert!(stderr.unwrap().text().ends_with("; 0 violations\n"));
        assert_eq!(container.unwrap().leftover(), None);
    }
}

#[tokio::test]
async fn clients_side_by_side_in_one_container_do_not_mix() {
    let visits = (0..4).map(|number: u32| async move {
        let target = target("spar-bare", ChildTarget::new("server"))?;
        let opened = within(target.open()).await.unwrap();
        let client = within(Client::builder().connect(opened.link)).await.unwrap();
        let message = serde_json::json!({"message": number.to_string()});
        let call = client.call_tool("echo", message);
        assert_eq!(within(call.into_future()).await.unwrap().content(), number.to_string());
        within(client.close()).await;
        Some(())
    });
    futures_util::future::join_all(visits).await;
}

#[tokio::test]
async fn a_dropped_client_leaves_nothing_in_the_container() {
    let command = ChildTarget::new("sleep").args(["1000.21"]);
    let Some(Target::Container(target)) = target("spar-bare", command) else { return };
    let runs = || {
        let mut top = std::process::Command::new(&target.engine[0]);
        let output = top.args(&target.engine[1..]).args(["top", "spar-bare", "args"]).output();
        String::from_utf8(output.unwrap().stdout).unwrap().contains("1000.21")
    };
    let opened = within(Target::Container(target.clone()).open()).await.unwrap();
    within(async {
        while !runs() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    drop(opened);
    within(async {
        while runs() {
            tokio::task::yield_now().await;
        }
    })
    .await;
}
