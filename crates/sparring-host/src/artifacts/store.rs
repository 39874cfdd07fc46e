//! Processes results: detects, saves and renders them for the model.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use ring::digest::{SHA256, digest};
use serde::Serialize;
use serde_json::value::RawValue;
use sparring_transport::Secrets;
use sparring_wire::{Json, RawJson};

use super::artifact::{Artifact, ArtifactStatus};
use super::file_name::FileStem;
use super::folder::Folder;
use super::memory::{Memory, StoredArtifact};
use super::model_text::{MAX_RENDERED_PIECES, PieceText, render_for_model, share_per_text};
use super::piece::{DetectedBy, Piece};
use super::result_pieces::{Pieces, split_result, whole_result};

/// Settings of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// True if kinds are detected. If not, each result is saved as one raw JSON
    /// file.
    pub enable_intelligent_processing: bool,
    /// True if an invalid item is saved as its raw JSON. If not, it fails.
    pub fallback_to_raw_on_error: bool,
    /// Text and Markdown of up to so many bytes is not saved, unless it is a
    /// resource, or the model gets only a part of it. Everything else is saved,
    /// whatever its size.
    pub save_text_above: usize,
    /// The maximum number of bytes of a result's texts for the model.
    pub model_bytes: usize,
    /// The maximum number of artifacts of the store.
    pub max_files: usize,
    /// The maximum number of bytes of all artifacts of the store.
    pub max_bytes: u64,
    /// True if the metadata contains the arguments of the call. They may be
    /// secrets.
    pub keep_arguments: bool,
}

/// Processes results of tools. It can be used from many threads; all files are
/// written before a call returns.
#[derive(Debug)]
pub struct Store {
    settings: Settings,
    /// The secrets to mask in results.
    secrets: Secrets,
    state: Mutex<StoreState>,
}

/// The call of a result.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The server's name in its configuration file.
    pub server: &'a str,
    /// The tool's name at the server.
    pub tool: &'a str,
    /// The arguments of the call.
    pub arguments: &'a RawJson,
}

/// A processed result.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessedResult {
    /// All pieces, in their order.
    pub artifacts: Vec<Artifact>,
    /// The text for the model.
    pub for_model: String,
}

#[derive(Debug)]
struct StoreState {
    destination: Destination,
    files: usize,
    bytes: u64,
}

/// The place where artifacts are saved.
#[derive(Debug)]
enum Destination {
    Folder(Folder),
    Memory(Memory),
    /// Nothing is saved.
    Nowhere,
}

/// The contents of the metadata file.
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

impl Default for Settings {
    fn default() -> Self {
        Settings {
            enable_intelligent_processing: true,
            fallback_to_raw_on_error: true,
            save_text_above: 2048,
            model_bytes: 16 * 1024,
            max_files: 1000,
            max_bytes: 256 * 1024 * 1024,
            keep_arguments: false,
        }
    }
}

impl Store {
    /// Saves artifacts in that folder, which is created with the first one.
    pub fn new(folder: impl Into<PathBuf>, settings: Settings) -> Store {
        Store::with(Destination::Folder(Folder::new(folder.into())), settings)
    }

    /// Saves nothing: the model gets as much as there is room for.
    pub fn without_folder(settings: Settings) -> Store {
        Store::with(Destination::Nowhere, settings)
    }

    /// Keeps artifacts in memory; [`Store::stored`] returns them. The file of an artifact is only
    /// its name then.
    pub fn in_memory(settings: Settings) -> Store {
        Store::with(Destination::Memory(Memory::default()), settings)
    }

    fn with(destination: Destination, settings: Settings) -> Store {
        let state = Mutex::new(StoreState { destination, files: 0, bytes: 0 });
        Store { settings, secrets: Secrets::default(), state }
    }

    /// Masks these secrets in results and arguments, before they are saved or shown.
    #[must_use]
    pub fn masking(self, secrets: Secrets) -> Store {
        Store { secrets, ..self }
    }

