//! A client's proof by a key: a statement about itself that it signs (RFC 7523,
//! 2.2 and 3).

use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair,
    RSA_PKCS1_SHA256, RsaKeyPair,
};
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject as _;
use serde_json::json;

use super::denied::Denied;
use super::metadata::ServerMetadata;

/// How long such a statement holds.
const HOLDS: u64 = 300;

/// States that this client speaks, to this server.
pub(super) fn assertion(
    pem: &str,
    client_id: &str,
    server: &ServerMetadata,
) -> Result<String, Denied> {
    let key = Key::read(pem)?;
    let offered = server.token_endpoint_auth_signing_alg_values_supported.as_ref();
    if offered.is_some_and(|all| all.iter().all(|name| name != key.algorithm())) {
        let what = key.algorithm();
        return Err(Denied::NotOffered { issuer: server.issuer.clone(), what });
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let header = json!({"alg": key.algorithm(), "typ": "JWT"});
    let claims = json!({
        "iss": client_id,
        "sub": client_id,
        "aud": server.issuer,
        "iat": now,
        "exp": now + HOLDS,
        "jti": super::code::random(),
    });
    let encoded = |part: serde_json::Value| URL_SAFE_NO_PAD.encode(part.to_string());
    let signed = format!("{}.{}", encoded(header), encoded(claims));
    let signature = key.sign(signed.as_bytes())?;
    Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
}

/// Makes sure that this is a key to sign with.
pub(super) fn check(pem: &str) -> Result<(), Denied> {
    Key::read(pem).map(drop)
}

enum Key {
    P256(EcdsaKeyPair),
    P384(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
    Rsa(RsaKeyPair),
}

impl Key {
    fn read(pem: &str) -> Result<Key, Denied> {
        let bad = |why: &str| Denied::BadKey(why.to_owned());
        let der = PrivateKeyDer::from_pem_slice(pem.as_bytes())
            .map_err(|_| bad("it is no private key in PEM"))?;
        let random = SystemRandom::new();
        match &der {
            PrivateKeyDer::Pkcs8(der) => {
                let der = der.secret_pkcs8_der();
                let curve = |curve| EcdsaKeyPair::from_pkcs8(curve, der, &random).ok();
                let p256 = || curve(&ECDSA_P256_SHA256_FIXED_SIGNING).map(Key::P256);
                let p384 = || curve(&ECDSA_P384_SHA384_FIXED_SIGNING).map(Key::P384);
                let rsa = || RsaKeyPair::from_pkcs8(der).ok().map(Key::Rsa);
                let ed = || Ed25519KeyPair::from_pkcs8_maybe_unchecked(der).ok().map(Key::Ed25519);
                let found = p256().or_else(p384).or_else(rsa).or_else(ed);
                found.ok_or_else(|| bad("it is none for ES256, ES384, EdDSA or RS256"))
            }
            PrivateKeyDer::Pkcs1(der) => {
                let rsa = RsaKeyPair::from_der(der.secret_pkcs1_der());
                rsa.map(Key::Rsa).map_err(|_| bad("it is no RSA key of 2048 bits or more"))
            }
            _ => Err(bad(
                "it is not in the form PKCS #8; `openssl pkcs8 -topk8 -nocrypt` makes that",
            )),
        }
    }

    fn algorithm(&self) -> &'static str {
        match self {
            Key::P256(_) => "ES256",
            Key::P384(_) => "ES384",
            Key::Ed25519(_) => "EdDSA",
            Key::Rsa(_) => "RS256",
        }
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Denied> {
        let random = SystemRandom::new();
        let failed = |_| Denied::BadKey("signing failed".to_owned());
        Ok(match self {
            Key::P256(key) | Key::P384(key) => {
                key.sign(&random, message).map_err(failed)?.as_ref().to_vec()
            }
            Key::Ed25519(key) => key.sign(message).as_ref().to_vec(),
            Key::Rsa(key) => {
                let mut signature = vec![0; key.public().modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature).map_err(failed)?;
                signature
            }
        })
    }
}
