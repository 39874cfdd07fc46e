//! What is done with results: what is told apart, what is kept, how much goes
//! back to the model.

/// How results are taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Whether kinds are told apart. If not, each result is one raw JSON file.
    pub enable_intelligent_processing: bool,
    /// Whether an item that cannot be read is saved as the JSON that it came
    /// as. If not, it fails.
    pub fallback_to_raw_on_error: bool,
    /// Text and Markdown of up to so many bytes is not saved, unless it is a
    /// resource, or the model gets only a part of it. Everything else is saved
    /// whatever its size.
    pub save_text_above: usize,
    /// How many bytes of a result's texts go back to the model.
    pub model_bytes: usize,
    /// How many artifacts there may be in all.
    pub max_files: usize,
    /// How many bytes they may have in all.
    pub max_bytes: u64,
    /// Whether the arguments of a call stand in the metadata. They may be
    /// secrets.
    pub keep_arguments: bool,
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
