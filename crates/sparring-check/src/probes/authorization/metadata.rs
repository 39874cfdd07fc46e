//! Fetches the metadata of the protected resource and of its authorization servers, as clients
//! do.

use std::time::Duration;

use serde_json::Value;
use sparring_transport::http::{RawCredentials, RawRequest};
use sparring_wire::Revision;
use sparring_wire::json::parse_value;

use super::web_url::WebUrl;
use crate::http::{Body, Exchange, HttpServer, RequestExt as _};

/// The wait for metadata that another server has.
const OTHER_SERVER_TIMEOUT: Duration = Duration::from_millis(1_500);

/// The number of authorization servers whose metadata is fetched.
const MAX_AUTHORIZATION_SERVERS: usize = 2;

const RESOURCE_PATH: &str = "/.well-known/oauth-protected-resource";
const AUTHORIZATION_SERVER_PATH: &str = "/.well-known/oauth-authorization-server";
const OPENID_PATH: &str = "/.well-known/openid-configuration";

/// Everything that the server publishes about its authorization.
pub(super) struct Metadata {
    /// The answer at the URL that the challenge names, if it names one.
    pub(super) named: Option<Fetched>,
    /// The answer at a well-known path: the first one with metadata, or else the last one.
    pub(super) well_known: Fetched,
    /// The authorization servers that the metadata names.
    pub(super) authorization_servers: Vec<AuthorizationServer>,
    /// The metadata of an authorization server at the origin of the MCP server.
    pub(super) own_server: Fetched,
    /// The answers of the default endpoints of 2025-03-26, if a client would use them.
    pub(super) default_endpoints: Vec<Fetched>,
}

/// An authorization server that the metadata of the protected resource names.
pub(super) struct AuthorizationServer {
    pub(super) issuer: String,
    /// The answer with its metadata, or else the last one; `None` if it was not asked.
    pub(super) answer: Option<Fetched>,
}

/// The answer to a request for metadata.
pub(super) struct Fetched {
    /// The URL or path.
    pub(super) from: String,
    /// The response, or the reason why there is none.
    pub(super) response: Result<Exchange, String>,
    /// The JSON object of a response with status 200.
    pub(super) document: Option<Value>,
}

impl Metadata {
    /// Fetches the metadata. The URL is the one of the challenge.
    pub(super) async fn fetch(
        server: &HttpServer,
        url: Option<&str>,
        is_refused: bool,
    ) -> Metadata {
        let named = match url.filter(|it| WebUrl::parse(it).is_some()) {
            Some(url) => Some(fetch(server, url).await),
            None => None,
        };
        let own = WebUrl::parse(&server.target().url);
        let path = own.as_ref().map(WebUrl::path).unwrap_or_default();
        let mut well_known = fetch(server, &format!("{RESOURCE_PATH}{path}")).await;
        if well_known.response.is_ok() && !well_known.is_resource() && !path.is_empty() {
            well_known = fetch(server, RESOURCE_PATH).await;
        }
        if !well_known.is_resource() {
            well_known.document = None;
        }
        let own_server = match &well_known.response {
            Ok(_) => fetch(server, AUTHORIZATION_SERVER_PATH).await,
            // A server that does not answer here does not answer there either.
            Err(reason) => Fetched {
                from: AUTHORIZATION_SERVER_PATH.to_owned(),
                response: Err(reason.clone()),
                document: None,
            },
        };
        let mut metadata = Metadata {
            named,
            well_known,
            authorization_servers: Vec::new(),
            own_server,
            default_endpoints: Vec::new(),
        };
        let issuers = metadata.issuers();
        let mut is_lost = false;
        for (index, issuer) in issuers.into_iter().enumerate() {
            let answer = match index < MAX_AUTHORIZATION_SERVERS && !is_lost {
                true => fetch_server_metadata(server, &issuer).await,
                false => None,
            };
            is_lost = answer.as_ref().is_some_and(|it| it.response.is_err());
            metadata.authorization_servers.push(AuthorizationServer { issuer, answer });
        }
        let is_default = server.revision == Revision::V2025_03_26 && is_refused;
        if is_default && !metadata.own_server.is_authorization_server() {
            let form = RawRequest::new("POST", "grant_type=authorization_code")
                .with("content-type", "application/x-www-form-urlencoded");
            metadata.default_endpoints =
                vec![fetch(server, "/authorize").await, send(server, "/token", form).await];
        }
        metadata
    }