    /// Returns the artifacts that are kept in memory, in the order in which they were saved;
    /// none if the store is not in memory.
    pub fn stored(&self) -> Vec<StoredArtifact> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match &state.destination {
            Destination::Memory(memory) => memory.artifacts().to_vec(),
            Destination::Folder(_) | Destination::Nowhere => Vec::new(),
        }
    }

    /// Processes the result of a tool call, valid or not. Problems are in the
    /// status of each piece.
    pub fn process(&self, call: Call<'_>, result: Json<'_>) -> ProcessedResult {
        let masked = (self.mask(result), self.mask(call.arguments.view()));
        let result = masked.0.as_ref().map_or(result, RawJson::view);
        let call = Call { arguments: masked.1.as_ref().unwrap_or(call.arguments), ..call };
        let pieces = match self.settings.enable_intelligent_processing {
            true => split_result(result, self.settings.max_files),
            false => whole_result(result),
        };
        let Pieces { first: pieces, left_out } = pieces;
        let lengths: Vec<_> = pieces.iter().map(|piece| self.model_text(piece).len()).collect();
        let share = share_per_text(
            &lengths[..lengths.len().min(MAX_RENDERED_PIECES)],
            self.settings.model_bytes,
        );
        let is_error = result.get("isError").and_then(Json::as_bool) == Some(true);
        let mut artifacts = Vec::with_capacity(pieces.len());
        let mut shown = Vec::with_capacity(pieces.len());
        for (index, (piece, length)) in pieces.iter().zip(lengths).enumerate() {
            let is_cut = length > share || index >= MAX_RENDERED_PIECES;
            let status = self.save_if_needed(call, piece, is_error, is_cut);
            let artifact = Artifact {
                place: piece.place,
                kind: piece.kind,
                mime_type: piece.mime_type.clone(),
                found: piece.found,
                differs: piece.differs.clone(),
                bytes: piece.bytes.len() as u64,
                status,
            };
            shown.push(PieceText { text: self.model_text(piece), uri: piece.uri.as_deref() });
            artifacts.push(artifact);
        }
        let for_model = render_for_model(&artifacts, &shown, share, left_out);
        ProcessedResult { artifacts, for_model }
    }

    /// The value with masked secrets; `None` if it has none.
    fn mask(&self, json: Json<'_>) -> Option<RawJson> {
        match self.secrets.mask_bytes(json.bytes()) {
            Cow::Borrowed(_) => None,
            // Masked JSON is JSON. If it were not, nothing of it could be shown.
            Cow::Owned(masked) => {
                let text = String::from_utf8_lossy(&masked);
                Some(RawJson::parse(&text).unwrap_or_else(|_| RawJson::empty_object()))
            }
        }
    }

    /// The text of a piece for the model, without a limit.
    fn model_text<'a>(&self, piece: &'a Piece) -> &'a str {
        let lost = piece.problem.is_some() && !self.settings.fallback_to_raw_on_error;
        piece.text().filter(|_| piece.shown_to_model && !lost).unwrap_or_default()
    }

    fn save_if_needed(
        &self,
        call: Call<'_>,
        piece: &Piece,
        is_error: bool,
        is_cut: bool,
    ) -> ArtifactStatus {
        let Settings { fallback_to_raw_on_error, save_text_above, .. } = self.settings;
        let is_raw = match &piece.problem {
            Some(why) if !fallback_to_raw_on_error => {
                return ArtifactStatus::Failed { why: why.clone() };
            }
            Some(_) => true,
            None => piece.found == DetectedBy::Raw,
        };
        if piece.inline_if_small && piece.bytes.len() <= save_text_above && !is_cut {
            return ArtifactStatus::Inline;
        }
        match self.save(call, piece, is_error, is_raw) {
            Ok(Some(file)) if is_raw => ArtifactStatus::Raw { file, why: piece.problem.clone() },
            Ok(Some(file)) => ArtifactStatus::Saved { file },
            Ok(None) => ArtifactStatus::NotKept,
            Err(why) => ArtifactStatus::Failed { why },
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
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let StoreState { destination, files, bytes: before } = &mut *state;
        if let Destination::Nowhere = destination {
            return Ok(None);
        }
        let bytes = before.saturating_add(piece.bytes.len() as u64);
        if *files >= max_files {
            return Err(format!("limit of {max_files} artifacts reached"));
        }
        if bytes > max_bytes {
            return Err(format!("limit of {max_bytes} bytes of artifacts reached"));
        }
        let arguments = match keep_arguments {
            true => serde_json::from_str::<&RawValue>(call.arguments.text()).ok(),
            false => None,
        };
        let (sha256, saved) = (sha256_hex(&piece.bytes), Timestamp::now().to_string());
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
        let stem = piece.stem.clone().unwrap_or_else(|| FileStem::from_tool(call.tool));
        let file = match destination {
            Destination::Folder(folder) => folder.write(&stem, extension, &piece.bytes, metadata),
            Destination::Memory(memory) => memory.write(&stem, extension, &piece.bytes, metadata),
            Destination::Nowhere => return Ok(None),
        };
        let file = file.map_err(|error| error.to_string())?;
        (*files, *before) = (*files + 1, bytes);
        Ok(Some(file))
    }
}

fn sha256_hex(bytes: &[u8]) -> String {
    digest(&SHA256, bytes).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}
