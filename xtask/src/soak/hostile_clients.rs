//! Clients that misbehave in one way each, again and again, until they are stopped.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::http_connection::{Endpoint, HttpConnection};

/// The number of connections that clients without an end keep open.
const OPEN_CONNECTIONS: usize = 50;

/// One step of a client. It may keep connections open until the next steps.
type Step = fn(&Endpoint, &mut Vec<TcpStream>) -> io::Result<()>;

/// The misbehaviours, each with the pause after a step.
const CLIENTS: [(Step, Duration); 9] = [
    (leave_stream_unread, Duration::from_millis(50)),
    (send_half_a_head, Duration::from_millis(50)),
    (send_half_a_body, Duration::from_millis(50)),
    (send_large_batch, Duration::from_secs(2)),
    (open_sessions, Duration::from_millis(20)),
    (send_large_body, Duration::from_secs(2)),
    (send_garbage, Duration::from_millis(20)),
    (leave_before_the_response, Duration::from_millis(50)),
    (send_long_uri, Duration::from_secs(2)),
];

/// Starts a thread for each misbehaviour.
pub(super) fn start(endpoint: &Endpoint, stop: &Arc<AtomicBool>) -> Vec<JoinHandle<()>> {
    let start = |(step, pause): (Step, Duration)| {
        let (endpoint, stop) = (endpoint.clone(), Arc::clone(stop));
        thread::spawn(move || {
            lower_thread_priority();
            let mut open = Vec::new();
            while !stop.load(Ordering::Relaxed) {
                // The server may refuse or end any of these connections.
                let _ = step(&endpoint, &mut open);
                if open.len() > OPEN_CONNECTIONS {
                    open.remove(0);
                }
                thread::sleep(pause);
            }
        })
    };
    CLIENTS.map(start).into()
}

/// Gives this thread the lowest priority, as if it ran on another machine: only the servers' work
/// for it should delay others.
fn lower_thread_priority() {
    // Without it the latencies only look worse.
    let _ = rustix::process::setpriority_process(None, 19);
}

/// Opens the stream of a session and never reads it.
fn leave_stream_unread(endpoint: &Endpoint, open: &mut Vec<TcpStream>) -> io::Result<()> {
    let connection = HttpConnection::open(endpoint, "2025-11-25")?;
    let mut stream = endpoint.connect()?;
    stream.write_all(endpoint.get(connection.session()).as_bytes())?;
    open.push(stream);
    Ok(())
}

fn send_half_a_head(endpoint: &Endpoint, open: &mut Vec<TcpStream>) -> io::Result<()> {
    let mut stream = endpoint.connect()?;
    stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: ")?;
    open.push(stream);
    Ok(())
}

fn send_half_a_body(endpoint: &Endpoint, open: &mut Vec<TcpStream>) -> io::Result<()> {
    let mut stream = endpoint.connect()?;
    let request = endpoint.post(&endpoint.call(1, "half"), None);
    stream.write_all(&request.as_bytes()[..request.len() - 5])?;
    open.push(stream);
    Ok(())
}

/// Sends as many calls in one body as a batch may have, and closes without reading.
fn send_large_batch(endpoint: &Endpoint, _: &mut Vec<TcpStream>) -> io::Result<()> {
    let connection = HttpConnection::open(endpoint, "2025-03-26")?;
    let calls: Vec<String> = (0..1_000).map(|id| endpoint.call(id, &"b".repeat(500))).collect();
    let body = format!("[{}]", calls.join(","));
    let mut stream = endpoint.connect()?;
    stream.write_all(endpoint.post(&body, Some(connection.session())).as_bytes())?;
    // Until the work has begun.
    let _ = stream.read(&mut [0; 1])?;
    stream.shutdown(Shutdown::Both)
}

/// Opens a session and leaves it.
fn open_sessions(endpoint: &Endpoint, _: &mut Vec<TcpStream>) -> io::Result<()> {
    HttpConnection::open(endpoint, "2025-11-25").map(drop)
}

/// Sends more bytes than a body may have.
fn send_large_body(endpoint: &Endpoint, _: &mut Vec<TcpStream>) -> io::Result<()> {
    let mut stream = endpoint.connect()?;
    let body = "{".repeat(9 * 1024 * 1024);
    stream.write_all(endpoint.post(&body, None).as_bytes())?;
    let _ = stream.read(&mut [0; 64])?;
    Ok(())
}

fn send_garbage(endpoint: &Endpoint, _: &mut Vec<TcpStream>) -> io::Result<()> {
    let mut stream = endpoint.connect()?;
    stream.write_all(&[0x00, 0xff, b'\r', b'\n', 0x16, 0x03, 0x01, b'\r', b'\n', b'\r', b'\n'])?;
    let _ = stream.read(&mut [0; 64])?;
    Ok(())
}

/// Sends a large call, and closes at once.
fn leave_before_the_response(endpoint: &Endpoint, _: &mut Vec<TcpStream>) -> io::Result<()> {
    let connection = HttpConnection::open(endpoint, "2025-11-25")?;
    let mut stream = endpoint.connect()?;
    let call = endpoint.call(1, &"c".repeat(256 * 1024));
    stream.write_all(endpoint.post(&call, Some(connection.session())).as_bytes())?;
    stream.shutdown(Shutdown::Both)
}

/// Reads a resource whose URI is long and fits the beginning of a template.
fn send_long_uri(endpoint: &Endpoint, _: &mut Vec<TcpStream>) -> io::Result<()> {
    let mut connection = HttpConnection::open(endpoint, "2025-11-25")?;
    let uri = format!("soak://{}", "a/".repeat(512 * 1024));
    let params = format!(r#"{{"uri":"{uri}"}}"#);
    let read = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{params}}}"#);
    connection.send(&read).map(drop)
}
