//! Checks that every flag of every verb, and every key of suites and mocks, has a golden
//! case.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use sparring_mock::{LlmScript, MockServer, Settings};
use sparring_script::{Node, Source, casing};
use sparring_suite::Suite;

use crate::process::{SPAR, output};
use crate::transcript::{Case, all_cases, files, golden};

/// The verbs with a target share most of their flags. A case for one of them counts for
/// all.
const WITH_TARGET: [&str; 11] = [
    "check", "call", "read", "prompt", "list", "describe", "complete", "ping", "raw", "init",
    "codegen",
];

#[test]
fn every_flag_has_a_golden_case() {
    let tried: BTreeSet<(String, String)> =
        commands().iter().flat_map(|it| flags_tried(it)).collect();
    let verbs = printed("spar --help");
    let mut untried = Vec::new();
    let parts = printed("spar config --help");
    let parts = list_of(&parts, "Commands:\n").into_iter().map(|part| format!("config {part}"));
    for verb in list_of(&verbs, "Verbs:\n").into_iter().chain(parts) {
        let help = output(Command::new(SPAR).args(verb.split(' ')).arg("--help")).stdout;
        for flag in flags_of(&String::from_utf8(help).unwrap()) {
            let is_tried = |by: &str| tried.contains(&(by.to_owned(), flag.clone()));
            let shared = WITH_TARGET.contains(&&*verb) && WITH_TARGET.iter().any(|it| is_tried(it));
            // The verbs that change a config file share theirs too.
            let of_config = |(by, it): &(String, String)| by.starts_with("config ") && *it == flag;
            let shared = shared || (verb.starts_with("config ") && tried.iter().any(of_config));
            if !shared && !is_tried(&verb) {
                untried.push(format!("spar {verb} {flag}"));
            }
        }
    }
    assert!(untried.is_empty(), "no golden case has {untried:#?}");
}

#[test]
fn every_key_of_suites_has_a_golden_case() {
    check_keys(&sparring_suite::schema(), &suites());
}

#[test]
fn every_key_of_mocks_has_a_golden_case() {
    check_keys(&sparring_mock::schema(), &mocks());
}

#[test]
fn every_key_of_llm_scripts_has_a_golden_case() {
    let loads = |file: &PathBuf| LlmScript::from_file(file, &[]).is_ok();
    let named = named(&commands()).into_iter();
    let scripts: Vec<PathBuf> =
        named.filter(|file| has_suffix(file, ".llm.yaml") && loads(file)).collect();
    check_keys(&sparring_mock::llm_schema(), &scripts);
}

#[test]
fn every_key_of_config_files_has_a_golden_case() {
    let (config, cases) = (golden().join("config"), all_cases());
    let is_good = |file: &PathBuf| {
        let folder = file.strip_prefix(&config).unwrap().iter().next().unwrap();
        let copy = format!("cp -r {}/. ", folder.display());
        let succeeds = |case: &Case| case.command.contains(&copy) && case.outcome.exit == Some(0);
        let source = Source::new("a", fs::read_to_string(file).unwrap());
        cases.iter().any(succeeds) && Node::parse(&source).is_ok()
    };
    let files = files_named(&config, "mcp.yaml");
    let files: Vec<PathBuf> = files.into_iter().filter(is_good).collect();
    check_keys(&sparring_host::config::schema(), &files);
}

#[test]
fn every_matcher_has_a_golden_case_that_matches_and_one_that_does_not() {
    for file in ["passing", "failing"] {
        let text = fs::read_to_string(golden().join(format!("matchers/{file}.spar.yaml"))).unwrap();
        for name in sparring_script::matcher::MATCHER_NAMES {
            let used =
                text.contains(&format!("{{{name}: ")) || text.contains(&format!(", {name}: "));
            assert!(used, "no test of matchers/{file}.spar.yaml has {name}");
        }
    }
}

fn check_keys(schema: &Value, files: &[PathBuf]) {
    let traversal = SchemaTraversal { schema };
    let mut used = BTreeSet::new();
    for file in files {
        let text = fs::read_to_string(file).unwrap();
        let node = Node::parse(&Source::new("a", text)).unwrap();
        traversal.record_keys("the top", schema, &node.to_json(), &mut used);
    }
    let unused: Vec<String> = traversal.all_keys().difference(&used).cloned().collect();
    assert!(unused.is_empty(), "no golden case has {unused:#?}");
}

/// The valid suites that a case runs.
fn suites() -> Vec<PathBuf> {
    let loads = |file: &PathBuf| Suite::from_file(file).is_ok();
    named(&commands())
        .into_iter()
        .filter(|file| has_suffix(file, ".spar.yaml") && loads(file))
        .collect()
}

/// The valid mocks that a case or one of its suites serves.
fn mocks() -> Vec<PathBuf> {
    let settings = Settings { allow_exec: true, ..Settings::default() };
    let loads = |file: &PathBuf| MockServer::from_file(file, &settings).is_ok();
    let suites = suites().into_iter().map(|file| fs::read_to_string(file).unwrap());
    let naming: Vec<String> = suites.chain(commands()).collect();
    named(&naming)
        .into_iter()
        .filter(|file| has_suffix(file, ".mock.yaml") && loads(file))
        .collect()
}

