//! Compares the checker with the official schemas and examples: it rejects exactly the
//! values that they reject.

mod frames;
mod samples;
mod schema;

use std::path::Path;

use serde_json::Value;
use sparring_wire::{Checker, RawJson, Revision};

use self::schema::{Schema, spec_dir};

/// Returns true if the checker accepts a value. The schemas have no formats, no rules for keys
/// of metadata, and no recommendations.
fn fits(checker: &Checker, name: &str, value: &Value) -> bool {
    let json = RawJson::from(value);
    let found = checker.check_type(name, json.view());
    let found = found.unwrap_or_else(|| panic!("{}: unknown type {name}", checker.revision()));
    found.iter().all(|it| it.rule.id().starts_with("format/") || it.is_warning())
}

/// The number of compared items.
#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    types: usize,
    samples: usize,
    mutations: usize,
    wrong: usize,
}

fn compare(revision: Revision, at_least: Counts) {
    let Some(dir) = spec_dir() else { return };
    let schema = Schema::load(&dir, revision);
    let checker = Checker::for_revision(revision);
    let mut counts = Counts::default();
    let mut disagreements = Vec::new();
    for name in schema.type_names() {
        counts.types += 1;
        let validator = schema.validator(name);
        let mut values = samples::of_type(&schema, name);
        values.extend(examples(&dir, revision, name));
        for value in &values {
            counts.samples += 1;
            assert!(validator.is_valid(value), "{name}: bad sample {value}");
            let mut compare_value = |value: Value| {
                let right = validator.is_valid(&value);
                counts.mutations += 1;
                counts.wrong += usize::from(!right);
                if fits(&checker, name, &value) != right {
                    disagreements.push(format!("{name}, official: {right}: {value}"));
                }
            };
            compare_value(value.clone());
            samples::mutations(value, &mut compare_value);
        }
    }
    eprintln!("{revision}: {counts:?}");
    disagreements.sort_by_key(String::len);
    disagreements.truncate(20);
    assert!(disagreements.is_empty(), "{revision}:\n{}", disagreements.join("\n"));
    assert!(counts.types >= at_least.types, "{counts:?}");
    assert!(counts.samples >= at_least.samples, "{counts:?}");
    assert!(counts.mutations >= at_least.mutations, "{counts:?}");
    assert!(counts.wrong >= at_least.wrong, "{counts:?}");
}

/// Reads the official examples of a type.
fn examples(dir: &Path, revision: Revision, name: &str) -> Vec<Value> {
    let folder = dir.join(format!("examples-{revision}")).join(name);
    let Ok(files) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let files = files.map(|file| file.unwrap().path());
    let texts = files.map(|path| std::fs::read_to_string(path).unwrap());
    texts.map(|text| serde_json::from_str(&text).unwrap()).collect()
}

macro_rules! compare {
    ($($test:ident: $revision:ident, $($field:ident $least:literal),*;)*) => {$(
        #[test]
        fn $test() {
            compare(Revision::$revision, Counts { $($field: $least),* });
        }
    )*};
}

compare! {
    agrees_with_the_schema_of_2024_11_05: V2024_11_05, types 79, samples 300, mutations 19_000, wrong 13_000;
    agrees_with_the_schema_of_2025_03_26: V2025_03_26, types 83, samples 350, mutations 21_000, wrong 14_000;
    agrees_with_the_schema_of_2025_06_18: V2025_06_18, types 91, samples 400, mutations 31_000, wrong 19_000;
    agrees_with_the_schema_of_2025_11_25: V2025_11_25, types 145, samples 750, mutations 76_000, wrong 49_000;
    agrees_with_the_schema_of_2026_07_28: V2026_07_28, types 155, samples 900, mutations 125_000, wrong 89_000;
}

#[test]
fn accepts_every_official_example() {
    let Some(dir) = spec_dir() else { return };
    let revision = Revision::V2026_07_28;
    let schema = Schema::load(&dir, revision);
    let checker = Checker::for_revision(revision);
    let (mut folders, mut files) = (0, 0);
    for folder in std::fs::read_dir(dir.join(format!("examples-{revision}"))).unwrap() {
        let name = folder.unwrap().file_name().into_string().unwrap();
        let validator = schema.validator(&name);
        folders += 1;
        for example in examples(&dir, revision, &name) {
            files += 1;
            assert!(validator.is_valid(&example), "{name}: {example}");
            let json = RawJson::from(&example);
            let found = checker.check_type(&name, json.view()).unwrap();
            assert!(found.is_empty(), "{name}: {found:?}");
        }
    }
    assert!(folders >= 88, "{folders}");
    assert!(files >= 100, "{files}");
}
