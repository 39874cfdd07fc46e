//! Parses `--setting`.

use std::path::Path;
use std::str::FromStr;

use sparring_host::artifacts::{Settings, Store};
use sparring_script::{did_you_mean, parse_size};

const NAMES: [&str; 7] = [
    "enable_intelligent_processing",
    "fallback_to_raw_on_error",
    "save_text_above",
    "model_bytes",
    "max_files",
    "max_bytes",
    "keep_arguments",
];

/// One setting and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Setting {
    Processing(bool),
    Fallback(bool),
    SaveTextAbove(usize),
    ModelBytes(usize),
    MaxFiles(usize),
    MaxBytes(u64),
    KeepArguments(bool),
}

impl FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Setting, String> {
        let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
        let yes_or_no = || value.parse::<bool>().map_err(|_| "expected true or false".to_owned());
        Ok(match name {
            "enable_intelligent_processing" => Setting::Processing(yes_or_no()?),
            "fallback_to_raw_on_error" => Setting::Fallback(yes_or_no()?),
            "keep_arguments" => Setting::KeepArguments(yes_or_no()?),
            "save_text_above" => Setting::SaveTextAbove(parse_bytes(value)?),
            "model_bytes" => Setting::ModelBytes(parse_bytes(value)?),
            "max_bytes" => Setting::MaxBytes(parse_bytes(value)? as u64),
            "max_files" => {
                let count = value.parse().map_err(|_| "expected a whole number".to_owned());
                Setting::MaxFiles(count?)
            }
            name => {
                let meant = did_you_mean(name, NAMES).map(|it| format!("; {it}"));
                let meant = meant.unwrap_or_default();
                return Err(format!("unknown setting {name:?}{meant}"));
            }
        })
    }
}

/// Parses a number of bytes, with or without a unit.
fn parse_bytes(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count) => Ok(count),
        Err(_) => parse_size(text),
    }
}

/// Builds the store of artifacts.
pub(super) fn build_store(folder: Option<&Path>, set: &[Setting]) -> Store {
    let mut settings = Settings::default();
    for setting in set {
        match *setting {
            Setting::Processing(it) => settings.enable_intelligent_processing = it,
            Setting::Fallback(it) => settings.fallback_to_raw_on_error = it,
            Setting::SaveTextAbove(it) => settings.save_text_above = it,
            Setting::ModelBytes(it) => settings.model_bytes = it,
            Setting::MaxFiles(it) => settings.max_files = it,
            Setting::MaxBytes(it) => settings.max_bytes = it,
            Setting::KeepArguments(it) => settings.keep_arguments = it,
        }
    }
    match folder {
        Some(folder) => Store::new(folder, settings),
        None => Store::without_folder(settings),
    }
}
