//! Resources, their templates and their contents.

use super::Rest;
use super::members::members;

/// A resource as a server lists it, or links to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Resource {
    /// Where it is.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// What it is, for a model.
    pub description: Option<String>,
    /// As `text/plain`.
    pub mime_type: Option<String>,
    /// Size, annotations, icons and whatever else stood there.
    pub rest: Rest,
}

members!(Resource {
    uri: "uri",
    name: "name" or default,
    description: "description" or nothing,
    mime_type: "mimeType" or nothing,
    ..rest
});

impl Resource {
    /// A resource with a name.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Resource {
            uri: uri.into(),
            name: name.into(),
            description: None,
            mime_type: None,
            rest: Rest::new(),
        }
    }
}

/// A pattern of resource URIs.
#[derive(Debug, Clone, PartialEq)]
pub struct ResourceTemplate {
    /// The pattern, by RFC 6570.
    pub uri_template: String,
    /// Its name.
    pub name: String,
    /// Description, MIME type and whatever else stood there.
    pub rest: Rest,
}

members!(ResourceTemplate {
    uri_template: "uriTemplate",
    name: "name" or default,
    ..rest
});

/// What stands in a resource: text, or Base64 of bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct ResourceContents {
    /// Where it is.
    pub uri: String,
    /// As `text/plain`.
    pub mime_type: Option<String>,
    /// The text, where it is text.
    pub text: Option<String>,
    /// The Base64, where it is not.
    pub blob: Option<String>,
    /// `_meta` and whatever else stood there.
    pub rest: Rest,
}

members!(ResourceContents {
    uri: "uri",
    mime_type: "mimeType" or nothing,
    text: "text" or nothing,
    blob: "blob" or nothing,
    ..rest
});

impl ResourceContents {
    /// A text.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        ResourceContents {
            uri: uri.into(),
            mime_type: None,
            text: Some(text.into()),
            blob: None,
            rest: Rest::new(),
        }
    }
}

/// What reading a resource gives.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadResourceResult {
    /// One or more contents.
    pub contents: Vec<ResourceContents>,
    /// Caching hints, `_meta` and whatever else stood there.
    pub rest: Rest,
}

members!(ReadResourceResult { contents: "contents", ..rest });

impl ReadResourceResult {
    /// A result of these contents.
    pub fn new(contents: Vec<ResourceContents>) -> Self {
        ReadResourceResult { contents, rest: Rest::new() }
    }
}
