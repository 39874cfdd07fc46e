//! A home and a project with config files.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use sparring_host::config::{
    Config, ConfigContext, ConfigLocations, ConfiguredServer, EntryState, ServerConfig, Trust,
};
use sparring_transport::http::HttpTarget;
use sparring_transport::{ChildTarget, Target};

/// A home, a project and their context.
pub(crate) struct ConfigFixture {
    folder: tempfile::TempDir,
    pub(crate) context: ConfigContext,
}

impl ConfigFixture {
    /// With these files: `user` is the user's, the others are in the project.
    pub(crate) fn with(files: &[(&str, &str)]) -> ConfigFixture {
        let folder = tempfile::tempdir().unwrap();
        let mut context = ConfigContext::empty();
        context.home = Some(folder.path().join("home"));
        context.trust = Some(folder.path().join("state/trust.json"));
        let fixture = ConfigFixture { folder, context };
        fs::create_dir_all(fixture.project()).unwrap();
        files.iter().for_each(|(name, text)| fixture.write(name, text));
        fixture
    }

    /// With this text as the user's file.
    pub(crate) fn with_user_file(text: &str) -> ConfigFixture {
        ConfigFixture::with(&[("user", text)])
    }

    pub(crate) fn variable(mut self, name: &str, value: &str) -> ConfigFixture {
        self.context.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    /// With answers to all questions: `server.id` is answered.
    pub(crate) fn with_answers(mut self) -> ConfigFixture {
        self.context.ask = Arc::new(|it| Some(format!("{}.{}", it.server, it.id)));
        self
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        match name {
            "user" => self.folder.path().join("home/mcp.yaml"),
            name => self.project().join(name),
        }
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn trust(&self, name: &str) {
        let (store, path) = (self.context.trust.clone().unwrap(), self.path(name));
        Trust::add(&store, &path, &fs::read_to_string(&path).unwrap()).unwrap();
    }

    pub(crate) fn with_trust(self, names: &[&str]) -> ConfigFixture {
        names.iter().for_each(|name| self.trust(name));
        self
    }

    pub(crate) fn locations(&self) -> ConfigLocations {
        let home = self.context.home.clone();
        ConfigLocations::find(Some(self.path("user")), home, &self.project())
    }

    pub(crate) fn read(&self) -> Config {
        Config::read(&self.locations(), &self.context)
    }

    /// The problems of all files and entries, without this folder's path.
    pub(crate) fn problems(&self) -> String {
        let config = self.read();
        let faults = config.faults.iter().map(ToString::to_string);
        let broken = config.servers.values().filter_map(|configured| match &configured.state {
            EntryState::Invalid(problems) => Some(problems.to_string()),
            _ => None,
        });
        let message: Vec<String> = faults.chain(broken).collect();
        message.join("\n").replace(&*self.folder.path().to_string_lossy(), "")
    }
}

/// The server of a name, which must be valid.
pub(crate) fn ready<'a>(config: &'a Config, name: &str) -> &'a ServerConfig {
    match &config.servers[name] {
        ConfiguredServer { state: EntryState::Ready(server), .. } => server,
        other => panic!("{name}: {other:?}, {:?}", config.faults),
    }
}

pub(crate) fn child<'a>(config: &'a Config, name: &str) -> &'a ChildTarget {
    match &ready(config, name).target {
        Target::Child(child) => child,
        other => panic!("{name}: {other:?}"),
    }
}

pub(crate) fn http<'a>(config: &'a Config, name: &str) -> &'a HttpTarget {
    match &ready(config, name).target {
        Target::Http(http) => http,
        other => panic!("{name}: {other:?}"),
    }
}

pub(crate) fn names(config: &Config) -> Vec<&str> {
    config.servers.keys().map(String::as_str).collect()
}
