//! An immutable snapshot of all instructions with their index.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use tantivy::TantivyError;

use crate::index::{Hit, Index, Match, Words};
use crate::knowledge::{self, Instruction, Problem, Stamps};

/// Instructions with their index.
pub struct Library {
    instructions: Vec<Instruction>,
    index: Index,
    by_uri: BTreeMap<String, usize>,
}

/// The reason why a library cannot be opened or searched.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// The folder cannot be read.
    #[error("the folder {path} cannot be read")]
    Folder {
        /// The path of the folder.
        path: String,
        /// The error of the system.
        source: io::Error,
    },
    /// The index cannot be built or searched.
    #[error("the index of the instructions failed")]
    Index(#[from] TantivyError),
}

/// The result of reading a folder.
pub struct Opened {
    /// The instructions.
    pub library: Library,
    /// The problems in the folder.
    pub problems: Vec<Problem>,
    /// The stamps of the files when they were read.
    pub stamps: Stamps,
}

impl Library {
    /// Reads a folder. Problems with single files are in the result.
    ///
    /// # Errors
    /// If the folder cannot be read, or the index cannot be built.
    pub fn open(folder: &Path) -> Result<Opened, LibraryError> {
        let contents = knowledge::read(folder).map_err(|source| LibraryError::Folder {
            path: folder.display().to_string(),
            source,
        })?;
        let library = Library::new(contents.instructions)?;
        Ok(Opened { library, problems: contents.problems, stamps: contents.stamps })
    }

    /// Creates a library of these instructions.
    ///
    /// # Errors
    /// If the index cannot be built.
    pub fn new(instructions: Vec<Instruction>) -> Result<Library, LibraryError> {
        let index = Index::new(&instructions)?;
        let uris = instructions.iter().map(|instruction| instruction.uri.clone());
        let by_uri = uris.zip(0..).collect();
        Ok(Library { instructions, index, by_uri })
    }

    /// All instructions, in the order of their ids.
    pub fn all(&self) -> &[Instruction] {
        &self.instructions
    }

    /// The instruction with this URI.
    pub fn at(&self, uri: &str) -> Option<&Instruction> {
        self.by_uri.get(uri).map(|number| &self.instructions[*number])
    }

    /// The words of a query.
    pub fn words(&self, query: &str) -> Words {
        self.index.words(query)
    }

    /// Returns the instructions that match a query, best first.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub fn search(&self, words: &Words, limit: usize) -> Result<Vec<Hit>, LibraryError> {
        Ok(self.index.search(words, limit)?)
    }

    /// Returns the query's words that an instruction contains, with the parts that contain them.
    pub fn matches(&self, words: &Words, instruction: &Instruction) -> Vec<Match> {
        self.index.matches(words, instruction)
    }

    /// An excerpt of an instruction's text around the words of a query.
    pub fn snippet(&self, words: &Words, instruction: &Instruction) -> Option<String> {
        self.index.snippet(words, instruction)
    }
}