/// The commands of all cases.
fn commands() -> Vec<String> {
    all_cases().into_iter().map(|case| case.command).collect()
}

/// Returns the output of a command in its case.
fn printed(command: &str) -> String {
    let case = all_cases().into_iter().find(|case| case.command == command);
    case.unwrap_or_else(|| panic!("no case runs {command}")).outcome.stdout
}

/// The YAML files that the texts name.
fn named(texts: &[String]) -> Vec<PathBuf> {
    let is_named = |file: &PathBuf| {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        // For example `cp snap.* $TMP`.
        let start = name.split('.').next().unwrap_or_default();
        let any = format!(" {start}.*");
        texts.iter().any(|text| text.contains(&name) || text.contains(&any))
    };
    files_named(&golden(), ".yaml").into_iter().filter(is_named).collect()
}

fn has_suffix(file: &Path, ending: &str) -> bool {
    file.to_string_lossy().ends_with(ending)
}

/// A schema that is traversed with values.
struct SchemaTraversal<'a> {
    schema: &'a Value,
}

impl SchemaTraversal<'_> {
    /// Returns every key with the object that it belongs to.
    fn all_keys(&self) -> BTreeSet<String> {
        let defs = self.schema["$defs"].as_object().unwrap();
        let objects = defs.iter().map(|(name, object)| (&**name, object));
        let objects = objects.chain([("the top", self.schema)]);
        let keys = objects.flat_map(|(name, object)| {
            let keys = object["properties"].as_object().unwrap().keys();
            let ours = keys.filter(|key| casing::to_snake_case(key) == **key);
            ours.map(|key| format!("{name}: {key}")).collect::<Vec<_>>()
        });
        keys.collect()
    }

    /// Records the keys of a value that the schema allows.
    fn record_keys(&self, name: &str, schema: &Value, value: &Value, used: &mut BTreeSet<String>) {
        if let Some(pointer) = schema["$ref"].as_str() {
            let name = pointer.trim_start_matches("#/$defs/");
            return self.record_keys(name, &self.schema["$defs"][name], value, used);
        }
        for choice in schema["anyOf"].as_array().into_iter().flatten() {
            self.record_keys(name, choice, value, used);
        }
        match value {
            Value::Array(items) => {
                items.iter().for_each(|item| self.record_keys(name, &schema["items"], item, used));
            }
            Value::Object(map) => {
                for (key, value) in map {
                    let key = casing::to_snake_case(key);
                    match schema["properties"].get(&*key) {
                        Some(below) => {
                            used.insert(format!("{name}: {key}"));
                            self.record_keys(name, below, value, used);
                        }
                        None => {
                            self.record_keys(name, &schema["additionalProperties"], value, used)
                        }
                    }
                }
            }
            _ => {}
        }
    }
}

/// Returns the verbs and flags of a shell line.
fn flags_tried(line: &str) -> Vec<(String, String)> {
    let mut tried = Vec::new();
    let mut verb: Option<String> = None;
    let line = line.replace('\n', " ; ");
    let mut words = shlex::Shlex::new(&line);
    while let Some(word) = words.next() {
        let ends = ["|", "&&", "||", "&", ";", "--"].contains(&&*word) || word.ends_with(';');
        // A quoted line is run by another shell.
        if word.contains("spar ") {
            tried.extend(flags_tried(&word));
        } else if word == "spar" {
            verb = words.next();
            // It has subcommands.
            if verb.as_deref() == Some("config") {
                let part = words.next().unwrap_or_default();
                verb = Some(if part.starts_with('-') {
                    "config".into()
                } else {
                    format!("config {part}")
                });
                if part.starts_with('-') {
                    tried.push(("config".to_owned(), part));
                }
            }
        } else if let Some(verb) = verb.as_ref().filter(|_| word.starts_with('-')) {
            let flag = word.split('=').next().unwrap_or_default().trim_end_matches(';');
            tried.push((verb.clone(), long(flag).to_owned()));
        }
        if ends {
            verb = None;
        }
    }
    tried
}

/// Returns the long name of a flag.
fn long(flag: &str) -> &str {
    match flag {
        "-q" => "--quiet",
        "-j" => "--jobs",
        "-h" => "--help",
        "-y" => "--yes",
        flag => flag,
    }
}

/// Returns the verbs in a help text, below their heading.
fn list_of(help: &str, heading: &str) -> Vec<String> {
    let (_, rest) = help.split_once(heading).unwrap();
    let (verbs, _) = rest.split_once("\n\n").unwrap();
    verbs.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

/// Returns the flags in a help text: those at the beginning of a line.
fn flags_of(help: &str) -> Vec<String> {
    let begins = |line: &&str| line.trim_start().starts_with('-') && line.starts_with("  ");
    let options = help.split("\nExamples:").next().unwrap_or_default();
    let flags = options.lines().filter(begins).filter_map(|line| {
        let mut words = line.split([' ', ',', '=', '[']);
        words.find(|word| word.starts_with("--")).map(str::to_owned)
    });
    flags.collect()
}

/// Returns the files below a folder with this ending.
fn files_named(folder: &Path, ending: &str) -> Vec<PathBuf> {
    files(folder).into_iter().filter(|file| has_suffix(file, ending)).collect()
}
