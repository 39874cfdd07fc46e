//! What a target says of every request to it: where to, and with which headers.

use http::header::{AUTHORIZATION, HeaderName, USER_AGENT};
use http::{HeaderMap, HeaderValue};

use super::call::hidden;
use super::endpoint::Endpoint;
use super::{HttpError, HttpTarget};
use crate::secrets::Secrets;

/// What every request to a target has.
pub(super) struct Given {
    pub(super) endpoint: Endpoint,
    pub(super) headers: HeaderMap,
    /// What must not be shown of it.
    pub(super) secrets: Secrets,
}

impl Given {
    pub(super) fn of(target: &HttpTarget) -> Result<Given, HttpError> {
        let (endpoint, in_url) = Endpoint::parse(&target.url)?;
        let mut headers = HeaderMap::new();
        let agent = concat!("sparring/", env!("CARGO_PKG_VERSION"));
        headers.insert(USER_AGENT, HeaderValue::from_static(agent));
        let secrets = Secrets::default();
        let credentials = match &target.credentials {
            Some(given) => given.header(),
            None => in_url,
        };
        if let Some(credentials) = credentials {
            let bad = |_| HttpError::Header("Authorization".to_owned());
            let (_, secret) = credentials.split_once(' ').unwrap_or_default();
            secrets.add(secret);
            let value = HeaderValue::try_from(credentials).map_err(bad)?;
            headers.insert(AUTHORIZATION, hidden(value));
        }
        let mut given = HeaderMap::new();
        for (name, value) in &target.headers {
            let bad = || HttpError::Header(name.clone());
            secrets.add(value);
            let value = HeaderValue::from_str(value).map_err(|_| bad())?;
            given.append(HeaderName::try_from(name).map_err(|_| bad())?, hidden(value));
        }
        // What the user says stands instead of what we would say.
        headers.extend(given);
        Ok(Given { endpoint, headers, secrets })
    }
}
