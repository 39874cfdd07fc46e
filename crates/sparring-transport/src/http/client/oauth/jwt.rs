//! A client's proof by a key: a statement about itself that it signs (RFC 7523,
//! 2.2 and 3).

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;

use super::denied::Denied;
use super::metadata::ServerMetadata;
use crate::http::jwt::{BadKey, SigningKey};

/// How long such a statement holds.
const HOLDS: u64 = 300;

/// States that this client speaks, to this server.
pub(super) fn assertion(
    pem: &str,
    client_id: &str,
    server: &ServerMetadata,
) -> Result<String, Denied> {
    let key = read(pem)?;
    let offered = server.token_endpoint_auth_signing_alg_values_supported.as_ref();
    if offered.is_some_and(|all| all.iter().all(|name| name != key.algorithm())) {
        let what = key.algorithm();
        return Err(Denied::NotOffered { issuer: server.issuer.clone(), what });
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let claims = json!({
        "iss": client_id,
        "sub": client_id,
        "aud": server.issuer,
        "iat": now,
        "exp": now + HOLDS,
        "jti": super::code::random(),
    });
    key.sign(&json!({"typ": "JWT"}), &claims).map_err(bad)
}

/// Makes sure that this is a key to sign with.
pub(super) fn check(pem: &str) -> Result<(), Denied> {
    read(pem).map(drop)
}

fn read(pem: &str) -> Result<SigningKey, Denied> {
    SigningKey::from_pem(pem).map_err(bad)
}

fn bad(BadKey(why): BadKey) -> Denied {
    Denied::BadKey(why)
}
