//! Faults that a link applies to a response on purpose. The link applies them to
//! the bytes just before it writes them, so that its recorder records what was
//! sent. A link ignores faults that it does not support.

use sparring_wire::{Frame, RawJson};

/// The faults of one response. Without faults it allocates nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Faults(Option<Box<Fault>>);

/// All faults that one response can have.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fault {
    /// Replaces the bytes of the response.
    pub change: Option<Change>,
    /// Sends the response twice.
    pub twice: bool,
    /// Sends a line that is not a frame before the response, on links of lines.
    pub noise: Option<Vec<u8>>,
    /// Closes the connection.
    pub cut: Option<Cut>,
    /// Limits the rate to this many bytes a second, on links that write bytes.
    pub slow: Option<u64>,
    /// Sends the response even if the request was cancelled, on a shared channel.
    pub late: bool,
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
pub enum Change {
    /// Exactly these bytes.
    Bytes(Vec<u8>),
    /// The first half of the response.
    Half,
    /// The response with another id.
    Id(RawJson),
    /// The response, padded to this many bytes.
    Size(usize),
}

/// When the connection is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
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
    /// the frame itself. With [`Cut::Middle`] the connection closes in the middle
    /// of the last one.
    pub fn applied_to(&self, frame: &Frame) -> Vec<Frame> {
        let Some(fault) = self.get() else { return vec![frame.clone()] };
        let frame = match &fault.change {
            Some(change) => change.apply(frame),
            None => frame.clone(),
        };
        match (fault.cut, fault.twice) {
            (Some(Cut::Before), _) => Vec::new(),
            (Some(Cut::Middle), _) => vec![first_half(&frame)],
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

impl Change {
    fn apply(&self, frame: &Frame) -> Frame {
        match self {
            Change::Bytes(bytes) => Frame::parse(bytes.clone()),
            Change::Half => first_half(frame),
            Change::Id(id) => {
                let text = String::from_utf8_lossy(frame.bytes());
                match RawJson::parse(&text) {
                    Ok(json) => Frame::parse(json.with_member("id", id.view()).text()),
                    Err(_) => frame.clone(),
                }
            }
            // JSON allows any amount of white space.
            Change::Size(size) => {
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
        let frame = Frame::result_of(&Id::from(1), Json::EMPTY_OBJECT, &[]);
        let frames = Faults::from(fault).applied_to(&frame);
        frames.iter().map(|it| String::from_utf8_lossy(it.bytes()).into_owned()).collect()
    }

    #[test]
    fn each_fault_changes_the_written_frames() {
        let good = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
        let change = |change| Fault { change: Some(change), ..Fault::default() };
        let cut = |cut| Fault { cut: Some(cut), ..Fault::default() };
        assert_eq!(write_with(Fault::default()), [good]);
        assert_eq!(write_with(change(Change::Bytes(b"x".to_vec()))), ["x"]);
        assert_eq!(write_with(change(Change::Half)), [&good[..18]]);
        let foreign = RawJson::parse("\"other\"").unwrap();
        let other = r#"{"jsonrpc":"2.0","result":{},"id":"other"}"#;
        assert_eq!(write_with(change(Change::Id(foreign))), [other]);
        let long = write_with(change(Change::Size(100)));
        assert!(long[0].len() == 100 && long[0].ends_with(" }"), "{long:?}");
        assert_eq!(write_with(Fault { twice: true, ..Fault::default() }), [good, good]);
        assert_eq!(write_with(cut(Cut::Before)), [""; 0]);
        assert_eq!(write_with(cut(Cut::Middle)), [&good[..18]]);
        assert_eq!(write_with(cut(Cut::After)), [good]);
    }
}
