//! Requests of web pages that a server must not trust: foreign origins, and names that resolve
//! to this machine.

use sparring_transport::http::RawRequest;
use sparring_wire::{Revision, Rule};

use super::interfaces::Address;
use super::legacy_sse::EventStream;
use super::{harmless_method, leave_out, ping};
use crate::context::{Context, ProbeResult, Stopped};
use crate::http::{HttpServer, Refusal, RequestExt, initialize, modern, require_refusal};

/// A name that belongs to no server.
const FOREIGN_HOST: &str = "sparring.example";

/// The requests that reach a server, without an `Origin`. A stream stays open as long as its
/// messages need it.
struct Entrances {
    posts: Vec<RawRequest>,
    /// GET and DELETE requests, which a server need not support.
    others: Vec<RawRequest>,
    _stream: Option<EventStream>,
}

pub(super) async fn foreign_origin(context: &Context) -> ProbeResult {
    let rule = Rule::ForeignOrigin;
    let Some(server) = context.http() else {
        leave_out(context, &[rule], "the server is not reached over HTTP");
        return Ok(());
    };
    let is_streamable = server.speaks_streamable_http().await;
    if is_streamable && server.refuses_sessions().await {
        leave_out(context, &[rule], "the server allows only one session at a time");
        return Ok(());
    }
    let entrances = Entrances::find(server, is_streamable).await?;
    // Since 2025-11-25 the status is 403 (basic/transports#security-warning).
    let has_status = is_streamable && context.revision >= Revision::V2025_11_25;
    let wanted = if has_status { "the status 403" } else { "a refusal" };
    let post_refusal = if has_status { Refusal::status(&[403]) } else { Refusal::ANY };
    let other_refusal = if has_status { Refusal::status(&[403, 405]) } else { Refusal::ANY };
    let mut origins = vec![
        (format!("https://{FOREIGN_HOST}"), "a request with a foreign `Origin`"),
        ("null".to_owned(), "a request with the `Origin` null, as pages without an origin send"),
    ];
    if let Some(address) = Address::of(&server.target().url) {
        let host = address.bare_host();
        let mut hosts = vec![host];
        if address.is_local() {
            hosts.extend(["localhost", "127.0.0.1"].into_iter().filter(|it| *it != host));
            // An IPv6 address is no part of a name.
            hosts.retain(|it| !it.contains(':'));
        } else {
            // A comparison of the end takes it for the server's own origin.
            let origin = format!("{}://sparring{host}", address.scheme);
            origins.push((origin, "a foreign `Origin` that ends with the server's own host"));
        }
        for host in hosts {
            // A comparison of the beginning takes it for the server's own origin.
            let origin = format!("{}://{host}.{FOREIGN_HOST}", address.scheme);
            origins.push((origin, "a foreign `Origin` that begins with the server's own host"));
        }
    }
    for (index, (origin, what)) in origins.iter().enumerate() {
        let expected = format!("{wanted} for {what}");
        for post in &entrances.posts {
            let request = post.clone().with("origin", origin);
            require_refusal(context, server, rule, &request, post_refusal, &expected).await;
        }
        for other in entrances.others.iter().filter(|_| index == 0) {
            let request = other.clone().with("origin", origin);
            let expected =
                format!("{wanted} for a {} request with a foreign `Origin`", other.method);
            require_refusal(context, server, rule, &request, other_refusal, &expected).await;
        }
    }
    Ok(())
}

/// A page whose name resolves to this machine sends the same name in `Host` and in `Origin`.
pub(super) async fn rebound_host(context: &Context) -> ProbeResult {
    let rule = Rule::ReboundHost;
    let Some(server) = context.http() else {
        leave_out(context, &[rule], "the server is not reached over HTTP");
        return Ok(());
    };
    let Some(address) = Address::of(&server.target().url).filter(Address::is_local) else {
        leave_out(context, &[rule], "the server is not reached at a loopback address");
        return Ok(());
    };
    let is_streamable = server.speaks_streamable_http().await;
    if is_streamable && server.refuses_sessions().await {
        leave_out(context, &[rule], "the server allows only one session at a time");
        return Ok(());
    }
    let entrances = Entrances::find(server, is_streamable).await?;
    let host = format!("{FOREIGN_HOST}{}", address.port_suffix());
    let origin = format!("{}://{host}", address.scheme);
    let expected = "a refusal of a page whose foreign name resolves to this machine";
    // Over HTTP+SSE the first contact is the GET request.
    let first = entrances.posts.first().or(entrances.others.first());
    if let Some(first) = first {
        let request = first.clone().with("host", &host).with("origin", &origin);
        require_refusal(context, server, rule, &request, Refusal::ANY, expected).await;
    }
    Ok(())
}

impl Entrances {
    async fn find(server: &HttpServer, is_streamable: bool) -> Result<Self, Stopped> {
        let revision = server.revision;
        if !is_streamable {
            let get = RawRequest::new("GET", "").with("accept", "text/event-stream");
            let mut stream = EventStream::open(server).await?;
            let endpoint = stream.read_endpoint(server).await;
            let post = endpoint.map(|it| crate::http::post(ping(server).to_string()).to(&it));
            let posts = post.into_iter().collect();
            return Ok(Entrances { posts, others: vec![get], _stream: Some(stream) });
        }
        if revision.is_modern() {
            let method = harmless_method(revision);
            let posts = vec![modern(revision, server.next_id(), method, serde_json::json!({}))];
            return Ok(Entrances { posts, others: Vec::new(), _stream: None });
        }
        let session = server.session().await?;
        let posts = vec![initialize(revision), session.post(&ping(server))];
        let mut others = vec![session.get()];
        if session.id.is_some() {
            others.push(server.another_session().await?.delete());
        }
        Ok(Entrances { posts, others, _stream: None })
    }
}
