//! What is said to an endpoint, and how it is refused.

use serde_json::json;

use crate::http_mock::{HttpReply, HttpRequest};

/// The longest request that is looked at, in bytes.
pub(super) const LONGEST: usize = 16 * 1024;

/// The parameters of a request. One without a value is as good as left out
/// (RFC 6749, 3.1).
#[derive(Debug)]
pub(super) struct Form(Vec<(String, String)>);

/// Why something is refused, in the words of OAuth.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) status: u16,
    pub(super) error: String,
    pub(super) about: String,
}

impl Refused {
    pub(super) fn new(error: &str, about: impl Into<String>) -> Self {
        let status = if error == "invalid_client" { 401 } else { 400 };
        Refused { status, error: error.to_owned(), about: about.into() }
    }

    pub(super) fn request(about: impl Into<String>) -> Self {
        Refused::new("invalid_request", about)
    }

    pub(super) fn reply(&self) -> HttpReply {
        let body = json!({"error": self.error, "error_description": self.about});
        unkept(HttpReply::json(&body).status(self.status))
    }
}

/// A reply that nobody may keep (RFC 6749, 5.1).
pub(super) fn unkept(reply: HttpReply) -> HttpReply {
    reply.header("cache-control", "no-store").header("pragma", "no-cache")
}

impl Form {
    pub(super) fn of_query(request: &HttpRequest) -> Form {
        Form::parse(request.query.as_deref().unwrap_or_default().as_bytes())
    }

    /// What a body says, if it is a form.
    pub(super) fn of_body(request: &HttpRequest) -> Result<Form, Refused> {
        let kind = request.headers.get("content-type").unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        match kind.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            true => Ok(Form::parse(&request.body)),
            false => {
                Err(Refused::request("the content type is not application/x-www-form-urlencoded"))
            }
        }
    }

    fn parse(text: &[u8]) -> Form {
        let pairs = form_urlencoded::parse(text).into_owned();
        Form(pairs.filter(|(_, value)| !value.is_empty()).collect())
    }

    /// A parameter, which may stand there once.
    pub(super) fn get(&self, name: &str) -> Result<Option<&str>, Refused> {
        let mut found = self.all(name);
        let first = found.next();
        match found.next() {
            None => Ok(first),
            Some(_) => Err(Refused::request(format!("{name} is there twice"))),
        }
    }

    /// A parameter that must be there.
    pub(super) fn need(&self, name: &str) -> Result<&str, Refused> {
        self.get(name)?.ok_or_else(|| Refused::request(format!("{name} is missing")))
    }

    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// All of it, for those who look on.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}
