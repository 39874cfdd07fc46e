//! Tests trust in TLS certificates: unknown ones are refused unless a flag allows them.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;

use crate::process::{SPAR, output};
use crate::web::Scripted;

const SERVER: &str = r#"
=== "initialize"
HTTP/1.1 200 OK
content-type: application/json

{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"secure","version":"1"}}}
=== notifications/
HTTP/1.1 202 Accepted

=== "ping"
HTTP/1.1 200 OK
content-type: application/json

{"jsonrpc":"2.0","id":2,"result":{}}
=== GET
HTTP/1.1 405 Method Not Allowed

"#;

/// A server with an unknown certificate, and the file with the certificate.
fn start_self_signed(script: &str) -> (Scripted, tempfile::TempDir, PathBuf) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider);
    let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    let config = config.with_single_cert(vec![made.cert.der().clone()], key).unwrap();
    let server = Scripted::secure(script, Arc::new(config));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ca.pem");
    fs::write(&file, made.cert.pem()).unwrap();
    (server, folder, file)
}

/// Runs `spar ping` on such a server; `CA` in the flags is replaced by its file.
fn ping(flags: &[&str]) -> Output {
    let (server, _folder, file) = start_self_signed(SERVER);
    let mut command = Command::new(SPAR);
    command.args(["ping", "--protocol", "2025-11-25", "--url"]);
    command.arg(format!("https://localhost:{}/mcp", server.port()));
    for flag in flags {
        match *flag {
            "CA" => command.arg(&file),
            flag => command.arg(flag),
        };
    }
    output(&mut command)
}

#[test]
fn refuses_an_unknown_certificate() {
    let output = ping(&[]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(stderr.starts_with("error: TLS with https://localhost:"), "{stderr}");
    assert!(stderr.contains("UnknownIssuer"), "{stderr}");
}

#[test]
fn flags_trust_a_certificate_by_its_file_or_any_certificate() {
    for flags in [&["--ca", "CA"][..], &["--insecure"]] {
        let output = ping(flags);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{flags:?}: {stderr}");
        assert!(output.stdout.starts_with(b"secure 1 (2025-11-25) answered in "));
    }
}

/// Lets a mock request a URL of such a server.
fn request_through_mock(flags: &[&str]) -> (String, Option<i32>) {
    let (server, folder, file) =
        start_self_signed("=== GET\nHTTP/1.1 200 OK\ncontent-type: text/plain\n\nfrom far away");
    let script = folder.path().join("it.mock.yaml");
    let url = format!("https://localhost:{}/weather", server.port());
    fs::write(&script, format!("tools: [{{name: t, http: {{url: \"{url}\"}}}}]")).unwrap();
    let mut command = Command::new(SPAR);
    command.args(["call", "t", "--", SPAR, "mock"]).arg(&script);
    for flag in flags {
        match *flag {
            "CA" => command.arg(&file),
            flag => command.arg(flag),
        };
    }
    let output = output(&mut command);
    let text = [output.stdout, output.stderr].concat();
    (String::from_utf8_lossy(&text).into_owned(), output.status.code())
}

#[test]
fn a_mock_trusts_the_certificates_of_its_flags() {
    for flags in [&["--ca", "CA"][..], &["--insecure"]] {
        assert_eq!(
            request_through_mock(flags),
            ("from far away\n".to_owned(), Some(0)),
            "{flags:?}"
        );
    }
    let (text, exit) = request_through_mock(&[]);
    assert!(
        text.starts_with(
            "TLS failed (invalid peer certificate: UnknownIssuer): https://localhost:"
        ),
        "{text}"
    );
    assert_eq!(exit, Some(1));
}

#[test]
fn a_mock_reports_unusable_certificates_at_startup() {
    let output = output(Command::new(SPAR).args(["mock", "--interactions", "--ca", "nowhere.pem"]));
    assert_eq!(output.status.code(), Some(2));
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(
        printed.starts_with("error: cannot use the certificates in nowhere.pem: "),
        "{printed}"
    );
}
