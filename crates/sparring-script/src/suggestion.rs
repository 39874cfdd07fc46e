//! Suggests known names that are similar to an unknown one.

/// The minimum similarity of a suggested name, from 0 to 1.
const MIN_SIMILARITY: f64 = 0.7;

/// The minimum part of a name that must stay if it is edited to a suggested one. One edit is
/// always allowed.
const MIN_KEPT_PART: f64 = 0.5;

/// The maximum difference in similarity between the best suggestion and another one.
const MAX_DIFFERENCE: f64 = 0.15;

/// The maximum number of suggested names.
const MAX_SUGGESTIONS: usize = 3;

/// The number of known names that are compared. Names may come from a server.
const MAX_KNOWN: usize = 10_000;

/// The longest name that is compared, in bytes.
const MAX_NAME_BYTES: usize = 200;

/// Returns the known names that are similar to `name`, the most similar first.
pub fn nearest_names<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    rank_names(name, known.into_iter().collect())
}

/// Returns `did you mean 'a' or 'b'?` if known names are similar to `name`.
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    render_suggestion(name, known.into_iter().collect())
}

fn rank_names<'a>(name: &str, known: Vec<&'a str>) -> Vec<&'a str> {
    if name.len() > MAX_NAME_BYTES {
        return Vec::new();
    }
    let mut similar: Vec<(f64, &str)> = known
        .into_iter()
        .take(MAX_KNOWN)
        .filter(|candidate| candidate.len() <= MAX_NAME_BYTES)
        .map(|candidate| (similarity(name, candidate), candidate))
        .filter(|(similarity, candidate)| {
            *similarity > MIN_SIMILARITY && is_short_edit(name, candidate)
        })
        .collect();
    similar.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let best = similar.first().map_or(0.0, |(similarity, _)| *similarity);
    similar.retain(|(similarity, _)| best - similarity < MAX_DIFFERENCE);
    similar.into_iter().map(|(_, name)| name).take(MAX_SUGGESTIONS).collect()
}

/// Returns the similarity of two names from 0 to 1, ignoring case.
fn similarity(one: &str, other: &str) -> f64 {
    strsim::jaro(&one.to_lowercase(), &other.to_lowercase())
}

/// Returns true if few edits turn one name into the other, ignoring case. Names with the same
/// letters in another order are not similar: `args` and `tags`.
fn is_short_edit(one: &str, other: &str) -> bool {
    let (one, other) = (one.to_lowercase(), other.to_lowercase());
    let edits = strsim::osa_distance(&one, &other);
    let length = one.chars().count().max(other.chars().count());
    edits <= 1 || (edits as f64) < (length as f64) * (1.0 - MIN_KEPT_PART)
}

fn render_suggestion(name: &str, known: Vec<&str>) -> Option<String> {
    suggest_names(&rank_names(name, known))
}

/// Renders suggested names; `None` without any.
pub(crate) fn suggest_names(names: &[&str]) -> Option<String> {
    let names: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    (!names.is_empty()).then(|| format!("did you mean {}?", names.join(" or ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compares_only_short_names_and_not_too_many() {
        let long = "a".repeat(MAX_NAME_BYTES + 1);
        assert!(nearest_names(&long, [&*long]).is_empty());
        assert!(nearest_names("aaa", [&*long]).is_empty());
        let many: Vec<String> = (0..MAX_KNOWN).map(|at| format!("#{at}")).collect();
        let many = many.iter().map(String::as_str);
        assert_eq!(nearest_names("echo", many.clone().skip(1).chain(["echo"])), ["echo"]);
        assert!(nearest_names("echo", many.chain(["echo"])).is_empty());
    }

    #[test]
    fn suggests_similar_names_with_the_most_similar_first() {
        let known = ["echo", "add", "Echo2", "get-resource"];
        assert_eq!(nearest_names("ehco", known), ["echo", "Echo2"]);
        assert_eq!(nearest_names("zzz", known), Vec::<&str>::new());
        assert_eq!(nearest_names("args", ["tags", "cases"]), Vec::<&str>::new());
        let rules = ["wire/not-an-object", "wire/not-json"];
        assert_eq!(nearest_names("wire/not-jsn", rules), ["wire/not-json"]);
        assert_eq!(nearest_names("naem", ["name", "mean"]), ["name"]);
        assert_eq!(did_you_mean("ecko", known).as_deref(), Some("did you mean 'echo' or 'Echo2'?"));
    }
}
