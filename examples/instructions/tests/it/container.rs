//! What only a container shows: many clients of one that all tests share, each
//! with a server of its own, and nothing that is left there.

use crate::client::{ids, structured};
use crate::generated::{RouteInstructions, SwitchEngine};
use crate::project::in_container;

#[tokio::test]
async fn clients_in_one_container_have_servers_of_their_own() {
    let visits = (0..3).map(|number| async move {
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
    futures_util::future::join_all(visits).await;
}
