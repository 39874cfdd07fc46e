//! Clients that register themselves (RFC 7591).

use serde_json::{Value, json};
use sparring_wire::json::tree;

use super::client::{Client, Method, unfit};
use super::core::{Core, now, random};
use super::form::{Refused, unkept};
use crate::http_mock::{HttpReply, HttpRequest};

/// How many addresses a client may have.
const MOST: usize = 100;

impl Core {
    pub(super) fn register(&self, request: &HttpRequest) -> HttpReply {
        match self.registered(request) {
            Ok(reply) => reply,
            Err(refused) => refused.reply(),
        }
    }

    fn registered(&self, request: &HttpRequest) -> Result<HttpReply, Refused> {
        let bad = |about: &str| Refused::new("invalid_client_metadata", about);
        let said = tree(&request.body)
            .ok()
            .filter(Value::is_object)
            .ok_or_else(|| bad("the body is no map in JSON"))?;
        let texts = |name: &str, default: &[&str]| match said.get(name) {
            None | Some(Value::Null) => Ok(default.iter().map(|it| (*it).to_owned()).collect()),
            Some(Value::Array(all)) => {
                let all: Option<Vec<String>> =
                    all.iter().map(|it| it.as_str().map(str::to_owned)).collect();
                all.ok_or_else(|| bad(&format!("{name} is no list of texts")))
            }
            Some(_) => Err(bad(&format!("{name} is no list"))),
        };
        let grants = texts("grant_types", &["authorization_code"])?;
        let redirects = texts("redirect_uris", &[])?;
        let by_code = grants.iter().any(|grant| grant == "authorization_code");
        let wrong = redirects.iter().find_map(|address| unfit(address));
        let wrong = wrong.or((redirects.is_empty() && by_code).then_some("there is none"));
        let wrong = wrong.or((redirects.len() > MOST).then_some("there are too many"));
        if let Some(why) = wrong {
            return Err(Refused::new("invalid_redirect_uri", why));
        }
        let wanted = match said.get("token_endpoint_auth_method") {
            None | Some(Value::Null) => Method::Basic.name(),
            Some(name) => name.as_str().unwrap_or_default(),
        };
        let known = [Method::None, Method::Basic, Method::Post];
        let method = known.into_iter().find(|method| method.name() == wanted);
        let method = method.ok_or_else(|| {
            let names = known.map(Method::name).join(", ");
            bad(&format!("token_endpoint_auth_method is none of {names}"))
        })?;
        let secret = (method != Method::None).then(random);
        let id = random();
        let mut told = said.clone();
        told["client_id"] = id.clone().into();
        told["client_id_issued_at"] = now().into();
        told["redirect_uris"] = redirects.clone().into();
        told["grant_types"] = grants.clone().into();
        told["token_endpoint_auth_method"] = method.name().into();
        if let Some(secret) = &secret {
            told["client_secret"] = secret.clone().into();
            // That is never (RFC 7591, 3.2.1).
            told["client_secret_expires_at"] = json!(0);
        }
        let (method, grants) = (Some(method), Some(grants));
        let client = Client { id: id.clone(), secret, key: None, redirects, method, grants };
        self.state().clients.put(id, client);
        Ok(unkept(HttpReply::json(&told).status(201)))
    }
}
