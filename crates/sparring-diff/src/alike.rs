//! How alike two names are, for telling which one was meant.

/// How alike two names are, from 0 to 1 and whatever their case: by the letters that
/// both have near the same place, and by how many of these have changed places. It is
/// the measure of Jaro.
pub fn alike(one: &str, other: &str) -> f64 {
    let letters = |name: &str| name.to_lowercase().chars().collect::<Vec<char>>();
    let (one, other) = (letters(one), letters(other));
    if one.is_empty() && other.is_empty() {
        return 1.0;
    }
    let reach = (one.len().max(other.len()) / 2).saturating_sub(1);
    let mut taken = vec![false; other.len()];
    let mut common = Vec::new();
    for (at, letter) in one.iter().enumerate() {
        let mut near = at.saturating_sub(reach)..other.len().min(at + reach + 1);
        if let Some(place) = near.find(|place| !taken[*place] && other[*place] == *letter) {
            taken[place] = true;
            common.push(letter);
        }
    }
    if common.is_empty() {
        return 0.0;
    }
    let theirs = other.iter().zip(&taken).filter(|(_, taken)| **taken).map(|(letter, _)| letter);
    let swapped = common.iter().zip(theirs).filter(|(ours, theirs)| **ours != *theirs).count() / 2;
    let part = |count: usize, of: usize| count as f64 / of as f64;
    let common = common.len();
    (part(common, one.len()) + part(common, other.len()) + part(common - swapped, common)) / 3.0
}

#[cfg(test)]
mod tests {
    use super::alike;

    #[test]
    fn names_are_as_alike_as_jaro_says() {
        for (one, other, expected) in [
            ("", "", 1.0),
            ("", "a", 0.0),
            ("a", "A", 1.0),
            ("ab", "cd", 0.0),
            ("martha", "marhta", 0.944),
            ("dixon", "dicksonx", 0.767),
            ("CRATE", "trace", 0.733),
            ("jones", "johnson", 0.790),
            ("\u{e4}\u{f6}", "\u{e4}\u{fc}", 0.667),
        ] {
            for (one, other) in [(one, other), (other, one)] {
                let found = alike(one, other);
                assert!((found - expected).abs() < 0.001, "{one} and {other}: {found}");
            }
        }
    }
}
