//! What `--report` says: a form, and where it goes.

use std::path::PathBuf;
use std::str::FromStr;

use sparring_script::did_you_mean;

use super::kind::Kind;

/// A report that is wanted; without a path, or with `-`, on stdout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(super) kind: Kind,
    pub(super) path: Option<PathBuf>,
}

impl FromStr for Asked {
    type Err = String;

    fn from_str(text: &str) -> Result<Asked, String> {
        let (name, path) = match text.split_once('=') {
            Some((_, "")) => return Err("the name of a file is missing after =".to_owned()),
            Some((name, path)) => (name, Some(path)),
            None => (text, None),
        };
        let Some(kind) = Kind::from_name(name) else {
            let names = Kind::ALL.map(Kind::name);
            let meant = did_you_mean(name, names);
            let meant = meant.unwrap_or_else(|| format!("there are {}", names.join(", ")));
            return Err(format!("there is no report `{name}`; {meant}"));
        };
        Ok(Asked { kind, path: path.filter(|path| *path != "-").map(PathBuf::from) })
    }
}
