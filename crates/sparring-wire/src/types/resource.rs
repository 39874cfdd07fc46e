//! Resources, their templates and their contents.

use serde::{Deserialize, Serialize};

use super::Rest;

/// A resource as a server lists it, or links to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resource {
    /// Where it is.
    pub uri: String,
    /// Its name.
    #[serde(default)]
    pub name: String,
    /// What it is, for a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// As `text/plain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Size, annotations, icons and whatever else stood there.
    #[serde(flatten)]
    pub rest: Rest,
}

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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceTemplate {
    /// The pattern, by RFC 6570.
    pub uri_template: String,
    /// Its name.
    #[serde(default)]
    pub name: String,
    /// Description, MIME type and whatever else stood there.
    #[serde(flatten)]
    pub rest: Rest,
}

/// What stands in a resource: text, or Base64 of bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceContents {
    /// Where it is.
    pub uri: String,
    /// As `text/plain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The text, where it is text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The Base64, where it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blob: Option<String>,
    /// `_meta` and whatever else stood there.
    #[serde(flatten)]
    pub rest: Rest,
}

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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReadResourceResult {
    /// One or more contents.
    pub contents: Vec<ResourceContents>,
    /// Caching hints, `_meta` and whatever else stood there.
    #[serde(flatten)]
    pub rest: Rest,
}

impl ReadResourceResult {
    /// A result of these contents.
    pub fn new(contents: Vec<ResourceContents>) -> Self {
        ReadResourceResult { contents, rest: Rest::new() }
    }
}