    /// Returns the metadata of the protected resource.
    pub(super) fn resource(&self) -> Option<&Value> {
        self.resource_answer()?.document.as_ref()
    }

    /// Returns the answer that has the metadata of the protected resource.
    pub(super) fn resource_answer(&self) -> Option<&Fetched> {
        let named = self.named.as_ref().filter(|it| it.document.is_some());
        named.or_else(|| Some(&self.well_known).filter(|it| it.document.is_some()))
    }

    fn issuers(&self) -> Vec<String> {
        let servers = self.resource().and_then(|it| it["authorization_servers"].as_array());
        let servers = servers.map(Vec::as_slice).unwrap_or_default();
        servers.iter().filter_map(|it| it.as_str().map(str::to_owned)).collect()
    }
}

impl Fetched {
    /// Returns true if the document is the metadata of a protected resource.
    fn is_resource(&self) -> bool {
        self.document.as_ref().is_some_and(|it| {
            it.get("resource").is_some() || it.get("authorization_servers").is_some()
        })
    }

    /// Returns true if the document is the metadata of an authorization server.
    pub(super) fn is_authorization_server(&self) -> bool {
        self.document.as_ref().is_some_and(|it| {
            it.get("authorization_endpoint").is_some() || it.get("token_endpoint").is_some()
        })
    }
}

/// Fetches the metadata of an authorization server, at the paths that clients try. Returns
/// `None` if a client would not ask this server.
async fn fetch_server_metadata(server: &HttpServer, issuer: &str) -> Option<Fetched> {
    let url = WebUrl::parse(issuer)?;
    let own = WebUrl::parse(&server.target().url);
    // A server elsewhere must not send requests into the network of the person who checks it.
    let is_near = own.is_some_and(|own| own.origin() == url.origin() || own.is_loopback());
    if !is_near && (url.is_loopback() || !url.is_secure()) {
        return None;
    }
    let (origin, path) = (url.origin(), url.path());
    let mut urls = vec![
        format!("{origin}{AUTHORIZATION_SERVER_PATH}{path}"),
        format!("{origin}{OPENID_PATH}{path}"),
    ];
    if !path.is_empty() {
        urls.push(format!("{origin}{path}{OPENID_PATH}"));
    }
    let mut last = None;
    for url in urls {
        let fetched = fetch(server, &url).await;
        let (is_found, is_lost) = (fetched.is_authorization_server(), fetched.response.is_err());
        last = Some(fetched);
        if is_found || is_lost {
            break;
        }
    }
    last
}

/// Sends a GET request without credentials. Other origins get no headers of the target either.
async fn fetch(server: &HttpServer, from: &str) -> Fetched {
    send(server, from, RawRequest::new("GET", "").with("accept", "application/json")).await
}

async fn send(server: &HttpServer, from: &str, request: RawRequest) -> Fetched {
    let target = server.target();
    let mut request = request.to(from);
    request.credentials = RawCredentials::Nothing;
    let origins = [from, target.url.as_str()].map(|it| WebUrl::parse(it).map(|it| it.origin()));
    let is_own = from.starts_with('/') || origins[0] == origins[1];
    let sent = if is_own {
        server.send(&request).await.map_err(|stopped| stopped.to_string())
    } else {
        for (name, _) in &target.headers {
            request = request.with(name, "");
        }
        match tokio::time::timeout(OTHER_SERVER_TIMEOUT, server.send(&request)).await {
            Ok(sent) => sent.map_err(|stopped| stopped.to_string()),
            Err(_) => Err(format!("no response from {from} within {OTHER_SERVER_TIMEOUT:?}")),
        }
    };
    let document = sent.as_ref().ok().filter(|it| it.status == 200).and_then(document_in);
    Fetched { from: from.to_owned(), response: sent, document }
}

fn document_in(exchange: &Exchange) -> Option<Value> {
    match &exchange.body {
        Body::Whole(bytes) => parse_value(bytes).ok().filter(Value::is_object),
        Body::Stream { .. } => None,
    }
}
