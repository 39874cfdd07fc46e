//! Whom the program trusts over TLS: nobody unknown, unless it is told to.

use std::fs;
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

/// Runs `spar ping` on a server with a certificate that nobody knows; `CA` among
/// the flags is the file that it stands in.
fn ping(flags: &[&str]) -> Output {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider);
    let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    let config = config.with_single_cert(vec![made.cert.der().clone()], key).unwrap();
    let server = Scripted::secure(SERVER, Arc::new(config));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ca.pem");
    fs::write(&file, made.cert.pem()).unwrap();
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
fn a_certificate_that_nobody_knows_is_refused() {
    let output = ping(&[]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(stderr.starts_with("error: TLS with https://localhost:"), "{stderr}");
    assert!(stderr.contains("UnknownIssuer"), "{stderr}");
}

#[test]
fn a_certificate_is_trusted_by_its_file_or_whatever_it_is() {
    for flags in [&["--ca", "CA"][..], &["--insecure"]] {
        let output = ping(flags);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{flags:?}: {stderr}");
        assert!(output.stdout.starts_with(b"secure 1 (2025-11-25) answered in "));
    }
}
