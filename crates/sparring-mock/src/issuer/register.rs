//! Registers clients (RFC 7591).

use serde_json::{Value, json};
use sparring_transport::Secret;
use sparring_wire::json::parse_value;

use super::authorization_server::{AuthorizationServer, random_token, unix_seconds};
use super::client::{AuthMethod, Client, redirect_problem};
use super::form::{OAuthError, no_store};
use crate::http_mock::{HttpReply, HttpRequest};

/// The maximum number of redirect URIs of a client.
const MAX_REDIRECT_URIS: usize = 100;

impl AuthorizationServer {
    pub(super) fn register(&self, request: &HttpRequest) -> HttpReply {
        match self.try_register(request) {
            Ok(reply) => reply,
            Err(error) => error.reply(),
        }
    }

    fn try_register(&self, request: &HttpRequest) -> Result<HttpReply, OAuthError> {
        let invalid_metadata =
            |description: &str| OAuthError::new("invalid_client_metadata", description);
        let metadata = parse_value(&request.body)
            .ok()
            .filter(Value::is_object)
            .ok_or_else(|| invalid_metadata("the body is not a JSON object"))?;
        let strings = |name: &str, default: &[&str]| match metadata.get(name) {
            None | Some(Value::Null) => Ok(default.iter().map(|it| (*it).to_owned()).collect()),
            Some(Value::Array(all)) => {
                let all: Option<Vec<String>> =
                    all.iter().map(|it| it.as_str().map(str::to_owned)).collect();
                all.ok_or_else(|| invalid_metadata(&format!("{name} is not a list of strings")))
            }
            Some(_) => Err(invalid_metadata(&format!("{name} is not a list"))),
        };
        let grants = strings("grant_types", &["authorization_code"])?;
        let redirects = strings("redirect_uris", &[])?;
        let by_code = grants.iter().any(|grant| grant == "authorization_code");
        let wrong = redirects.iter().find_map(|address| redirect_problem(address));
        let wrong = wrong
            .or((redirects.is_empty() && by_code)
                .then_some("at least one redirect_uri is required"));
        let wrong =
            wrong.or((redirects.len() > MAX_REDIRECT_URIS).then_some("too many redirect URIs"));
        if let Some(why) = wrong {
            return Err(OAuthError::new("invalid_redirect_uri", why));
        }
        let requested = match metadata.get("token_endpoint_auth_method") {
            None | Some(Value::Null) => AuthMethod::Basic.name(),
            Some(name) => name.as_str().unwrap_or_default(),
        };
        let known = [AuthMethod::None, AuthMethod::Basic, AuthMethod::Post];
        let method = known.into_iter().find(|method| method.name() == requested);
        let method = method.ok_or_else(|| {
            let names = known.map(AuthMethod::name).join(", ");
            invalid_metadata(&format!("token_endpoint_auth_method must be one of {names}"))
        })?;
        let secret = (method != AuthMethod::None).then(random_token);
        let id = random_token();
        let mut response = metadata.clone();
        response["client_id"] = id.clone().into();
        response["client_id_issued_at"] = unix_seconds().into();
        response["redirect_uris"] = redirects.clone().into();
        response["grant_types"] = grants.clone().into();
        response["token_endpoint_auth_method"] = method.name().into();
        if let Some(secret) = &secret {
            response["client_secret"] = secret.clone().into();
            // 0 means that it never expires (RFC 7591, 3.2.1).
            response["client_secret_expires_at"] = json!(0);
        }
        let (method, grants) = (Some(method), Some(grants));
        let client = Client {
            id: id.clone(),
            secret: secret.map(Secret::from),
            key: None,
            redirects,
            method,
            grants,
        };
        let bytes = client.redirects.iter().map(String::len).sum();
        self.state().clients.insert(id, client, bytes);
        Ok(no_store(HttpReply::json(&response).status(201)))
    }
}
