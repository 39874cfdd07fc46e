//! The half of a key that may be shown: it tells whether a statement was signed
//! by the other half.

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

use super::{BadKey, SigningKey, decoded};

/// A key to believe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey {
    kind: Kind,
    /// As `ring` takes it: the point, or the RSAPublicKey of PKCS #1.
    bytes: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    P256,
    P384,
    Ed25519,
    Rsa,
}

/// How a SubjectPublicKeyInfo (RFC 5280, 4.1) of these kinds begins, after the
/// length of the whole: the algorithm, and the beginning of the bits. What RSA
/// has behind that begins with lengths of its own.
const BEGINNINGS: [(Kind, &[u8]); 4] = [
    (Kind::P256, b"\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07\x03\x42\x00"),
    (Kind::P384, b"\x30\x10\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x05\x2b\x81\x04\x00\x22\x03\x62\x00"),
    (Kind::Ed25519, b"\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00"),
    (Kind::Rsa, b"\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\x00\x03\x82"),
];

impl PublicKey {
    pub(super) fn new(kind: Kind, bytes: &[u8]) -> Self {
        PublicKey { kind, bytes: bytes.to_vec() }
    }

    /// Reads a public key, or that of a private one.
    ///
    /// # Errors
    /// When it is none, or none that can be used here.
    pub fn from_pem(pem: &str) -> Result<PublicKey, BadKey> {
        if let Ok(der) = SubjectPublicKeyInfoDer::from_pem_slice(pem.as_bytes()) {
            let none = || BadKey::new("it is none for ES256, ES384, EdDSA or RS256");
            return read(&der).ok_or_else(none);
        }
        match pem.contains("PRIVATE KEY-----") {
            true => SigningKey::from_pem(pem).map(|key| key.public()),
            false => Err(BadKey::new("it is no key in PEM")),
        }
    }

    /// What its signatures are called.
    pub fn algorithm(&self) -> &'static str {
        self.kind.algorithm()
    }

    /// What a statement says, if it was signed by the other half.
    pub fn verify(&self, token: &str) -> Option<Value> {
        let (signed, signature) = token.rsplit_once('.')?;
        let (header, claims) = signed.split_once('.')?;
        // Who signs says by what, and that must be what the key is for.
        if decoded(header)?.get("alg")?.as_str()? != self.algorithm() {
            return None;
        }
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        let key = UnparsedPublicKey::new(self.kind.verification(), &self.bytes);
        key.verify(signed.as_bytes(), &signature).ok()?;
        decoded(claims)
    }

    /// A name for it, made from its bytes.
    pub fn id(&self) -> String {
        URL_SAFE_NO_PAD.encode(&digest(&SHA256, &self.bytes).as_ref()[..12])
    }

    /// The key as others may read it (JSON Web Key, RFC 7517), if it is one of
    /// an elliptic curve.
    pub fn jwk(&self) -> Option<Value> {
        let curve = match self.kind {
            Kind::P256 => "P-256",
            Kind::P384 => "P-384",
            Kind::Ed25519 | Kind::Rsa => return None,
        };
        // The point is not compressed: a byte that says so, and two numbers.
        let (x, y) = self.bytes[1..].split_at(self.bytes.len() / 2);
        Some(json!({
            "kty": "EC", "crv": curve, "use": "sig",
            "alg": self.algorithm(), "kid": self.id(),
            "x": URL_SAFE_NO_PAD.encode(x), "y": URL_SAFE_NO_PAD.encode(y),
        }))
    }
}

fn read(der: &[u8]) -> Option<PublicKey> {
    // A sequence, whose length takes one byte, or more of them if it says so.
    let rest = der.strip_prefix(b"\x30")?;
    let (length, rest) = rest.split_first()?;
    let rest = rest.get(usize::from(length.checked_sub(0x80).unwrap_or_default())..)?;
    let (kind, bits) = BEGINNINGS
        .iter()
        .find_map(|(kind, beginning)| Some((*kind, rest.strip_prefix(*beginning)?)))?;
    let bytes = match kind {
        // Two bytes of a length, and one that says that all bits are used.
        Kind::Rsa => bits.get(3..)?,
        _ => bits,
    };
    let fits = match kind {
        Kind::P256 => bytes.len() == 65,
        Kind::P384 => bytes.len() == 97,
        Kind::Ed25519 => bytes.len() == 32,
        Kind::Rsa => bytes.starts_with(b"\x30\x82"),
    };
    fits.then(|| PublicKey::new(kind, bytes))
}

impl Kind {
    pub(super) fn algorithm(self) -> &'static str {
        match self {
            Kind::P256 => "ES256",
            Kind::P384 => "ES384",
            Kind::Ed25519 => "EdDSA",
            Kind::Rsa => "RS256",
        }
    }

    fn verification(self) -> &'static dyn VerificationAlgorithm {
        match self {
            Kind::P256 => &ECDSA_P256_SHA256_FIXED,
            Kind::P384 => &ECDSA_P384_SHA384_FIXED,
            Kind::Ed25519 => &ED25519,
            Kind::Rsa => &RSA_PKCS1_2048_8192_SHA256,
        }
    }
}
