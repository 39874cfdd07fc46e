//! Streams of lines, and processes.

use serde_json::json;
use sparring_transport::{ChildTarget, Target};
use sparring_wire::{Revision, Rule};

use super::Case;
use crate::support::Action;

/// A server in shell that only knows `server/discover`.
const SHELL_SERVER: &str = r#"
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  meta='"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"shell","version":"1.0.0"}}'
  printf '{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{},"ttlMs":0,"cacheScope":"public",%s}}\n' "$id" "$meta"
done
"#;

/// A server in shell that only knows discovery and subscriptions. It ends the last one with its
/// input, under the id in `$end`.
const LISTENING_SERVER: &str = r#"
info='"io.modelcontextprotocol/serverInfo":{"name":"shell","version":"1.0.0"}'
key='"io.modelcontextprotocol/subscriptionId"'
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\("[^"]*"\|[0-9]*\).*/\1/p')
  case "$line" in
    *'"subscriptions/listen"'*)
      last=$id
      printf '{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true},"_meta":{%s:%s}}}\n' "$key" "$id"
      ;;
    *'"notifications/'*) ;;
    *)
      printf '{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"tools":[],"ttlMs":0,"cacheScope":"public","_meta":{%s}}}\n' "$id" "$info"
      ;;
  esac
done
if [ -n "$last" ]; then
  printf '{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","_meta":{%s:%s,%s}}}\n' "$last" "$key" "${end:-$last}" "$info"
fi
"#;

/// The shortest line that is too long for the broken server, in bytes.
const LIMIT: usize = 64 * 1024;

fn shell(script: String) -> Target {
    Target::Child(ChildTarget::new("sh").args(["-c".to_owned(), script]))
}

pub(super) const CASES: &[Case] = &[
    Case::lines(Rule::LongLine, Revision::V2025_11_25, |server| {
        server.on_request(|message| match message.to_string().len() > LIMIT {
            true => Action::Close,
            false => Action::Pass,
        })
    }),
    Case::lines(Rule::LongLine, Revision::V2026_07_28, |server| {
        server.on_request(|message| match message.to_string().len() > LIMIT {
            true => {
                let error = json!({"code": -32600, "message": "The message is too long."});
                Action::json(json!({"jsonrpc": "2.0", "id": message["id"], "error": error}))
            }
            false => Action::Pass,
        })
    }),
    Case::lines(Rule::NotJson, Revision::V2025_06_18, |server| {
        server.on_method("initialize", |_| {
            Action::AnswerAndPass(vec!["The server is starting ...".to_owned()])
        })
    }),
    Case::lines(Rule::NotJson, Revision::V2026_07_28, |server| {
        server.on_method("tools/list", |_| {
            Action::AnswerAndPass(vec!["INFO listing the tools".to_owned()])
        })
    }),
    #[cfg(unix)]
    Case::process(
        Rule::IgnoredEndOfInput,
        Revision::V2026_07_28,
        || shell(format!("{SHELL_SERVER}\nsleep 60")),
        || shell(SHELL_SERVER.to_owned()),
    )
    .with_options(|options| options.only = vec![Rule::IgnoredEndOfInput]),
    #[cfg(unix)]
    Case::process(
        Rule::InvalidSubscription,
        Revision::V2026_07_28,
        || shell(format!("end=4711\n{LISTENING_SERVER}")),
        || shell(LISTENING_SERVER.to_owned()),
    )
    .with_options(|options| options.only = vec![Rule::InvalidSubscription]),
];
