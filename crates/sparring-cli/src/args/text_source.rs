//! Text from the command line, from a file (`@file`) or from stdin (`-`). Files and stdin
//! are read later, since reading them may block.

use std::fs::File;
use std::io;

use sparring_transport::read_up_to;
use sparring_wire::RawJson;

use crate::command_error::CommandError;

/// The largest text, in bytes.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// An argument that is text or names its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextSource(String);

impl From<&str> for TextSource {
    fn from(text: &str) -> Self {
        TextSource(text.to_owned())
    }
}

impl TextSource {
    /// Reads the bytes.
    ///
    /// # Errors
    /// When the file or stdin cannot be read.
    pub(crate) async fn read(&self) -> Result<Vec<u8>, CommandError> {
        let Some(name) = self.source_name() else { return Ok(self.0.clone().into_bytes()) };
        if name.is_empty() {
            return Err(CommandError::Usage("missing file name after @".to_owned()));
        }
        let (text, name) = (self.0.clone(), name.to_owned());
        // On a thread, so that a signal can interrupt a read that blocks.
        let read = tokio::task::spawn_blocking(move || match text.strip_prefix('@') {
            // A pipe is allowed, for `@<(command)`.
            Some(path) => File::open(path).and_then(|file| read_up_to(file, MAX_BYTES)),
            None => read_up_to(io::stdin(), MAX_BYTES),
        });
        let read = read.await.unwrap_or_else(|error| Err(io::Error::other(error)));
        read.map_err(|error| CommandError::File(format!("cannot read {name}: {error}")))
    }

    /// Reads the text as JSON, in one line. The inner error is the reason why it is not JSON.
    ///
    /// # Errors
    /// When the file or stdin cannot be read.
    pub(crate) async fn read_json(&self) -> Result<Result<RawJson, String>, CommandError> {
        let bytes = self.read().await?;
        let text = std::str::from_utf8(&bytes).map_err(|error| error.to_string());
        let json = text.and_then(|text| RawJson::parse(text).map_err(|error| error.to_string()));
        let json = json.map(|json| to_one_line(&json));
        Ok(json.map_err(|error| match self.source_name() {
            Some(name) => format!("{name}: {error}"),
            None => error,
        }))
    }

    /// The name of the file or `stdin`; nothing for text on the command line.
    fn source_name(&self) -> Option<&str> {
        match &*self.0 {
            "-" => Some("stdin"),
            text => text.strip_prefix('@'),
        }
    }
}

/// Returns the same JSON without line breaks, which would end the frame early. JSON
/// strings contain none.
pub(crate) fn to_one_line(json: &RawJson) -> RawJson {
    let text = json.text().replace(['\n', '\r'], " ");
    RawJson::parse(&text).expect("white space is all that changed")
}
