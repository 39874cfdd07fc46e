//! Accepts connections and reads their requests. Does not know the responses.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use rustls::{ServerConnection, StreamOwned};

/// Both directions of a connection.
pub(super) trait Stream: Read + Write + Send {
    /// Waits until the peer has closed it.
    fn wait_for_the_end(&mut self) {
        let _ = io::copy(self, &mut io::sink());
    }

    /// Closes both directions.
    fn end(&self);
}

impl Stream for TcpStream {
    fn end(&self) {
        let _ = self.shutdown(Shutdown::Both);
    }
}

impl Stream for UnixStream {
    fn end(&self) {
        let _ = self.shutdown(Shutdown::Both);
    }
}

/// A TLS stream on top of another.
pub(super) struct Tls<'a>(pub(super) StreamOwned<ServerConnection, &'a mut dyn Stream>);

impl Read for Tls<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.0.read(bytes)
    }
}

impl Write for Tls<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Stream for Tls<'_> {
    fn end(&self) {
        self.0.sock.end();
    }
}

/// A received request.
pub(super) struct Request {
    /// Everything before the body, with header names in lower case.
    pub(super) head: String,
    pub(super) body: String,
}

impl Request {
    pub(super) fn is(&self, method: &str) -> bool {
        self.head.split(' ').next() == Some(method)
    }

    /// Returns true if the head or the body contains this.
    pub(super) fn has(&self, text: &str) -> bool {
        self.head.contains(text) || self.body.contains(text)
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }
}

/// The function that handles a connection.
pub(super) type Work = dyn Fn(&mut dyn Stream) + Send + Sync;

/// Listens until it is dropped, each connection on its own thread.
pub(super) struct Listening {
    address: SocketAddr,
    socket: Option<PathBuf>,
    over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Listening {
    /// Listens on a free port, and on a Unix socket if one is given.
    pub(super) fn start(socket: Option<&Path>, work: Arc<Work>) -> Listening {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let over = Arc::new(AtomicBool::new(false));
        let (flag, done) = (Arc::clone(&over), Arc::clone(&work));
        let tcp = std::thread::spawn(move || serve(listener.incoming(), &flag, &done));
        let unix = socket.map(|path| {
            let (listener, flag) = (UnixListener::bind(path).unwrap(), Arc::clone(&over));
            std::thread::spawn(move || serve(listener.incoming(), &flag, &work))
        });
        let threads = std::iter::once(tcp).chain(unix).collect();
        Listening { address, socket: socket.map(Path::to_owned), over, threads }
    }

    pub(super) fn port(&self) -> u16 {
        self.address.port()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        // Wakes the thread that waits for a connection.
        let _ = TcpStream::connect(self.address);
        let _ = self.socket.as_ref().map(UnixStream::connect);
        self.threads.drain(..).for_each(|thread| drop(thread.join()));
    }
}

fn serve<S: Stream + 'static>(
    incoming: impl Iterator<Item = io::Result<S>>,
    over: &AtomicBool,
    work: &Arc<Work>,
) {
    for stream in incoming {
        if over.load(Ordering::SeqCst) {
            return;
        }
        let (mut stream, work) = (stream.unwrap(), Arc::clone(work));
        // The thread ends with its connection, and the connection with the program
        // under test.
        std::thread::spawn(move || {
            work(&mut stream);
            stream.end();
        });
    }
}

/// Reads the next request. Returns nothing at the end of the connection, and only the
/// first byte of anything but HTTP.
pub(super) fn read(stream: &mut dyn Stream) -> Result<Request, Option<u8>> {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        match stream.read(&mut byte) {
            Ok(1) => bytes.push(byte[0]),
            _ => return Err(None),
        }
        if !bytes[0].is_ascii_uppercase() {
            return Err(Some(bytes[0]));
        }
    }
    let text = String::from_utf8(bytes).unwrap();
    let line = |line: &str| match line.split_once(": ") {
        Some((name, value)) => format!("{}: {value}\n", name.to_ascii_lowercase()),
        None => format!("{line}\n"),
    };
    let mut request = Request { head: text.lines().map(line).collect(), body: String::new() };
    let length = request.header("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).map_err(|_| None)?;
    request.body = String::from_utf8_lossy(&body).into_owned();
    Ok(request)
}
