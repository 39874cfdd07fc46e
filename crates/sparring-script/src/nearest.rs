//! The names that somebody may have meant.

/// How alike two names must be.
const ALIKE: f64 = 0.7;

/// The most names that are offered.
const MOST: usize = 3;

/// The known names most like the given one, the likest first.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    nearest_of(name, known.into_iter().collect())
}

/// `did you mean 'a' or 'b'?`, where there is something to offer.
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    did_you_mean_one_of(name, known.into_iter().collect())
}

fn nearest_of<'a>(name: &str, known: Vec<&'a str>) -> Vec<&'a str> {
    let mut alike: Vec<(f64, &str)> = known
        .into_iter()
        .map(|candidate| (similarity(name, candidate), candidate))
        .filter(|(alike, _)| *alike > ALIKE)
        .collect();
    alike.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    alike.into_iter().map(|(_, name)| name).take(MOST).collect()
}

/// How alike two names are, from 0 to 1 and whatever their case.
fn similarity(one: &str, other: &str) -> f64 {
    strsim::jaro(&one.to_lowercase(), &other.to_lowercase())
}

fn did_you_mean_one_of(name: &str, known: Vec<&str>) -> Option<String> {
    let names: Vec<String> =
        nearest_of(name, known).iter().map(|name| format!("'{name}'")).collect();
    (!names.is_empty()).then(|| format!("did you mean {}?", names.join(" or ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_likest_name_comes_first_and_strangers_are_left_out() {
        let known = ["echo", "add", "Echo2", "get-resource"];
        assert_eq!(nearest("ehco", known), ["echo", "Echo2"]);
        assert_eq!(nearest("zzz", known), Vec::<&str>::new());
        assert_eq!(did_you_mean("ecko", known).as_deref(), Some("did you mean 'echo' or 'Echo2'?"));
    }
}
