//! Masks the secrets in a stream of bytes, also where a secret is divided between two chunks.

use super::Secrets;

/// Masks a stream. It keeps back the end of a chunk only while that may be the beginning of a
/// secret.
#[derive(Debug)]
pub struct SecretStream {
    secrets: Secrets,
    pending: Vec<u8>,
}

impl Secrets {
    /// Masks a stream that arrives in chunks.
    pub fn stream(&self) -> SecretStream {
        SecretStream { secrets: self.clone(), pending: Vec::new() }
    }
}

impl SecretStream {
    /// Adds a chunk, and returns the masked bytes that can be shown now.
    pub fn push(&mut self, chunk: &[u8]) -> Vec<u8> {
        self.pending.extend_from_slice(chunk);
        let end = self.end_of_complete_part();
        let complete: Vec<u8> = self.pending.drain(..end).collect();
        self.secrets.mask_bytes(&complete).into_owned()
    }

    /// Returns the rest at the end of the stream.
    pub fn finish(&mut self) -> Vec<u8> {
        let rest = std::mem::take(&mut self.pending);
        self.secrets.mask_bytes(&rest).into_owned()
    }

    /// Returns the end of the part that no later chunk can change.
    fn end_of_complete_part(&self) -> usize {
        let known = self.secrets.read();
        let Some(matcher) = known.matcher() else { return self.pending.len() };
        let beginning = |form: &Vec<u8>| {
            let lengths = 1..form.len().min(self.pending.len() + 1);
            lengths.rev().find(|length| self.pending.ends_with(&form[..*length]))
        };
        let kept_back = matcher.forms.iter().filter_map(beginning).max().unwrap_or_default();
        let end = self.pending.len() - kept_back;
        let found = matcher.automaton.find_iter(&self.pending);
        // A secret that begins before the end is complete, or it would be kept back as a whole.
        let across = found.filter(|found| found.start() < end).map(|found| found.end()).last();
        across.map_or(end, |across| across.max(end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_a_secret_at_every_border_of_chunks() {
        let secrets = Secrets::default();
        secrets.add("abcabd-secret");
        secrets.add("abcabd");
        let text = b"x abcabcabd-secret abcabd-sec abcab y";
        for first in 0..text.len() {
            for second in first..text.len() {
                let mut stream = secrets.stream();
                let mut masked = stream.push(&text[..first]);
                masked.extend(stream.push(&text[first..second]));
                masked.extend(stream.push(&text[second..]));
                masked.extend(stream.finish());
                let masked = String::from_utf8(masked).expect("it was UTF-8");
                assert_eq!(masked, "x abc(hidden) (hidden)-sec abcab y", "{first} {second}");
            }
        }
    }

    #[test]
    fn shows_text_without_the_beginning_of_a_secret_at_once() {
        let secrets = Secrets::default();
        secrets.add("hunter-two");
        let mut stream = secrets.stream();
        assert_eq!(stream.push(b"Really? [y/N] "), b"Really? [y/N] ");
        assert_eq!(stream.push(b"oh"), b"o");
        assert_eq!(stream.push(b"\n"), b"h\n");
    }
}
