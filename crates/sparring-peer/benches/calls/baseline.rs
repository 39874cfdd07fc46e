//! The baseline: two tokio tasks and a reply channel without a protocol.

use std::collections::HashMap;

use tokio::sync::{mpsc, oneshot};

type PendingCall = (Vec<u8>, oneshot::Sender<Vec<u8>>);

pub(crate) struct Baseline {
    calls: mpsc::UnboundedSender<PendingCall>,
}

impl Baseline {
    pub(crate) fn start() -> Self {
        let (calls, mut queue) = mpsc::unbounded_channel::<PendingCall>();
        let (to_server, mut at_server) = mpsc::unbounded_channel::<(u64, Vec<u8>)>();
        let (to_client, mut at_client) = mpsc::unbounded_channel::<(u64, Vec<u8>)>();
        tokio::spawn(async move {
            while let Some(message) = at_server.recv().await {
                if to_client.send(message).is_err() {
                    break;
                }
            }
        });
        tokio::spawn(async move {
            let mut pending = HashMap::new();
            let mut next = 0;
            loop {
                tokio::select! {
                    call = queue.recv() => {
                        let Some((bytes, reply)) = call else { break };
                        pending.insert(next, reply);
                        let _ = to_server.send((next, bytes));
                        next += 1;
                    }
                    Some((id, bytes)) = at_client.recv() => {
                        if let Some(reply) = pending.remove(&id) {
                            let _: Result<(), _> = reply.send(bytes);
                        }
                    }
                }
            }
        });
        Baseline { calls }
    }
}

impl super::measure::Contestant for Baseline {
    async fn call(&self) {
        let (reply, answer) = oneshot::channel();
        let bytes = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#.to_vec();
        self.calls.send((bytes, reply)).expect("a task that runs");
        answer.await.expect("an answer");
    }
}
