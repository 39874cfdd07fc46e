//! Takes results: told apart, kept, and made ready for the model.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use ring::digest::{SHA256, digest};
use serde::Serialize;
use serde_json::value::RawValue;
use sparring_wire::{Json, RawJson};

use super::artifact::{Artifact, Status};
use super::folder::Folder;
use super::model::{PIECES, Shown, shares, written};
use super::name::Stem;
use super::piece::{Found, Piece};
use super::result::{Pieces, pieces, raw};
use super::settings::Settings;

/// Where results go. It may be used from many threads; what it writes it writes
/// before it returns.
#[derive(Debug)]
pub struct Store {
    settings: Settings,
    kept: Mutex<Kept>,
}

/// The call that gave a result.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The server, as it is called in its file.
    pub server: &'a str,
    /// The tool, as its server calls it.
    pub tool: &'a str,
    /// What it was given.
    pub arguments: &'a RawJson,
}

/// What became of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Taken {
    /// Each of its pieces, in their order.
    pub artifacts: Vec<Artifact>,
    /// What the model gets.
    pub for_model: String,
}

#[derive(Debug)]
struct Kept {
    /// None where nothing is kept.
    folder: Option<Folder>,
    files: usize,
    bytes: u64,
}

/// What stands beside a file.
#[derive(Serialize)]
struct Metadata<'a> {
    file: String,
    status: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
    kind: &'a str,
    mime_type: &'a str,
    found_by: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    declared_mime_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    differs: Option<&'a str>,
    bytes: usize,
    sha256: String,
    server: &'a str,
    tool: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<&'a RawValue>,
    is_error: bool,
    place: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<&'a str>,
    saved: String,
}

impl Store {
    /// Keeps artifacts in that folder, which is made with the first of them.
    pub fn new(folder: impl Into<PathBuf>, settings: Settings) -> Store {
        Store::with(Some(Folder::new(folder.into())), settings)
    }

    /// Keeps nothing: the model gets what it has room for.
    pub fn without_folder(settings: Settings) -> Store {
        Store::with(None, settings)
    }

    fn with(folder: Option<Folder>, settings: Settings) -> Store {
        Store { settings, kept: Mutex::new(Kept { folder, files: 0, bytes: 0 }) }
    }

    /// Takes the result of a tool call, whatever it looks like. What cannot be
    /// used or written is told by the status of the piece.
    pub fn take(&self, call: Call<'_>, result: Json<'_>) -> Taken {
        let pieces = match self.settings.enable_intelligent_processing {
            true => pieces(result, self.settings.max_files),
            false => raw(result),
        };
        let Pieces { first: pieces, left_out } = pieces;
        let lengths: Vec<_> = pieces.iter().map(|piece| self.shown(piece).len()).collect();
        let share = shares(&lengths[..lengths.len().min(PIECES)], self.settings.model_bytes);
        let is_error = result.get("isError").and_then(Json::as_bool) == Some(true);
        let mut artifacts = Vec::with_capacity(pieces.len());
        let mut shown = Vec::with_capacity(pieces.len());
        for (index, (piece, length)) in pieces.iter().zip(lengths).enumerate() {
            let is_cut = length > share || index >= PIECES;
            let status = self.settle(call, piece, is_error, is_cut);
            let artifact = Artifact {
                place: piece.place,
                kind: piece.kind,
                mime_type: piece.mime_type.clone(),
                found: piece.found,
                differs: piece.differs.clone(),
                bytes: piece.bytes.len() as u64,
                status,
            };
            shown.push(Shown { text: self.shown(piece), uri: piece.uri.as_deref() });
            artifacts.push(artifact);
        }
        let for_model = written(&artifacts, &shown, share, left_out);
        Taken { artifacts, for_model }
    }

    /// What the model would see of a piece, if there were no limit.
    fn shown<'a>(&self, piece: &'a Piece) -> &'a str {
        let lost = piece.problem.is_some() && !self.settings.fallback_to_raw_on_error;
        piece.text().filter(|_| piece.is_shown && !lost).unwrap_or_default()
    }

    fn settle(&self, call: Call<'_>, piece: &Piece, is_error: bool, is_cut: bool) -> Status {
        let Settings { fallback_to_raw_on_error, save_text_above, .. } = self.settings;
        let is_raw = match &piece.problem {
            Some(why) if !fallback_to_raw_on_error => return Status::Failed { why: why.clone() },
            Some(_) => true,
            None => piece.found == Found::Raw,
        };
        if piece.small_talk && piece.bytes.len() <= save_text_above && !is_cut {
            return Status::Inline;
        }
        match self.save(call, piece, is_error, is_raw) {
            Ok(Some(file)) if is_raw => Status::Raw { file, why: piece.problem.clone() },
            Ok(Some(file)) => Status::Saved { file },
            Ok(None) => Status::NotKept,
            Err(why) => Status::Failed { why },
        }
    }

    fn save(
        &self,
        call: Call<'_>,
        piece: &Piece,
        is_error: bool,
        is_raw: bool,
    ) -> Result<Option<PathBuf>, String> {
        let Settings { max_files, max_bytes, keep_arguments, .. } = self.settings;
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let Kept { folder: Some(folder), files, bytes: before } = &mut *kept else {
            return Ok(None);
        };
        let bytes = before.saturating_add(piece.bytes.len() as u64);
        if *files >= max_files {
            return Err(format!("there are {max_files} artifacts already"));
        }
        if bytes > max_bytes {
            return Err(format!("all artifacts would have more than {max_bytes} bytes"));
        }
        let arguments = match keep_arguments {
            true => serde_json::from_str::<&RawValue>(call.arguments.text()).ok(),
            false => None,
        };
        let (sha256, saved) = (hexadecimal(&piece.bytes), Timestamp::now().to_string());
        let metadata = |file: &str| Metadata {
            file: file.to_owned(),
            status: if is_raw { "raw" } else { "saved" },
            why: piece.problem.as_deref(),
            kind: piece.kind.name(),
            mime_type: &piece.mime_type,
            found_by: piece.found.name(),
            declared_mime_type: piece.declared.as_deref(),
            differs: piece.differs.as_deref(),
            bytes: piece.bytes.len(),
            sha256: sha256.clone(),
            server: call.server,
            tool: call.tool,
            arguments,
            is_error,
            place: piece.place.to_string(),
            name: piece.name.as_deref(),
            uri: piece.uri.as_deref(),
            saved: saved.clone(),
        };
        let extension = if is_raw { "raw.json" } else { piece.kind.extension() };
        let stem = piece.stem.clone().unwrap_or_else(|| Stem::of_tool(call.tool));
        let file = folder.write(&stem, extension, &piece.bytes, metadata);
        let file = file.map_err(|error| error.to_string())?;
        (*files, *before) = (*files + 1, bytes);
        Ok(Some(file))
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    digest(&SHA256, bytes).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}
