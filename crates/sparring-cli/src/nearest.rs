//! The names that somebody may have meant.

/// How alike two names must be.
const ALIKE: f64 = 0.7;

/// The most names that are offered.
const MOST: usize = 3;

/// The known names most like the given one, the likest first.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let lower = name.to_lowercase();
    let mut alike: Vec<(f64, &str)> = known
        .map(|candidate| (strsim::jaro(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(alike, _)| *alike > ALIKE)
        .collect();
    alike.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    alike.into_iter().map(|(_, name)| name).take(MOST).collect()
}

/// `did you mean 'a' or 'b'?`, where there is something to offer.
pub(crate) fn question<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let names: Vec<String> = nearest(name, known).iter().map(|name| format!("'{name}'")).collect();
    (!names.is_empty()).then(|| format!("did you mean {}?", names.join(" or ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_likest_name_comes_first_and_strangers_are_left_out() {
        let known = ["echo", "add", "Echo2", "get-resource"];
        assert_eq!(nearest("ehco", known.into_iter()), ["echo", "Echo2"]);
        assert_eq!(nearest("zzz", known.into_iter()), Vec::<&str>::new());
        assert_eq!(
            question("ecko", known.into_iter()).as_deref(),
            Some("did you mean 'echo' or 'Echo2'?")
        );
    }
}
