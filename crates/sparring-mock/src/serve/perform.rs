//! From a request for an entry to its answer.

use std::borrow::Cow;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use serde_json::Value;
use sparring_peer::server::{Answer, Context, Failure, Reply as Sent};
use sparring_script::Tree;
use sparring_script::template::Missing;
use sparring_wire::{ErrorObject, Json};

use super::choose::choose;
use super::facts::Facts;
use super::{Mock, Scene, failure, value_of};
use crate::model::{Body, Cache, Entry, Kind};

/// What is asked for.
pub(super) struct Asked<'a> {
    /// Of which script.
    pub(super) scene: &'a Arc<Scene>,
    pub(super) kind: Kind,
    pub(super) entry: &'a Entry,
    /// The arguments as they came, until somebody wants to look into them.
    raw: Json<'a>,
    args: OnceLock<Value>,
    uri: Cow<'a, str>,
}

impl<'a> Asked<'a> {
    pub(super) fn new(scene: &'a Arc<Scene>, kind: Kind, entry: &'a Entry, raw: Json<'a>) -> Self {
        Asked { scene, kind, entry, raw, args: OnceLock::new(), uri: Cow::Borrowed("") }
    }

    pub(super) fn with_args(
        scene: &'a Arc<Scene>,
        kind: Kind,
        entry: &'a Entry,
        args: Value,
    ) -> Self {
        Asked { args: OnceLock::from(args), ..Asked::new(scene, kind, entry, Json::EMPTY_OBJECT) }
    }

    /// The same, of this URI.
    pub(super) fn of(self, uri: &'a str) -> Self {
        Asked { uri: Cow::Borrowed(uri), ..self }
    }

    pub(super) fn args(&self) -> &Value {
        self.args.get_or_init(|| value_of(self.raw))
    }

    pub(super) fn uri(&self) -> &str {
        &self.uri
    }
}

impl Mock {
    /// Chooses a reply, asks what it asks, does what it does meanwhile, and
    /// gives it.
    pub(super) async fn perform(&self, asked: Asked<'_>, cx: &Context) -> Answer {
        let resumed = self.resume(&asked, cx)?;
        let (reply, number) = match &resumed {
            Some(paused) => (Arc::clone(&paused.reply), paused.number),
            None => {
                let number = asked.entry.calls.fetch_add(1, Ordering::Relaxed) + 1;
                match choose(&asked, number, cx) {
                    Ok(reply) => (reply, number),
                    Err(why) => return failure(asked.kind, why),
                }
            }
        };
        if let Some(fault) = &reply.fault {
            // Said early, since one of them is to outlive a cancellation.
            cx.fail_with(fault.link.clone());
        }
        for capability in &reply.requires {
            cx.require(capability)?;
        }
        let answers = match self.ask(&asked, (&reply, number), resumed, cx).await? {
            Ok(answers) => Value::Object(answers),
            Err(why) => return failure(asked.kind, why),
        };
        let facts = Facts { asked: &asked, cx, number, answers: &answers };
        self.during(&reply.during, &facts).await?;
        if let Some(delay) = reply.delay {
            tokio::time::sleep(asked.scene.memory.pick(delay)).await;
        }
        if let Some(fault) = &reply.fault {
            fault.process.iter().for_each(|it| self.do_to_process(*it));
            if fault.silent {
                std::future::pending::<()>().await;
            }
        }
        let answer = match &reply.body {
            #[cfg(feature = "http")]
            Body::Http(call) => self.ask_upstream(call, &facts).await,
            Body::Exec(program) => self.run(program, &facts).await,
            body => fill(body, &facts),
        };
        self.after(&reply, &facts)?;
        if asked.scene.model.recalls && asked.kind == Kind::Tool {
            asked.scene.memory.keep(&asked.entry.id, asked.args().clone());
        }
        answer
    }
}

fn fill(body: &Body, facts: &Facts<'_>) -> Answer {
    let hint = hint(facts);
    match body {
        Body::Fixed(result) if hint.is_none() => Ok(result.clone().into()),
        Body::Fixed(result) => Ok(hinted(value_of(result.view()), hint)),
        Body::Filled(tree) => Ok(hinted(render(tree, facts)?, hint)),
        Body::Mirrored(tree) => Ok(hinted(with_text(render(tree, facts)?), hint)),
        // Asked for before, since they take time.
        #[cfg(feature = "http")]
        Body::Http(_) => Ok(Sent::empty()),
        Body::Exec(_) => Ok(Sent::empty()),
        Body::Interaction => facts.scene().model.interactions.answer(facts.asked.args()),
        Body::Error { code, message, data } => {
            let message = render(message, facts)?;
            let message = message.as_str().unwrap_or_default().to_owned();
            let data = data.as_ref().map(|data| render(data, facts)).transpose()?;
            Err(ErrorObject { code: *code, message, data }.into())
        }
    }
}

/// How long the result may be kept, where results say that.
fn hint(facts: &Facts<'_>) -> Option<Cache> {
    let cached = matches!(facts.asked.kind, Kind::Resource | Kind::Template);
    let hint = facts.asked.entry.cache.or(facts.scene().model.cache);
    hint.filter(|_| cached && facts.cx.revision().is_modern())
}

/// Fills a value; what is not there is told with its place in the script.
pub(super) fn render(tree: &Tree, facts: &Facts<'_>) -> Result<Value, Failure> {
    tree.render(facts).map_err(|Missing { span, undefined }| {
        let place = facts.scene().model.source.place(span);
        ErrorObject::internal(format!("{place}: {undefined}")).into()
    })
}

/// The same as a text.
pub(super) fn text_of(tree: &Tree, facts: &Facts<'_>) -> Result<String, Failure> {
    Ok(match render(tree, facts)? {
        Value::String(text) => text,
        other => other.to_string(),
    })
}

/// The result with its structured content in the text that stands for it.
fn with_text(mut result: Value) -> Value {
    let Some(text) = result.get("structuredContent").map(Value::to_string) else { return result };
    let blocks = result.get_mut("content").and_then(Value::as_array_mut);
    for block in blocks.into_iter().flatten() {
        if block.get("text") == Some(&Value::Null) {
            block["text"] = text.clone().into();
        }
    }
    result
}

fn hinted(mut result: Value, hint: Option<Cache>) -> Sent {
    if let (Some(hint), Value::Object(result)) = (hint, &mut result) {
        hint.add_to(result);
    }
    result.into()
}
