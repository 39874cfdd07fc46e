//! The locations of config files.

use std::path::{Path, PathBuf};

use super::server_config::Scope;

/// The files of a project; later ones override earlier ones.
const PROJECT_FILES: [(&str, Format); 4] = [
    (".cursor/mcp.json", Format::Cursor),
    (".vscode/mcp.json", Format::VsCode),
    (".mcp.json", Format::McpJson),
    (".spar/mcp.yaml", Format::Yaml),
];

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Our own: YAML with `servers`.
    Yaml,
    /// Cursor's: JSON with `mcpServers`.
    Cursor,
    /// VS Code's: JSON with comments, `servers` and `inputs`.
    VsCode,
    /// The format of Claude, the Inspector and many others: JSON with
    /// `mcpServers`.
    McpJson,
}

/// The location of a config file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigLocation {
    /// The file.
    pub file: PathBuf,
    /// Its format.
    pub format: Format,
    /// Its scope.
    pub scope: Scope,
    /// The folder for relative paths: the folder of the project, or the user's
    /// home.
    pub folder: Option<PathBuf>,
}

/// All possible files; later ones override earlier ones.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConfigLocations(pub Vec<ConfigLocation>);

impl ConfigLocations {
    /// The user's file, and the files of the project that contains a folder:
    /// the nearest parent folder with such a file, up to a folder with `.git`,
    /// which is the root of its project.
    pub fn find(user: Option<PathBuf>, home: Option<PathBuf>, from: &Path) -> ConfigLocations {
        let user = user.map(|file| ConfigLocation {
            file,
            format: Format::Yaml,
            scope: Scope::User,
            folder: home,
        });
        let project = find_project(from);
        let of_project = PROJECT_FILES.map(|(name, format)| ConfigLocation {
            file: project.join(name),
            format,
            scope: Scope::Project,
            folder: Some(project.to_owned()),
        });
        ConfigLocations(user.into_iter().chain(of_project).collect())
    }

    /// The project's `.spar/mcp.yaml`.
    pub fn project_file(&self) -> Option<&ConfigLocation> {
        let ours = |it: &&ConfigLocation| it.scope == Scope::Project && it.format == Format::Yaml;
        self.0.iter().find(ours)
    }

    /// The user's file.
    pub fn user_file(&self) -> Option<&ConfigLocation> {
        self.0.iter().find(|it| it.scope == Scope::User)
    }

    /// The location of a file that is one of these, or that has such a name.
    pub fn locate(&self, file: &Path) -> Option<ConfigLocation> {
        if let Some(location) = self.0.iter().find(|it| it.file == file) {
            return Some(location.clone());
        }
        let named = |name: &str| file.ends_with(name).then(|| name.split('/').count());
        let found = PROJECT_FILES.iter().find_map(|(name, format)| Some((named(name)?, *format)));
        let (depth, format) = found?;
        let folder = file.ancestors().nth(depth).map(Path::to_owned);
        Some(ConfigLocation { file: file.to_owned(), format, scope: Scope::Project, folder })
    }
}

impl Format {
    /// The key of the map of servers.
    pub(super) fn servers_key(self) -> &'static str {
        match self {
            Format::Yaml | Format::VsCode => "servers",
            Format::Cursor | Format::McpJson => "mcpServers",
        }
    }

    /// Returns true if it is JSON with the keys of other programs.
    pub(super) fn is_foreign(self) -> bool {
        self != Format::Yaml
    }
}

fn find_project(from: &Path) -> &Path {
    for folder in from.ancestors() {
        let has = |name: &str| folder.join(name).symlink_metadata().is_ok();
        if PROJECT_FILES.iter().any(|(name, _)| has(name)) {
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
        let locations = ConfigLocations::find(None, None, &from);
        let folder = locations.project_file().unwrap().folder.clone().unwrap();
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
    fn the_users_file_comes_first_and_spar_mcp_yaml_last() {
        let locations =
            ConfigLocations::find(Some("/u/mcp.yaml".into()), Some("/h".into()), Path::new("/p"));
        let files: Vec<_> =
            locations.0.iter().map(|location| location.file.to_str().unwrap()).collect();
        let expected = [
            "/u/mcp.yaml",
            "/p/.cursor/mcp.json",
            "/p/.vscode/mcp.json",
            "/p/.mcp.json",
            "/p/.spar/mcp.yaml",
        ];
        assert_eq!(files, expected);
        assert_eq!(locations.user_file().unwrap().folder.as_deref(), Some(Path::new("/h")));
    }

    #[test]
    fn the_format_of_a_file_elsewhere_follows_from_its_name() {
        let locations = ConfigLocations::find(None, None, Path::new("/p"));
        let location = locations.locate(Path::new("/q/.vscode/mcp.json")).unwrap();
        assert_eq!(location.format, Format::VsCode);
        assert_eq!(location.folder.as_deref(), Some(Path::new("/q")));
        let location = locations.locate(Path::new("/q/.mcp.json")).unwrap();
        assert_eq!(location.folder.as_deref(), Some(Path::new("/q")));
        assert_eq!(locations.locate(Path::new("/q/mcp.txt")), None);
    }
}
