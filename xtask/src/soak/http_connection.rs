//! One HTTP connection to a server under load. It reads whole responses only.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// The limit of each read and write.
const TIMEOUT: Duration = Duration::from_secs(20);

/// The address and path of a server, and its tool that repeats a text.
#[derive(Debug, Clone)]
pub(super) struct Endpoint {
    pub(super) address: SocketAddr,
    pub(super) path: String,
    pub(super) tool: String,
}

/// The status, the session and the body of a response.
#[derive(Debug)]
pub(super) struct HttpResponse {
    pub(super) status: u16,
    pub(super) session: Option<String>,
    pub(super) body: String,
}

/// A connection that stays open between requests.
pub(super) struct HttpConnection {
    endpoint: Endpoint,
    reader: BufReader<TcpStream>,
    session: Option<String>,
}

impl Endpoint {
    /// Opens a bare connection.
    pub(super) fn connect(&self) -> io::Result<TcpStream> {
        let stream = TcpStream::connect(self.address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        stream.set_write_timeout(Some(TIMEOUT))?;
        Ok(stream)
    }

    /// Returns a request with a JSON body.
    pub(super) fn post(&self, body: &str, session: Option<&str>) -> String {
        let (length, headers) = (body.len(), self.headers("POST", session));
        format!("{headers}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}")
    }

    /// Returns the head of a request for the stream of a session.
    pub(super) fn get(&self, session: &str) -> String {
        format!("{}\r\n", self.headers("GET", Some(session)))
    }

    fn headers(&self, method: &str, session: Option<&str>) -> String {
        let Endpoint { address, path, .. } = self;
        let session = session.map(|id| format!("Mcp-Session-Id: {id}\r\n")).unwrap_or_default();
        let accept = match method {
            "GET" => "text/event-stream",
            _ => "application/json, text/event-stream",
        };
        format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\nAccept: {accept}\r\n{session}")
    }

    /// Returns the request for a handshake in this revision.
    pub(super) fn initialize(revision: &str) -> String {
        format!(
            r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{{}},"clientInfo":{{"name":"soak","version":"1"}}}}}}"#
        )
    }

    /// Returns a call of the tool that repeats a text.
    pub(super) fn call(&self, id: u64, text: &str) -> String {
        let tool = &self.tool;
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{{"text":"{text}"}}}}}}"#
        )
    }
}

impl HttpConnection {
    /// Connects and opens a session in this revision.
    pub(super) fn open(endpoint: &Endpoint, revision: &str) -> io::Result<HttpConnection> {
        let reader = BufReader::new(endpoint.connect()?);
        let mut opened = HttpConnection { endpoint: endpoint.clone(), reader, session: None };
        let response = opened.send(&Endpoint::initialize(revision))?;
        if response.status != 200 {
            return Err(io::Error::other(format!("initialize got {}", response.status)));
        }
        opened.session = response.session;
        opened.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)?;
        Ok(opened)
    }

    /// Returns the id of the session.
    pub(super) fn session(&self) -> &str {
        self.session.as_deref().unwrap_or_default()
    }

    /// Sends a message and reads the whole response.
    pub(super) fn send(&mut self, body: &str) -> io::Result<HttpResponse> {
        let request = self.endpoint.post(body, self.session.as_deref());
        self.reader.get_mut().write_all(request.as_bytes())?;
        self.read_response()
    }

    fn read_response(&mut self) -> io::Result<HttpResponse> {
        let first = self.read_line()?;
        let status = first.split(' ').nth(1).and_then(|code| code.parse().ok());
        let status = status.ok_or_else(|| io::Error::other(format!("no status: {first:?}")))?;
        let (mut length, mut is_chunked, mut session) = (0, false, None);
        loop {
            let line = self.read_line()?;
            let Some((name, value)) = line.split_once(':') else { break };
            match (name.to_ascii_lowercase().as_str(), value.trim()) {
                ("content-length", value) => length = value.parse().map_err(io::Error::other)?,
                ("transfer-encoding", _) => is_chunked = true,
                ("mcp-session-id", id) => session = Some(id.to_owned()),
                _ => {}
            }
        }
        let mut body = Vec::new();
        if is_chunked {
            while self.read_chunk(&mut body)? {}
        } else {
            body.resize(length, 0);
            self.reader.read_exact(&mut body)?;
        }
        Ok(HttpResponse { status, session, body: String::from_utf8_lossy(&body).into_owned() })
    }

    /// Reads one chunk; false after the last one.
    fn read_chunk(&mut self, body: &mut Vec<u8>) -> io::Result<bool> {
        let size = usize::from_str_radix(&self.read_line()?, 16).map_err(io::Error::other)?;
        let start = body.len();
        body.resize(start + size, 0);
        self.reader.read_exact(&mut body[start..])?;
        self.read_line()?;
        Ok(size > 0)
    }

    fn read_line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        match self.reader.read_line(&mut line)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(line.trim_end().to_owned()),
        }
    }
}
