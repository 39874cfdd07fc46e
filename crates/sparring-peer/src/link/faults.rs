//! Faults that a link applies to a response on purpose. The link applies them to
//! the bytes just before it writes them, so that its recorder records the bytes
//! that were sent. A link ignores faults that it does not support.

use sparring_wire::{Frame, RawJson};

/// The faults of one response. Without faults it allocates nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Faults(Option<Box<Fault>>);

/// All faults that one response can have.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fault {
    /// Replaces the bytes of the response.
    pub replacement: Option<Replacement>,
    /// Sends the response twice.
    pub duplicate: bool,
    /// Sends a line that is not a frame before the response, on links of lines.
    pub noise: Option<Vec<u8>>,
    /// Closes the connection.
    pub disconnect: Option<Disconnect>,
    /// Limits the rate to this many bytes a second, on links that write bytes.
    pub bytes_per_second: Option<u64>,
    /// Sends the response even if the request was cancelled, on a shared channel.
    pub ignore_cancellation: bool,
    /// The HTTP status of the response.
    pub status: Option<u16>,
    /// The HTTP content type of the response.
    pub content_type: Option<String>,
    /// Answers with an HTTP stream that ends before the response.
    pub drop_stream: bool,
    /// Ends the HTTP session with the response.
    pub end_session: bool,
}

/// The bytes to send instead of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Replacement {
    /// Exactly these bytes.
    Bytes(Vec<u8>),
    /// The first half of the response.
    Half,
    /// The response with another id.
    Id(RawJson),
    /// The response, padded to this many bytes.
    Size(usize),
}

/// The time at which the connection is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disconnect {
    /// Before the response.
    Before,
    /// In the middle of the response.
    Middle,
    /// After the response.
    After,
}

impl Faults {
    /// No faults.
    pub const fn none() -> Self {
        Faults(None)
    }

    /// Returns the faults, if there are any.
    pub fn get(&self) -> Option<&Fault> {
        self.0.as_deref()
    }

    /// Returns the frames to write in place of a frame. Without faults that is
    /// the frame itself. With [`Disconnect::Middle`] the connection closes in the middle
    /// of the last one.
    pub fn apply(&self, frame: &Frame) -> Vec<Frame> {
        let Some(fault) = self.get() else { return vec![frame.clone()] };
        let frame = match &fault.replacement {
            Some(change) => change.apply(frame),
            None => frame.clone(),
        };
        match (fault.disconnect, fault.duplicate) {
            (Some(Disconnect::Before), _) => Vec::new(),
            (Some(Disconnect::Middle), _) => vec![first_half(&frame)],
            (_, true) => vec![frame.clone(), frame],
            (_, false) => vec![frame],
        }
    }
}

impl From<Fault> for Faults {
    fn from(fault: Fault) -> Self {
        Faults((fault != Fault::default()).then(|| Box::new(fault)))
    }
}

impl Replacement {
    fn apply(&self, frame: &Frame) -> Frame {
        match self {
            Replacement::Bytes(bytes) => Frame::parse(bytes.clone()),
            Replacement::Half => first_half(frame),
            Replacement::Id(id) => {
                let text = String::from_utf8_lossy(frame.bytes());
                match RawJson::parse(&text) {
                    Ok(json) => Frame::parse(json.with_member("id", id.view()).text()),
                    Err(_) => frame.clone(),
                }
            }
            // JSON allows any amount of white space.
            Replacement::Size(size) => {
                let mut bytes = frame.bytes().to_vec();
                let last = bytes.pop();
                bytes.resize((*size).saturating_sub(1).max(bytes.len()), b' ');
                bytes.extend(last);
                Frame::parse(bytes)
            }
        }
    }
}

fn first_half(frame: &Frame) -> Frame {
    Frame::parse(frame.bytes()[..frame.bytes().len() / 2].to_vec())
}

#[cfg(test)]
mod tests {
    use sparring_wire::{Id, Json};

    use super::*;

    fn write_with(fault: Fault) -> Vec<String> {
        let frame = Frame::result_response(&Id::from(1), Json::EMPTY_OBJECT, &[]);
        let frames = Faults::from(fault).apply(&frame);
        frames.iter().map(|it| String::from_utf8_lossy(it.bytes()).into_owned()).collect()
    }

    #[test]
    fn each_fault_changes_the_written_frames() {
        let good = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
        let change = |change| Fault { replacement: Some(change), ..Fault::default() };
        let cut = |cut| Fault { disconnect: Some(cut), ..Fault::default() };
        assert_eq!(write_with(Fault::default()), [good]);
        assert_eq!(write_with(change(Replacement::Bytes(b"x".to_vec()))), ["x"]);
        assert_eq!(write_with(change(Replacement::Half)), [&good[..18]]);
        let foreign = RawJson::parse("\"other\"").unwrap();
        let other = r#"{"jsonrpc":"2.0","result":{},"id":"other"}"#;
        assert_eq!(write_with(change(Replacement::Id(foreign))), [other]);
        let long = write_with(change(Replacement::Size(100)));
        assert!(long[0].len() == 100 && long[0].ends_with(" }"), "{long:?}");
        assert_eq!(write_with(Fault { duplicate: true, ..Fault::default() }), [good, good]);
        assert_eq!(write_with(cut(Disconnect::Before)), [""; 0]);
        assert_eq!(write_with(cut(Disconnect::Middle)), [&good[..18]]);
        assert_eq!(write_with(cut(Disconnect::After)), [good]);
    }
}
