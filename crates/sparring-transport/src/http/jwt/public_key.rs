//! Public keys, which verify signatures.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256,
    UnparsedPublicKey, VerificationAlgorithm,
};
use rustls::pki_types::SubjectPublicKeyInfoDer;
use rustls::pki_types::pem::PemObject as _;
use serde_json::{Value, json};

use super::{InvalidKey, SigningKey, decode_part};

/// A key that verifies signatures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey {
    kind: KeyKind,
    /// The form that `ring` takes: the point, or the RSAPublicKey of PKCS #1.
    bytes: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyKind {
    P256,
    P384,
    Ed25519,
    Rsa,
}

/// The bytes of a SubjectPublicKeyInfo (RFC 5280, 4.1) of each kind after its length:
/// the algorithm and the beginning of the bit string. For RSA more lengths follow.
const SPKI_PREFIXES: [(KeyKind, &[u8]); 4] = [
    (KeyKind::P256, b"\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07\x03\x42\x00"),
    (KeyKind::P384, b"\x30\x10\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x05\x2b\x81\x04\x00\x22\x03\x62\x00"),
    (KeyKind::Ed25519, b"\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00"),
    (KeyKind::Rsa, b"\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\x00\x03\x82"),
];

impl PublicKey {
    pub(super) fn new(kind: KeyKind, bytes: &[u8]) -> Self {
        PublicKey { kind, bytes: bytes.to_vec() }
    }

    /// Parses a public key, or derives it from a private key.
    ///
    /// # Errors
    /// When the text is not a key, or not a supported one.
    pub fn from_pem(pem: &str) -> Result<PublicKey, InvalidKey> {
        if let Ok(der) = SubjectPublicKeyInfoDer::from_pem_slice(pem.as_bytes()) {
            let none = || InvalidKey::new("not a key for ES256, ES384, EdDSA or RS256");
            return parse_spki(&der).ok_or_else(none);
        }
        match pem.contains("PRIVATE KEY-----") {
            true => SigningKey::from_pem(pem).map(|key| key.public()),
            false => Err(InvalidKey::new("not a key in PEM")),
        }
    }

    /// Returns the name of its signature algorithm.
    pub fn algorithm(&self) -> &'static str {
        self.kind.algorithm()
    }

    /// Returns the claims of a token if its signature is valid.
    pub fn verify(&self, token: &str) -> Option<Value> {
        let (signed, signature) = token.rsplit_once('.')?;
        let (header, claims) = signed.split_once('.')?;
        // The token names its algorithm, which must be the key's.
        if decode_part(header)?.get("alg")?.as_str()? != self.algorithm() {
            return None;
        }
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        let key = UnparsedPublicKey::new(self.kind.verification_algorithm(), &self.bytes);
        key.verify(signed.as_bytes(), &signature).ok()?;
        decode_part(claims)
    }

    /// Returns an id derived from the key's bytes.
    pub fn id(&self) -> String {
        URL_SAFE_NO_PAD.encode(&digest(&SHA256, &self.bytes).as_ref()[..12])
    }

    /// Returns the key as a JSON Web Key (RFC 7517), for elliptic curves.
    pub fn jwk(&self) -> Option<Value> {
        let curve = match self.kind {
            KeyKind::P256 => "P-256",
            KeyKind::P384 => "P-384",
            KeyKind::Ed25519 | KeyKind::Rsa => return None,
        };
        // The point is uncompressed: a marker byte and two numbers.
        let (x, y) = self.bytes[1..].split_at(self.bytes.len() / 2);
        Some(json!({
            "kty": "EC", "crv": curve, "use": "sig",
            "alg": self.algorithm(), "kid": self.id(),
            "x": URL_SAFE_NO_PAD.encode(x), "y": URL_SAFE_NO_PAD.encode(y),
        }))
    }
}

fn parse_spki(der: &[u8]) -> Option<PublicKey> {
    // A sequence; its length takes one byte, or more if the first byte indicates that.
    let rest = der.strip_prefix(b"\x30")?;
    let (length, rest) = rest.split_first()?;
    let rest = rest.get(usize::from(length.checked_sub(0x80).unwrap_or_default())..)?;
    let (kind, bits) = SPKI_PREFIXES
        .iter()
        .find_map(|(kind, beginning)| Some((*kind, rest.strip_prefix(*beginning)?)))?;
    let bytes = match kind {
        // Two length bytes, and a byte for the number of unused bits.
        KeyKind::Rsa => bits.get(3..)?,
        _ => bits,
    };
    let fits = match kind {
        KeyKind::P256 => bytes.len() == 65,
        KeyKind::P384 => bytes.len() == 97,
        KeyKind::Ed25519 => bytes.len() == 32,
        KeyKind::Rsa => bytes.starts_with(b"\x30\x82"),
    };
    fits.then(|| PublicKey::new(kind, bytes))
}

impl KeyKind {
    pub(super) fn algorithm(self) -> &'static str {
        match self {
            KeyKind::P256 => "ES256",
            KeyKind::P384 => "ES384",
            KeyKind::Ed25519 => "EdDSA",
            KeyKind::Rsa => "RS256",
        }
    }

    fn verification_algorithm(self) -> &'static dyn VerificationAlgorithm {
        match self {
            KeyKind::P256 => &ECDSA_P256_SHA256_FIXED,
            KeyKind::P384 => &ECDSA_P384_SHA384_FIXED,
            KeyKind::Ed25519 => &ED25519,
            KeyKind::Rsa => &RSA_PKCS1_2048_8192_SHA256,
        }
    }
}
