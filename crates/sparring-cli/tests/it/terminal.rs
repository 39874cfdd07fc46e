//! A terminal that the program writes to.

use std::fs::{File, OpenOptions};
use std::io::{BufReader, Read as _};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// A pair: the program's end, and our end. Reading ends when no process has the other
/// end.
pub(crate) fn terminal() -> (File, BufReader<File>) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let terminal = OpenOptions::new().read(true).write(true).open(name).unwrap();
    (terminal, BufReader::new(File::from(master)))
}

/// Reads until no process has the other end.
pub(crate) fn read_all(mut screen: BufReader<File>) -> String {
    let (mut all, mut some) = (Vec::new(), [0; 4096]);
    // At its end a terminal returns an error.
    while let Ok(count @ 1..) = screen.read(&mut some) {
        all.extend_from_slice(&some[..count]);
    }
    String::from_utf8_lossy(&all).into_owned()
}
