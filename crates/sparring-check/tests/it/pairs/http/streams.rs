//! Event streams: their begin and end, and the messages on them.

use std::sync::{Arc, Mutex};

use axum::body::{Body, Bytes};
use axum::http::request::Parts;
use axum::response::Response;
use futures_util::{StreamExt as _, stream};
use sparring_wire::Rule;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::{
    V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28, empty_response, is, is_single, message,
    set_content_type,
};
use crate::pairs::Case;
use crate::support::AlteredHttp;

/// The open streams of GET requests.
#[derive(Clone, Default)]
struct Listening(Arc<Mutex<Vec<UnboundedSender<Bytes>>>>);

impl Listening {
    /// Replaces the streams of the correct server.
    fn replace(self, server: AlteredHttp) -> AlteredHttp {
        server.on_response(move |parts, _, response| {
            if is_listening(parts) && response.status() == 200 {
                *response.body_mut() = self.open();
            }
        })
    }

    fn open(&self) -> Body {
        let (sender, receiver) = unbounded_channel();
        self.0.lock().unwrap().push(sender);
        let events = stream::unfold(receiver, |mut receiver| async move {
            let bytes = receiver.recv().await?;
            Some((Ok::<_, std::io::Error>(bytes), receiver))
        });
        Body::from_stream(events)
    }

    /// Sends an event on all streams.
    fn send(&self, event: &str) {
        let bytes = Bytes::from(format!("{event}\n\n"));
        self.0.lock().unwrap().retain(|it| it.send(bytes.clone()).is_ok());
    }
}

fn event_response(body: Body) -> Response {
    Response::builder().header("content-type", "text/event-stream").body(body).unwrap()
}

/// Returns the events in a chunk of a stream.
fn events(text: &str) -> impl Iterator<Item = &str> {
    text.split("\n\n").filter(|event| !event.is_empty())
}

fn is_listening(parts: &Parts) -> bool {
    is(parts, "GET") && !parts.headers.contains_key("last-event-id")
}

/// Keeps the events of a stream for which this returns true.
fn keep_events(text: &str, keep: impl Fn(&str) -> bool) -> String {
    events(text).filter(|event| keep(event)).map(|event| format!("{event}\n\n")).collect()
}

/// Never ends a stream that answers a request.
fn keeps_streams_open(server: AlteredHttp) -> AlteredHttp {
    server.on_response(|parts, body, response| {
        let kind = response.headers().get("content-type");
        let is_stream = kind.is_some_and(|it| it == "text/event-stream");
        if is(parts, "POST") && is_stream && is_single(body) {
            let events = std::mem::replace(response.body_mut(), Body::empty());
            let events = events.into_data_stream().chain(stream::pending());
            *response.body_mut() = Body::from_stream(events);
        }
    })
}

fn omits_the_response(server: AlteredHttp) -> AlteredHttp {
    server.on_body(|_, body, text| match is_single(body) && text.contains("data:") {
        true => keep_events(&text, |event| !event.contains("\"result\"")),
        false => text,
    })
}

/// Sends the log messages of a call on the streams of GET requests too.
fn broadcasts(server: AlteredHttp) -> AlteredHttp {
    let listening = Listening::default();
    let server = listening.clone().replace(server);
    server.on_body(move |parts, body, text| {
        if is(parts, "POST") && is_single(body) {
            for event in events(&text).filter(|it| it.contains("notifications/message")) {
                let data = event.lines().find(|line| line.starts_with("data:"));
                data.into_iter().for_each(|data| listening.send(data));
            }
        }
        text
    })
}

/// Sends the progress of a call on the streams of GET requests only.
fn sends_progress_elsewhere(server: AlteredHttp) -> AlteredHttp {
    let listening = Listening::default();
    let server = listening.clone().replace(server);
    server.on_body(move |parts, body, text| {
        let belongs = |event: &str| event.contains("notifications/progress");
        if !is(parts, "POST") || !is_single(body) || !text.contains("data:") {
            return text;
        }
        for event in events(&text).filter(|event| belongs(event)) {
            let data = event.lines().find(|line| line.starts_with("data:"));
            // One of the streams is enough.
            if let (Some(data), Some(first)) = (data, listening.0.lock().unwrap().last()) {
                let _ = first.send(Bytes::from(format!("{data}\n\n")));
            }
        }
        keep_events(&text, |event| !belongs(event))
    })
}

