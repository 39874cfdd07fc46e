//! A part of all tests, for machines that share the work.

use std::fmt;
use std::str::FromStr;

/// One of several parts of equal size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Which, from 1.
    number: usize,
    /// Of how many.
    of: usize,
}

/// Why there is no such shard.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoShard(String);

impl Shard {
    /// The shard with this number, from 1, of so many.
    ///
    /// # Errors
    /// When there are not so many.
    pub fn new(number: usize, of: usize) -> Result<Shard, NoShard> {
        match (1..=of).contains(&number) {
            true => Ok(Shard { number, of }),
            false => Err(NoShard(format!("there is no shard {number} of {of}"))),
        }
    }

    pub(super) fn part_of<T>(self, all: &[T]) -> &[T] {
        let end = |number: usize| (all.len() * number).div_ceil(self.of);
        &all[end(self.number - 1)..end(self.number)]
    }
}

/// As `2/5`.
impl FromStr for Shard {
    type Err = NoShard;

    fn from_str(text: &str) -> Result<Shard, NoShard> {
        let parts = text
            .split_once('/')
            .and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        let (number, of) = parts
            .ok_or_else(|| NoShard("a shard is written as 2/5, the second of five".to_owned()))?;
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
    fn together_the_shards_are_everything_once() {
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
    fn what_is_no_shard_is_told() {
        let told = |text: &str| text.parse::<Shard>().unwrap_err().to_string();
        assert_eq!(told("2"), "a shard is written as 2/5, the second of five");
        assert_eq!(told("x/2"), told("2"));
        assert_eq!(told("0/2"), "there is no shard 0 of 2");
        assert_eq!(told("3/2"), "there is no shard 3 of 2");
        assert_eq!("2/2".parse::<Shard>().unwrap().to_string(), "2/2");
    }
}
