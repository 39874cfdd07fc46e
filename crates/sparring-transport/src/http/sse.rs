//! Parses and writes server-sent events.
//!
//! Follows the standard for the stream (BOM, all three line ends, comments, unknown fields).
//! Does not interpret the events, and never waits.

use std::time::Duration;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Event {
    /// Its type, if named.
    pub name: Option<String>,
    /// Its data lines, joined by line feeds, if any.
    pub data: Option<Vec<u8>>,
    /// The id that it sets; an empty one clears the previous id.
    pub id: Option<String>,
    /// The wait before reconnecting, if given.
    pub retry: Option<Duration>,
}

/// An event exceeds the limit, so the stream cannot be read any further.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event of more than {limit} bytes")]
pub struct TooLong {
    /// The limit in bytes.
    pub limit: usize,
}

/// Turns bytes into events as they arrive.
#[derive(Debug)]
pub struct Parser {
    /// The incomplete line.
    line: Vec<u8>,
    event: Event,
    /// The bytes of the event so far.
    size: usize,
    limit: usize,
    begun: bool,
    /// True if the last byte was a carriage return, which a line feed may follow.
    after_return: bool,
}

impl Parser {
    /// Creates a parser for a new stream, with a limit for each event in bytes.
    pub fn new(limit: usize) -> Self {
        Parser {
            line: Vec::new(),
            event: Event::default(),
            size: 0,
            limit,
            begun: false,
            after_return: false,
        }
    }

    /// Parses more bytes and calls `each` with every complete event.
    ///
    /// # Errors
    /// When an event is too long; the rest of the stream cannot be read.
    pub fn feed(&mut self, mut bytes: &[u8], mut each: impl FnMut(Event)) -> Result<(), TooLong> {
        if std::mem::take(&mut self.after_return) && bytes.first() == Some(&b'\n') {
            bytes = &bytes[1..];
        }
        while let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (line, rest) = (&bytes[..end], &bytes[end + 1..]);
            self.count(line.len() + 1)?;
            match self.line.is_empty() {
                true => self.end_line(line, &mut each),
                false => {
                    self.line.extend_from_slice(line);
                    let line = std::mem::take(&mut self.line);
                    self.end_line(&line, &mut each);
                }
            }
            bytes = match (bytes[end], rest.first()) {
                (b'\r', Some(b'\n')) => &rest[1..],
                (b'\r', None) => {
                    self.after_return = true;
                    rest
                }
                _ => rest,
            };
        }
        self.count(bytes.len())?;
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    /// Returns true if the stream is in the middle of an event.
    pub fn is_within_event(&self) -> bool {
        !self.line.is_empty() || self.event != Event::default()
    }

    fn count(&mut self, bytes: usize) -> Result<(), TooLong> {
        self.size += bytes;
        match self.size > self.limit {
            true => Err(TooLong { limit: self.limit }),
            false => Ok(()),
        }
    }

    fn end_line(&mut self, line: &[u8], each: &mut impl FnMut(Event)) {
        let line = match std::mem::replace(&mut self.begun, true) {
            false => line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line),
            true => line,
        };
        if line.is_empty() {
            self.size = 0;
            let event = std::mem::take(&mut self.event);
            if event != Event::default() {
                each(event);
            }
            return;
        }
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => {
                let value = &line[colon + 1..];
                (&line[..colon], value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, &b""[..]),
        };
        let text = || String::from_utf8_lossy(value).into_owned();
        match field {
            // A comment; servers send them to keep a connection alive.
            b"" if self.event == Event::default() => self.size = 0,
            b"event" => self.event.name = Some(text()),
            b"data" => match &mut self.event.data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                data => *data = Some(value.to_vec()),
            },
            b"id" if !value.contains(&0) => self.event.id = Some(text()),
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                self.event.retry = text().parse().ok().map(Duration::from_millis);
            }
            _ => {}
        }
    }
}

impl Event {
    /// Creates an event of the default type with this data.
    pub fn data(data: impl Into<Vec<u8>>) -> Self {
        Event { data: Some(data.into()), ..Event::default() }
    }

    /// Writes the event with the blank line that ends it.
    pub fn write(&self, out: &mut Vec<u8>) {
        let mut field = |name: &str, value: &[u8]| {
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b": ");
            out.extend_from_slice(value);
            out.push(b'\n');
        };
        if let Some(name) = &self.name {
            field("event", name.as_bytes());
        }
        if let Some(id) = &self.id {
            field("id", id.as_bytes());
        }
        if let Some(retry) = self.retry {
            field("retry", retry.as_millis().to_string().as_bytes());
        }
        if let Some(data) = &self.data {
            // Any of the three line ends would end the field.
            for line in data.split(|byte| matches!(byte, b'\n' | b'\r')) {
                field("data", line);
            }
        }
        out.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(pieces: &[&[u8]]) -> Vec<Event> {
        let mut parser = Parser::new(1_000);
        let mut events = Vec::new();
        for piece in pieces {
            parser.feed(piece, |event| events.push(event)).expect("within the limit");
        }
        events
    }

    #[test]
    fn reads_all_fields_from_any_chunks() {
        let text = b"\xEF\xBB\xBF: hello\r\nevent: endpoint\rid: 7\nretry: 250\ndata: {\ndata:  1}\r\n\r\ndata\n\n:\n\nretry: x\nunknown: 1\n\n";
        let whole = parse(&[text]);
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(whole, parse(&bytes));
        assert_eq!(
            whole,
            [
                Event {
                    name: Some("endpoint".to_owned()),
                    data: Some(b"{\n 1}".to_vec()),
                    id: Some("7".to_owned()),
                    retry: Some(Duration::from_millis(250)),
                },
                Event { data: Some(Vec::new()), ..Event::default() },
            ]
        );
    }

    #[test]
    fn an_unfinished_event_is_not_delivered() {
        let mut parser = Parser::new(1_000);
        parser.feed(b"data: half", |_| panic!("no event")).expect("within the limit");
        assert!(parser.is_within_event());
        let mut parser = Parser::new(1_000);
        parser.feed(b"data: whole\n\n: ping\n", |_| ()).expect("within the limit");
        assert!(!parser.is_within_event());
    }

    #[test]
    fn an_event_has_a_limit_and_comments_do_not_add_up() {
        let mut parser = Parser::new(20);
        for _ in 0..100 {
            parser.feed(b": still here\n", |_| ()).expect("a comment is no event");
        }
        assert_eq!(parser.feed(&[b'x'; 21], |_| ()), Err(TooLong { limit: 20 }));
        let mut parser = Parser::new(20);
        parser.feed(b"data: 123456789\n", |_| ()).expect("within the limit");
        assert!(parser.feed(b"data: 1\n", |_| ()).is_err());
    }

    #[test]
    fn parses_the_events_that_it_writes() {
        let event = Event {
            name: Some("message".to_owned()),
            data: Some(b"a\nb\n".to_vec()),
            id: Some("1-2".to_owned()),
            retry: Some(Duration::from_secs(1)),
        };
        let mut out = Vec::new();
        event.write(&mut out);
        assert_eq!(parse(&[&out]), [event]);
    }
}