/// Replays the events of all streams.
fn replays_everything(server: AlteredHttp) -> AlteredHttp {
    let all = Arc::new(Mutex::new(String::new()));
    let sent = Arc::clone(&all);
    let server = server.on_body(move |parts, _, text| {
        if is(parts, "POST") && text.contains("data:") {
            all.lock().unwrap().push_str(&text);
        }
        text
    });
    server.on_request(move |parts, _| {
        let resumes = is(parts, "GET") && parts.headers.contains_key("last-event-id");
        resumes.then(|| event_response(Body::from(sent.lock().unwrap().clone())))
    })
}

/// Sends events without data only for streams of GET requests.
fn omits_priming(server: AlteredHttp) -> AlteredHttp {
    server.on_body(|parts, _, text| match is(parts, "POST") && text.contains("data:") {
        true => keep_events(&text, |event| event.contains("data: {")),
        false => text,
    })
}

fn allows_buffering(server: AlteredHttp) -> AlteredHttp {
    server.on_response(|_, _, response| drop(response.headers_mut().remove("x-accel-buffering")))
}

fn answers_as_text(server: AlteredHttp) -> AlteredHttp {
    server.on_response(|parts, body, response| {
        let lists = message(body)["method"] == "tools/list" && is_single(body);
        if is(parts, "POST") && lists {
            set_content_type(response, "text/plain");
        }
    })
}

/// Gives every event of a response the same id.
fn repeats_event_ids(server: AlteredHttp) -> AlteredHttp {
    server.on_body(|parts, _, text| match is(parts, "POST") && text.contains("data:") {
        true => {
            let lines = text.split('\n').map(|line| match line.starts_with("id:") {
                true => "id: 1",
                false => line,
            });
            lines.collect::<Vec<_>>().join("\n")
        }
        false => text,
    })
}

pub(in crate::pairs) const CASES: &[Case] = &[
    Case::http(Rule::OpenStream, V2025_06_18, keeps_streams_open),
    Case::http(Rule::OpenStream, V2026_07_28, keeps_streams_open),
    Case::http(Rule::StreamWithoutResponse, V2025_06_18, omits_the_response),
    Case::http(Rule::StreamWithoutResponse, V2026_07_28, omits_the_response),
    Case::http(Rule::MissingPriming, V2025_11_25, omits_priming),
    Case::http(Rule::BufferedStream, V2026_07_28, allows_buffering),
    Case::http(Rule::WrongContentType, V2025_06_18, answers_as_text),
    Case::http(Rule::WrongContentType, V2026_07_28, answers_as_text),
    // No client can connect to this server.
    Case::http(Rule::WrongContentType, V2025_11_25, |server| {
        server.on_response(|_, body, response| {
            if message(body)["method"] == "initialize" {
                set_content_type(response, "text/html");
            }
        })
    }),
    Case::http(Rule::WrongContentType, V2025_03_26, |server| {
        server.on_response(|_, body, response| {
            if message(body)["method"] == "tools/call" && is_single(body) {
                *response = empty_response(202);
            }
        })
    }),
    Case::http(Rule::WrongContentType, V2026_07_28, |server| {
        server.on_response(|_, body, response| {
            if message(body)["method"] == "server/discover" {
                *response = empty_response(202);
            }
        })
    }),
    Case::http(Rule::DuplicateEventId, V2025_06_18, repeats_event_ids),
    Case::http(Rule::DuplicateEventId, V2025_11_25, repeats_event_ids),
    // Counts the events of each stream of GET requests alone.
    Case::http(Rule::DuplicateEventId, V2025_11_25, |server| {
        let listening = Listening::default();
        let server = listening.clone().replace(server);
        server.on_response(move |parts, _, _| {
            if let Some(newest) = listening.0.lock().unwrap().last().filter(|_| is_listening(parts))
            {
                let _ = newest.send(Bytes::from("id: listening-0\ndata:\n\n"));
            }
        })
    }),
    Case::http(Rule::Broadcast, V2025_06_18, broadcasts),
    Case::http(Rule::Broadcast, V2025_11_25, broadcasts),
    Case::http(Rule::RelatedOnListening, V2025_03_26, sends_progress_elsewhere),
    Case::http(Rule::RelatedOnListening, V2025_11_25, sends_progress_elsewhere),
    Case::http(Rule::ForeignReplay, V2025_06_18, replays_everything),
    Case::http(Rule::ForeignReplay, V2025_11_25, replays_everything),
];
