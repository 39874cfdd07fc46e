//! Request parameters and error responses of the endpoints.

use serde_json::json;

use crate::http_mock::{HttpReply, HttpRequest};

/// The largest body or query that is read, in bytes.
pub(super) const MAX_REQUEST_BYTES: usize = 16 * 1024;

/// The parameters of a request. Empty values count as missing (RFC 6749, 3.1).
#[derive(Debug)]
pub(super) struct Form(Vec<(String, String)>);

/// An OAuth error response.
#[derive(Debug)]
pub(super) struct OAuthError {
    pub(super) status: u16,
    pub(super) error: String,
    pub(super) description: String,
}

impl OAuthError {
    pub(super) fn new(error: &str, description: impl Into<String>) -> Self {
        let status = if error == "invalid_client" { 401 } else { 400 };
        OAuthError { status, error: error.to_owned(), description: description.into() }
    }

    pub(super) fn invalid_request(description: impl Into<String>) -> Self {
        OAuthError::new("invalid_request", description)
    }

    pub(super) fn reply(&self) -> HttpReply {
        let body = json!({"error": self.error, "error_description": self.description});
        no_store(HttpReply::json(&body).status(self.status))
    }
}

/// Forbids caching a reply (RFC 6749, 5.1).
pub(super) fn no_store(reply: HttpReply) -> HttpReply {
    reply.header("cache-control", "no-store").header("pragma", "no-cache")
}

impl Form {
    pub(super) fn from_query(request: &HttpRequest) -> Form {
        Form::parse(request.query.as_deref().unwrap_or_default().as_bytes())
    }

    /// Parses the body of a form request.
    pub(super) fn from_body(request: &HttpRequest) -> Result<Form, OAuthError> {
        let content_type = request.headers.get("content-type").unwrap_or_default();
        let content_type = content_type.split(';').next().unwrap_or_default().trim();
        match content_type.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            true => Ok(Form::parse(&request.body)),
            false => Err(OAuthError::invalid_request(
                "the content type must be application/x-www-form-urlencoded",
            )),
        }
    }

    fn parse(text: &[u8]) -> Form {
        let pairs = form_urlencoded::parse(text).into_owned();
        Form(pairs.filter(|(_, value)| !value.is_empty()).collect())
    }

    /// Returns a parameter; it must not be repeated.
    pub(super) fn get(&self, name: &str) -> Result<Option<&str>, OAuthError> {
        let mut found = self.all(name);
        let first = found.next();
        match found.next() {
            None => Ok(first),
            Some(_) => Err(OAuthError::invalid_request(format!("{name} is repeated"))),
        }
    }

    /// Returns a required parameter.
    pub(super) fn require(&self, name: &str) -> Result<&str, OAuthError> {
        self.get(name)?.ok_or_else(|| OAuthError::invalid_request(format!("{name} is missing")))
    }

    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// Returns all parameters, for the journal.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}
