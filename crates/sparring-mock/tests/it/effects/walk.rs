//! Walks a grammar: lists every key at every place, and compares that list with the cases that
//! show an effect of each key. The tests of suites use it as well.
//!
//! A place is an object of the grammar. An object that several keys hold is one place only if
//! the list of shared objects names it; otherwise it is one place for each key.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};
use sparring_script::casing::to_snake_case;
use sparring_script::{Node, Source};

/// The keys of each place.
pub(crate) type Places = BTreeMap<String, BTreeSet<String>>;

/// The beginning of the text for a file that cannot be loaded.
pub(crate) const REFUSED: &str = "refused: ";

/// A case: a file with a key and the same file without it, which lead to different texts.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) place: String,
    pub(crate) key: String,
    pub(crate) with: Value,
    pub(crate) without: Value,
    /// The case, its group and the frame of its place, merged. Only the file with the key
    /// leads to the text `shows`, and only the one without it to the text `hides`.
    pub(crate) settings: Map<String, Value>,
}

/// Lists the keys of every place. `root` is the name of the top of the file, and `shared` has
/// the objects that the same code reads and runs at every place.
pub(crate) fn places(schema: &Value, root: &str, shared: &[&str]) -> Places {
    let mut holders: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut objects = vec![(root.to_owned(), schema)];
    let none = Map::new();
    let defs = schema["$defs"].as_object().unwrap_or(&none);
    objects.extend(defs.iter().map(|(name, object)| (name.clone(), object)));
    for (name, object) in &objects {
        for (key, value) in snake_properties(object) {
            let mut held = BTreeSet::new();
            references(value, &mut held);
            for object in held {
                holders.entry(object).or_default().insert(format!("{name}.{key}"));
            }
        }
    }
    for name in shared {
        let count = holders.get(*name).map_or(0, BTreeSet::len);
        assert!(count > 1, "`{name}` has {count} places, so it is not shared");
    }
    let mut places = Places::new();
    for (name, object) in objects {
        let keys: BTreeSet<String> = snake_properties(object).map(|(key, _)| key).collect();
        match holders.get(&name).filter(|all| all.len() > 1 && !shared.contains(&&*name)) {
            None => drop(places.insert(name, keys)),
            Some(all) => places.extend(all.iter().map(|holder| (holder.clone(), keys.clone()))),
        }
    }
    places
}

fn snake_properties(object: &Value) -> impl Iterator<Item = (String, &Value)> {
    let properties = object["properties"].as_object().into_iter().flatten();
    let is_snake = |(key, _): &(&String, &Value)| to_snake_case(key) == **key;
    properties.filter(is_snake).map(|(key, value)| (key.clone(), value))
}

/// Collects the objects that a schema refers to.
fn references(schema: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(map) => map.iter().for_each(|(key, value)| match (&**key, value.as_str()) {
            ("$ref", Some(name)) => {
                found.insert(name.trim_start_matches("#/$defs/").to_owned());
            }
            _ => references(value, found),
        }),
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}

/// Reads files of cases below `folder`. Each has `frames`, a file with a hole for each place, and `cases`,
/// groups of keys at one or more places.
pub(crate) fn read_cases(folder: &str, files: &[&str]) -> Vec<Case> {
    let read = |name: &&str| {
        let path = format!("{folder}/{name}");
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let node = Node::parse(&Source::new(path, text));
        node.unwrap_or_else(|problems| panic!("{problems}")).to_json()
    };
    let files: Vec<Value> = files.iter().map(read).collect();
    let mut frames = Map::new();
    for file in &files {
        frames.extend(file["frames"].as_object().cloned().unwrap_or_default());
    }
    let mut cases = Vec::new();
    for group in files.iter().flat_map(|file| file["cases"].as_array().unwrap()) {
        let at = &group["at"];
        let at = at.as_array().map_or_else(|| std::slice::from_ref(at), |all| &**all);
        for place in at.iter().map(|place| place.as_str().unwrap()) {
            let frame = frames.get(place).unwrap_or_else(|| panic!("no frame for `{place}`"));
            for (key, case) in group["keys"].as_object().unwrap() {
                cases.push(Case::new(place, key, frame, group, case));
            }
        }
    }
    cases
}

