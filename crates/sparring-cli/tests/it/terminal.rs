//! A terminal that the program writes to, and what stands on it.

use std::fs::{File, OpenOptions};
use std::io::{BufReader, Read as _};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// A pair: what the program writes to, and where we read it. Reading ends once
/// nobody can write any more.
pub(crate) fn terminal() -> (File, BufReader<File>) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let terminal = OpenOptions::new().read(true).write(true).open(name).unwrap();
    (terminal, BufReader::new(File::from(master)))
}

/// Everything that comes until nobody writes any more.
pub(crate) fn read_all(mut screen: BufReader<File>) -> String {
    let (mut all, mut some) = (Vec::new(), [0; 4096]);
    // The end of a terminal is an error to read.
    while let Ok(count @ 1..) = screen.read(&mut some) {
        all.extend_from_slice(&some[..count]);
    }
    String::from_utf8_lossy(&all).into_owned()
}
