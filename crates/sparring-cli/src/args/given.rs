//! Text given on the command line, in a file (`@file`) or on stdin (`-`). What
//! is not on the command line is read later, since reading may take its time.

use std::io::{self, Read as _};

use sparring_wire::RawJson;

use crate::failure::Failure;

/// What was typed, to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Given(String);

impl From<&str> for Given {
    fn from(text: &str) -> Self {
        Given(text.to_owned())
    }
}

impl Given {
    /// The bytes that it means.
    ///
    /// # Errors
    /// When the file or stdin cannot be read.
    pub(crate) async fn read(&self) -> Result<Vec<u8>, Failure> {
        let Some(name) = self.elsewhere() else { return Ok(self.0.clone().into_bytes()) };
        if name.is_empty() {
            return Err(Failure::Usage("the name of a file is missing after @".to_owned()));
        }
        let (text, name) = (self.0.clone(), name.to_owned());
        // On a thread, so that a signal is heeded although nobody writes there.
        let read = tokio::task::spawn_blocking(move || match text.strip_prefix('@') {
            Some(path) => std::fs::read(path),
            None => {
                let mut bytes = Vec::new();
                io::stdin().read_to_end(&mut bytes).map(|_| bytes)
            }
        });
        let read = read.await.unwrap_or_else(|error| Err(io::Error::other(error)));
        read.map_err(|error| Failure::File(format!("cannot read {name}: {error}")))
    }

    /// The JSON that it means, in one line; otherwise why it is none.
    ///
    /// # Errors
    /// When the file or stdin cannot be read.
    pub(crate) async fn read_json(&self) -> Result<Result<RawJson, String>, Failure> {
        let bytes = self.read().await?;
        let text = std::str::from_utf8(&bytes).map_err(|error| error.to_string());
        let json = text.and_then(|text| RawJson::parse(text).map_err(|error| error.to_string()));
        let json = json.map(|json| one_line(&json));
        Ok(json.map_err(|error| match self.elsewhere() {
            Some(name) => format!("{name}: {error}"),
            None => error,
        }))
    }

    /// What stands on the command line only by name.
    fn elsewhere(&self) -> Option<&str> {
        match &*self.0 {
            "-" => Some("stdin"),
            text => text.strip_prefix('@'),
        }
    }
}

/// The same JSON without line breaks, which would end the frame early. Inside
/// its strings there are none.
pub(crate) fn one_line(json: &RawJson) -> RawJson {
    let text = json.text().replace(['\n', '\r'], " ");
    RawJson::parse(&text).expect("white space is all that changed")
}