impl Case {
    fn new(place: &str, key: &str, frame: &Value, group: &Value, case: &Value) -> Case {
        let mut settings = Map::new();
        for part in [frame, group, case] {
            let own = part.as_object().unwrap_or_else(|| panic!("`{key}` of `{place}`: {part}"));
            settings.extend(own.clone());
        }
        // A case may be for a key beside another one of the same name: `text 2`.
        let key = key.split(' ').next().unwrap_or_default().to_owned();
        let both = settings.get("and").and_then(Value::as_object).cloned().unwrap_or_default();
        let (mut with, mut without) = (both.clone(), both);
        with.insert(key.clone(), settings["is"].clone());
        without
            .extend(settings.get("else").and_then(Value::as_object).cloned().unwrap_or_default());
        let mut file = settings["file"].clone();
        for (name, value) in settings.get("top").and_then(Value::as_object).into_iter().flatten() {
            file[name] = value.clone();
        }
        Case {
            place: place.to_owned(),
            with: fill(&file, &with),
            without: fill(&file, &without),
            key,
            settings,
        }
    }

    /// Compares the texts to which both files lead.
    pub(crate) fn check(&self, with: &str, without: &str) -> Result<(), String> {
        let Case { place, key, .. } = self;
        let complain = |what: String| {
            Err(format!("`{key}` of `{place}`: {what}\nwith it:\n{with}\nwithout it:\n{without}\n"))
        };
        let text = |name: &str| self.settings.get(name).and_then(Value::as_str);
        let (shows, hides) = (text("shows"), text("hides"));
        if shows.is_none() && hides.is_none() {
            return complain("the case has neither `shows` nor `hides`".to_owned());
        }
        if with.starts_with(REFUSED) || without.starts_with(REFUSED) {
            return complain("a file of the case is refused".to_owned());
        }
        for (text, having, lacking) in [(shows, with, without), (hides, without, with)] {
            let Some(text) = text else { continue };
            if !having.contains(text) {
                return complain(format!("`{text}` is missing"));
            }
            if lacking.contains(text) {
                return complain(format!("the key has no effect: both have `{text}`"));
            }
        }
        Ok(())
    }
}

/// Merges keys into the map that has the key `here`.
fn fill(file: &Value, keys: &Map<String, Value>) -> Value {
    match file {
        Value::Object(map) if map.contains_key("here") => {
            let mut filled = keys.clone();
            for (key, value) in map.iter().filter(|(key, _)| *key != "here") {
                filled.entry(key).or_insert_with(|| value.clone());
            }
            Value::Object(filled)
        }
        Value::Object(map) => {
            json!(
                map.iter().map(|(key, value)| (key, fill(value, keys))).collect::<BTreeMap<_, _>>()
            )
        }
        Value::Array(items) => items.iter().map(|item| fill(item, keys)).collect(),
        other => other.clone(),
    }
}

/// Checks that each key at each place has a case or is listed as one without, and that each
/// case and each entry of that list is about a key that exists.
pub(crate) fn check_complete(places: &Places, cases: &[Case], without_case: &[(&str, &str)]) {
    let known: BTreeSet<(&str, &str)> = places
        .iter()
        .flat_map(|(place, keys)| keys.iter().map(move |key| (&**place, &**key)))
        .collect();
    let covered: BTreeSet<(&str, &str)> =
        cases.iter().map(|case| (&*case.place, &*case.key)).collect();
    let listed: BTreeSet<(&str, &str)> = without_case.iter().copied().collect();
    let mut wrong = Vec::new();
    for (place, key) in known.difference(&covered).filter(|pair| !listed.contains(*pair)) {
        wrong.push(format!("no case shows an effect of `{key}` of `{place}`"));
    }
    for (place, key) in covered.difference(&known) {
        wrong.push(format!("a case is about `{key}` of `{place}`, which does not exist"));
    }
    for (place, key) in listed.difference(&known) {
        wrong.push(format!("`{key}` of `{place}` is listed without a case, and does not exist"));
    }
    for (place, key) in listed.intersection(&covered) {
        wrong.push(format!("`{key}` of `{place}` has a case; remove it from the list"));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
