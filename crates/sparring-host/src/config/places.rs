//! Where config files are.

use std::path::{Path, PathBuf};

use super::server::Scope;

/// The files of a project, each later one before those before it.
const OF_PROJECT: [(&str, Format); 4] = [
    (".cursor/mcp.json", Format::Cursor),
    (".vscode/mcp.json", Format::VsCode),
    (".mcp.json", Format::McpJson),
    (".spar/mcp.yaml", Format::Yaml),
];

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Our own: YAML with `servers`.
    Yaml,
    /// Cursor's: JSON with `mcpServers`.
    Cursor,
    /// VS Code's: JSON with comments, `servers` and `inputs`.
    VsCode,
    /// What Claude, the Inspector and many others read: JSON with `mcpServers`.
    McpJson,
}

/// Where a file may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: PathBuf,
    /// How it is written.
    pub format: Format,
    /// Whose it is.
    pub scope: Scope,
    /// Where relative paths in it begin: the folder of the project, or the
    /// user's home.
    pub folder: Option<PathBuf>,
}

/// All files that there may be, each later one before those before it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Places(pub Vec<Place>);

impl Places {
    /// The user's file, and those of the project that a folder belongs to: the
    /// nearest folder from there upwards that has one of them, but none above a
    /// folder with `.git`, which is the root of its project.
    pub fn find(user: Option<PathBuf>, home: Option<PathBuf>, from: &Path) -> Places {
        let user =
            user.map(|file| Place { file, format: Format::Yaml, scope: Scope::User, folder: home });
        let project = project(from);
        let of_project = OF_PROJECT.map(|(name, format)| Place {
            file: project.join(name),
            format,
            scope: Scope::Project,
            folder: Some(project.to_owned()),
        });
        Places(user.into_iter().chain(of_project).collect())
    }

    /// Where a project keeps what is only ours.
    pub fn of_project(&self) -> Option<&Place> {
        let ours = |it: &&Place| it.scope == Scope::Project && it.format == Format::Yaml;
        self.0.iter().find(ours)
    }

    /// Where the user keeps their own.
    pub fn of_user(&self) -> Option<&Place> {
        self.0.iter().find(|it| it.scope == Scope::User)
    }

    /// The place of a file that is one of these, or would be by its name.
    pub fn at(&self, file: &Path) -> Option<Place> {
        if let Some(place) = self.0.iter().find(|it| it.file == file) {
            return Some(place.clone());
        }
        let named = |name: &str| file.ends_with(name).then(|| name.split('/').count());
        let found = OF_PROJECT.iter().find_map(|(name, format)| Some((named(name)?, *format)));
        let (depth, format) = found?;
        let folder = file.ancestors().nth(depth).map(Path::to_owned);
        Some(Place { file: file.to_owned(), format, scope: Scope::Project, folder })
    }
}

impl Format {
    /// The key that the servers stand below.
    pub(super) fn servers(self) -> &'static str {
        match self {
            Format::Yaml | Format::VsCode => "servers",
            Format::Cursor | Format::McpJson => "mcpServers",
        }
    }

    /// Whether it is JSON, with other people's keys.
    pub(super) fn is_foreign(self) -> bool {
        self != Format::Yaml
    }
}

fn project(from: &Path) -> &Path {
    for folder in from.ancestors() {
        let has = |name: &str| folder.join(name).symlink_metadata().is_ok();
        if OF_PROJECT.iter().any(|(name, _)| has(name)) {
            return folder;
        }
        if has(".git") {
            return folder;
        }
    }
    from
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// The project of `a/b/c` in a folder with these files.
    fn project_with(files: &[&str]) -> String {
        let root = tempfile::tempdir().unwrap();
        let from = root.path().join("a/b/c");
        fs::create_dir_all(&from).unwrap();
        for file in files {
            let file = root.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        let places = Places::find(None, None, &from);
        let folder = places.of_project().unwrap().folder.clone().unwrap();
        let below = folder.strip_prefix(root.path()).map(Path::to_owned);
        below.unwrap_or(folder).display().to_string()
    }

    #[test]
    fn a_project_is_the_nearest_folder_with_a_config_file_or_a_repository() {
        assert_eq!(project_with(&["a/.mcp.json"]), "a");
        assert_eq!(project_with(&["a/.mcp.json", "a/b/.spar/mcp.yaml"]), "a/b");
        assert_eq!(project_with(&["a/b/.git/HEAD", "a/.mcp.json"]), "a/b");
        assert_eq!(project_with(&["a/b/.git/HEAD", "a/b/c/.vscode/mcp.json"]), "a/b/c");
        assert_eq!(project_with(&["a/.git/HEAD", "a/.cursor/mcp.json"]), "a");
        assert_eq!(project_with(&[".vscode/settings.json"]), "a/b/c");
    }

    #[test]
    fn the_users_file_comes_first_and_ours_of_the_project_last() {
        let places = Places::find(Some("/u/mcp.yaml".into()), Some("/h".into()), Path::new("/p"));
        let files: Vec<_> = places.0.iter().map(|place| place.file.to_str().unwrap()).collect();
        let expected = [
            "/u/mcp.yaml",
            "/p/.cursor/mcp.json",
            "/p/.vscode/mcp.json",
            "/p/.mcp.json",
            "/p/.spar/mcp.yaml",
        ];
        assert_eq!(files, expected);
        assert_eq!(places.of_user().unwrap().folder.as_deref(), Some(Path::new("/h")));
    }

    #[test]
    fn a_file_elsewhere_is_known_by_its_name() {
        let places = Places::find(None, None, Path::new("/p"));
        let place = places.at(Path::new("/q/.vscode/mcp.json")).unwrap();
        assert_eq!(place.format, Format::VsCode);
        assert_eq!(place.folder.as_deref(), Some(Path::new("/q")));
        let place = places.at(Path::new("/q/.mcp.json")).unwrap();
        assert_eq!(place.folder.as_deref(), Some(Path::new("/q")));
        assert_eq!(places.at(Path::new("/q/mcp.txt")), None);
    }
}
