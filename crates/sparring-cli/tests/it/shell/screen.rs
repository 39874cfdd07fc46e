//! A terminal with `spar`: types keys, and reads the screen.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Instant;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use super::shell_folder::ShellFolder;
use crate::process::{Running, SPAR, WAIT_LIMIT};

pub(crate) const CTRL_C: &str = "\u{3}";
pub(crate) const CTRL_D: &str = "\u{4}";
pub(crate) const UP: &str = "\u{1b}[A";

/// The terminal controls a session, so that Ctrl+C is a signal.
pub(crate) const CONTROLLED: [&str; 3] = ["setsid", "--ctty", SPAR];

/// `spar` on its own terminal.
pub(crate) struct Screen {
    pub(crate) shell: Running,
    keyboard: File,
    /// The shell's end, to see its mode.
    terminal: File,
    pieces: mpsc::Receiver<Vec<u8>>,
    /// Output that was not matched yet.
    rest: String,
}

impl Screen {
    /// Starts a shell in this folder.
    pub(super) fn start(shell_folder: &ShellFolder, args: &[&str]) -> Screen {
        Screen::run(shell_folder.command(&CONTROLLED, args))
    }

    /// Starts a command that begins with [`CONTROLLED`].
    pub(crate) fn run(mut command: Command) -> Screen {
        let master =
            openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let size = Winsize { ws_row: 40, ws_col: 200, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let terminal = OpenOptions::new().read(true).write(true).open(name).unwrap();
        let end = || Stdio::from(terminal.try_clone().unwrap());
        let child = command.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();
        let keyboard = File::from(master);
        let mut seen = keyboard.try_clone().unwrap();
        let (sender, pieces) = mpsc::channel();
        std::thread::spawn(move || {
            let mut some = [0; 4096];
            while let Ok(count @ 1..) = seen.read(&mut some) {
                if sender.send(some[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        let shell = Running::of(child);
        Screen { shell, keyboard, terminal, pieces, rest: String::new() }
    }

    /// Types text after the next prompt.
    pub(crate) fn enter(&mut self, text: &str) {
        self.see("spar> ");
        self.type_in(text);
    }

    /// Types text now.
    pub(crate) fn type_in(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).unwrap();
    }

    /// Waits until the screen shows this, and returns the output before it.
    pub(crate) fn see(&mut self, text: &str) -> String {
        let until = Instant::now() + WAIT_LIMIT;
        loop {
            if let Some((before, rest)) = self.rest.split_once(text) {
                let (before, rest) = (before.to_owned(), rest.to_owned());
                self.rest = rest;
                return before;
            }
            let left = until.saturating_duration_since(Instant::now());
            let Ok(piece) = self.pieces.recv_timeout(left) else {
                panic!("{text:?} is not seen, but {:?}", self.rest);
            };
            self.rest.push_str(&String::from_utf8_lossy(&piece));
        }
    }

    /// Waits until the screen shows all of these, in any order.
    pub(crate) fn see_in_any_order(&mut self, texts: &[&str]) {
        let mut seen = String::new();
        for text in texts {
            if !seen.contains(text) {
                seen += &self.see(text);
            }
        }
    }

    /// Returns true if the terminal has its normal mode.
    pub(crate) fn is_in_normal_mode(&self) -> bool {
        let modes = tcgetattr(&self.terminal).unwrap().local_modes;
        modes.contains(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG)
    }

    /// Waits for the end of the shell, and returns its exit code and the output.
    pub(crate) fn end(self) -> (Option<i32>, bool) {
        let Screen { shell, keyboard, terminal, pieces, rest } = self;
        let exit = shell.exit();
        let modes = tcgetattr(&terminal).unwrap().local_modes;
        drop((keyboard, pieces, rest));
        (exit, modes.contains(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG))
    }
}
