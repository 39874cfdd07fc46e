//! Many clients of one shared container, each with a separate server process.

use instructions::test_support::{ids, structured};

use crate::generated::{RouteInstructions, SwitchEngine};
use crate::project::in_container;

#[tokio::test]
async fn clients_in_one_container_have_separate_servers() {
    let clients = (0..3).map(|number| async move {
        let client = in_container().await?;
        let engine = ["durian-0.5", "durian-0.6"][number % 2];
        client.switch_engine(SwitchEngine::new(engine)).untyped().await.unwrap().assert_success();
        let routed =
            client.route_instructions(RouteInstructions::new("I'm done")).untyped().await.unwrap();
        assert_eq!(structured(&routed)["engine"], engine);
        assert_eq!(ids(&routed)[0], "learning/learning-loop");
        client.client.close().await;
        Some(())
    });
    futures_util::future::join_all(clients).await;
}
