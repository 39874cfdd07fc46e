//! All instructions with their index, as one thing that never changes: whoever
//! holds it sees the folder as it was at one time.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use tantivy::TantivyError;

use crate::index::{Hit, Index, Match, Words};
use crate::knowledge::{self, Instruction, Problem, Stamps};

/// Instructions, and how they are found.
pub struct Library {
    instructions: Vec<Instruction>,
    index: Index,
    by_uri: BTreeMap<String, usize>,
}

/// Why there is no library.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// The folder cannot be read.
    #[error("the folder {path} cannot be read")]
    Folder {
        /// Where it should be.
        path: String,
        /// Why not.
        source: io::Error,
    },
    /// The index cannot be made, or not be searched.
    #[error("the index of the instructions failed")]
    Index(#[from] TantivyError),
}

/// A folder made into a library.
pub struct Opened {
    /// What it has.
    pub library: Library,
    /// What is wrong in it.
    pub problems: Vec<Problem>,
    /// What its files were when they were read.
    pub stamps: Stamps,
}

impl Library {
    /// Reads a folder.
    ///
    /// # Errors
    /// When there is no such folder. What is wrong within it is told beside.
    pub fn open(folder: &Path) -> Result<Opened, LibraryError> {
        let reading = knowledge::read(folder).map_err(|source| LibraryError::Folder {
            path: folder.display().to_string(),
            source,
        })?;
        let library = Library::new(reading.instructions)?;
        Ok(Opened { library, problems: reading.problems, stamps: reading.stamps })
    }

    /// A library of these.
    ///
    /// # Errors
    /// When no index can be made of them.
    pub fn new(instructions: Vec<Instruction>) -> Result<Library, LibraryError> {
        let index = Index::new(&instructions)?;
        let uris = instructions.iter().map(|instruction| instruction.uri.clone());
        let by_uri = uris.zip(0..).collect();
        Ok(Library { instructions, index, by_uri })
    }

    /// All of them, in the order of their ids.
    pub fn all(&self) -> &[Instruction] {
        &self.instructions
    }

    /// The one with this address.
    pub fn at(&self, uri: &str) -> Option<&Instruction> {
        self.by_uri.get(uri).map(|number| &self.instructions[*number])
    }

    /// The words of a query.
    pub fn words(&self, query: &str) -> Words {
        self.index.words(query)
    }

    /// Those that fit a query, the best first.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn search(&self, words: &Words, limit: usize) -> Result<Vec<Hit>, LibraryError> {
        Ok(self.index.search(words, limit)?)
    }

    /// Which words of a query one of them has, and where.
    pub fn matches(&self, words: &Words, instruction: &Instruction) -> Vec<Match> {
        self.index.matches(words, instruction)
    }

    /// Where the words of a query are in the text of one of them.
    pub fn snippet(&self, words: &Words, instruction: &Instruction) -> Option<String> {
        self.index.snippet(words, instruction)
    }
}
