//! Resources, their templates and their contents.

use serde::{Deserialize, Serialize};

use super::Rest;

/// A resource in the result of `resources/list`, or in a resource link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resource {
    /// The URI.
    pub uri: String,
    /// The name.
    #[serde(default)]
    pub name: String,
    /// The description for a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The MIME type, such as `text/plain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Size, annotations, icons and all other fields.
    #[serde(flatten)]
    pub rest: Rest,
}

impl Resource {
    /// Creates a resource with a name.
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

/// A template of resource URIs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceTemplate {
    /// The template, as in RFC 6570.
    pub uri_template: String,
    /// The name.
    #[serde(default)]
    pub name: String,
    /// Description, MIME type and all other fields.
    #[serde(flatten)]
    pub rest: Rest,
}

/// The contents of a resource: text, or bytes as Base64.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceContents {
    /// The URI.
    pub uri: String,
    /// The MIME type, such as `text/plain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The text of a text resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The Base64 of a binary resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blob: Option<String>,
    /// `_meta` and all other fields.
    #[serde(flatten)]
    pub rest: Rest,
}

impl ResourceContents {
    /// Creates text contents.
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

/// The result of `resources/read`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReadResourceResult {
    /// One or more contents.
    pub contents: Vec<ResourceContents>,
    /// Caching hints, `_meta` and all other fields.
    #[serde(flatten)]
    pub rest: Rest,
}

impl ReadResourceResult {
    /// Creates a result with these contents.
    pub fn new(contents: Vec<ResourceContents>) -> Self {
        ReadResourceResult { contents, rest: Rest::new() }
    }
}
