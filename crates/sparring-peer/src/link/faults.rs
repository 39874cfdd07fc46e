//! What may go wrong with an answer on its way out, on purpose. A link does it
//! to the bytes just before it writes them, so that what it records is what was
//! sent; what it has no means for, it leaves out.

use sparring_wire::{Frame, RawJson};

/// What is to go wrong with one answer; mostly nothing, which costs nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Faults(Option<Box<Fault>>);

/// Everything that can go wrong with one answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fault {
    /// Other bytes than those of the answer.
    pub change: Option<Change>,
    /// The answer comes twice.
    pub twice: bool,
    /// A line that is no frame comes before it, where frames are lines.
    pub noise: Option<Vec<u8>>,
    /// The connection ends.
    pub cut: Option<Cut>,
    /// So many bytes a second, where a link writes bytes.
    pub slow: Option<u64>,
    /// The answer comes although it was cancelled, on a shared channel.
    pub late: bool,
    /// The status of the answer, over HTTP.
    pub status: Option<u16>,
    /// The content type of the answer, over HTTP.
    pub content_type: Option<String>,
    /// The answer is a stream that ends before it comes, over HTTP.
    pub drop_stream: bool,
    /// The session ends with the answer, over HTTP.
    pub end_session: bool,
}

/// What is sent instead of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Exactly these bytes.
    Bytes(Vec<u8>),
    /// Its first half.
    Half,
    /// The same with another id.
    Id(RawJson),
    /// The same, but so long.
    Size(usize),
}

/// When the connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// Before anything of the answer.
    Before,
    /// In the middle of it.
    Middle,
    /// After all of it.
    After,
}

impl Faults {
    /// Nothing goes wrong.
    pub const fn none() -> Self {
        Faults(None)
    }

    /// What goes wrong, if anything does.
    pub fn get(&self) -> Option<&Fault> {
        self.0.as_deref()
    }

    /// What to write in place of a frame: it alone, where nothing is wrong.
    /// In the middle of the last the connection may end.
    pub fn applied_to(&self, frame: &Frame) -> Vec<Frame> {
        let Some(fault) = self.get() else { return vec![frame.clone()] };
        let frame = match &fault.change {
            Some(change) => change.of(frame),
            None => frame.clone(),
        };
        match (fault.cut, fault.twice) {
            (Some(Cut::Before), _) => Vec::new(),
            (Some(Cut::Middle), _) => vec![half(&frame)],
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
    fn of(&self, frame: &Frame) -> Frame {
        match self {
            Change::Bytes(bytes) => Frame::parse(bytes.clone()),
            Change::Half => half(frame),
            Change::Id(id) => {
                let text = String::from_utf8_lossy(frame.bytes());
                match RawJson::parse(&text) {
                    Ok(json) => Frame::parse(json.with_member("id", id.view()).text()),
                    Err(_) => frame.clone(),
                }
            }
            // White space is what JSON has most room for.
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

fn half(frame: &Frame) -> Frame {
    Frame::parse(frame.bytes()[..frame.bytes().len() / 2].to_vec())
}

#[cfg(test)]
mod tests {
    use sparring_wire::{Id, Json};

    use super::*;

    fn written(fault: Fault) -> Vec<String> {
        let frame = Frame::result_of(&Id::from(1), Json::EMPTY_OBJECT, &[]);
        let frames = Faults::from(fault).applied_to(&frame);
        frames.iter().map(|it| String::from_utf8_lossy(it.bytes()).into_owned()).collect()
    }

    #[test]
    fn what_is_written_is_what_was_asked_for() {
        let good = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
        let change = |change| Fault { change: Some(change), ..Fault::default() };
        let cut = |cut| Fault { cut: Some(cut), ..Fault::default() };
        assert_eq!(written(Fault::default()), [good]);
        assert_eq!(written(change(Change::Bytes(b"x".to_vec()))), ["x"]);
        assert_eq!(written(change(Change::Half)), [&good[..18]]);
        let foreign = RawJson::parse("\"other\"").unwrap();
        let other = r#"{"jsonrpc":"2.0","result":{},"id":"other"}"#;
        assert_eq!(written(change(Change::Id(foreign))), [other]);
        let long = written(change(Change::Size(100)));
        assert!(long[0].len() == 100 && long[0].ends_with(" }"), "{long:?}");
        assert_eq!(written(Fault { twice: true, ..Fault::default() }), [good, good]);
        assert_eq!(written(cut(Cut::Before)), [""; 0]);
        assert_eq!(written(cut(Cut::Middle)), [&good[..18]]);
        assert_eq!(written(cut(Cut::After)), [good]);
    }
}
