//! Splits tests into shards for several machines.

use std::fmt;
use std::str::FromStr;

/// One of several shards of equal size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// The number of the shard, from 1.
    number: usize,
    /// The number of shards.
    of: usize,
}

/// The error of an invalid shard.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidShard(String);

impl Shard {
    /// The shard with this number, from 1, of `of` shards.
    ///
    /// # Errors
    /// When the number is 0 or larger than `of`.
    pub fn new(number: usize, of: usize) -> Result<Shard, InvalidShard> {
        match (1..=of).contains(&number) {
            true => Ok(Shard { number, of }),
            false => Err(InvalidShard(format!("no shard {number} of {of}"))),
        }
    }

    pub(super) fn part_of<T>(self, all: &[T]) -> &[T] {
        let end = |number: usize| (all.len() * number).div_ceil(self.of);
        &all[end(self.number - 1)..end(self.number)]
    }
}

/// Parses `2/5`.
impl FromStr for Shard {
    type Err = InvalidShard;

    fn from_str(text: &str) -> Result<Shard, InvalidShard> {
        let parts = text
            .split_once('/')
            .and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        let (number, of) = parts.ok_or_else(|| {
            InvalidShard("not a shard (write 2/5 for the second of five)".to_owned())
        })?;
        Shard::new(number, of)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_contain_every_test_once() {
        for (tests, of) in [(10, 3), (2, 5), (0, 2), (7, 7), (9, 1)] {
            let all: Vec<usize> = (0..tests).collect();
            let parts = (1..=of).map(|number| Shard::new(number, of).unwrap().part_of(&all));
            let parts: Vec<&[usize]> = parts.collect();
            assert_eq!(parts.concat(), all);
            let sizes = parts.iter().map(|part| part.len());
            assert!(sizes.clone().max().unwrap() - sizes.min().unwrap() <= 1, "{parts:?}");
        }
    }

    #[test]
    fn reports_invalid_shards() {
        let error = |text: &str| text.parse::<Shard>().unwrap_err().to_string();
        assert_eq!(error("2"), "not a shard (write 2/5 for the second of five)");
        assert_eq!(error("x/2"), error("2"));
        assert_eq!(error("0/2"), "no shard 0 of 2");
        assert_eq!(error("3/2"), "no shard 3 of 2");
        assert_eq!("2/2".parse::<Shard>().unwrap().to_string(), "2/2");
    }
}
