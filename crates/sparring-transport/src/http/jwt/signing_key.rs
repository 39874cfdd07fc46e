//! Private keys, which sign tokens.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair,
    KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair,
};
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject as _;
use serde_json::Value;

use super::public_key::{KeyKind, PublicKey};
use super::{InvalidKey, encode_part};

/// A key that signs tokens.
pub struct SigningKey(KeyPair);

enum KeyPair {
    P256(EcdsaKeyPair),
    P384(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
    Rsa(RsaKeyPair),
}

impl SigningKey {
    /// Generates a key for ES256.
    ///
    /// # Panics
    /// When the system has no random bytes.
    pub fn generate() -> SigningKey {
        let (curve, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
        let made = EcdsaKeyPair::generate_pkcs8(curve, &random).ok();
        let pair = made.and_then(|it| EcdsaKeyPair::from_pkcs8(curve, it.as_ref(), &random).ok());
        SigningKey(KeyPair::P256(pair.expect("the system gives random bytes")))
    }

    /// Parses a private key.
    ///
    /// # Errors
    /// When the text is not a private key, or not a supported one.
    pub fn from_pem(pem: &str) -> Result<SigningKey, InvalidKey> {
        let der = PrivateKeyDer::from_pem_slice(pem.as_bytes())
            .map_err(|_| InvalidKey::new("not a private key in PEM"))?;
        let random = SystemRandom::new();
        match &der {
            PrivateKeyDer::Pkcs8(der) => {
                let der = der.secret_pkcs8_der();
                let curve = |curve| EcdsaKeyPair::from_pkcs8(curve, der, &random).ok();
                let p256 = || curve(&ECDSA_P256_SHA256_FIXED_SIGNING).map(KeyPair::P256);
                let p384 = || curve(&ECDSA_P384_SHA384_FIXED_SIGNING).map(KeyPair::P384);
                let rsa = || RsaKeyPair::from_pkcs8(der).ok().map(KeyPair::Rsa);
                let ed =
                    || Ed25519KeyPair::from_pkcs8_maybe_unchecked(der).ok().map(KeyPair::Ed25519);
                let found = p256().or_else(p384).or_else(rsa).or_else(ed);
                let none = || InvalidKey::new("not a key for ES256, ES384, EdDSA or RS256");
                found.map(SigningKey).ok_or_else(none)
            }
            PrivateKeyDer::Pkcs1(der) => {
                let rsa = RsaKeyPair::from_der(der.secret_pkcs1_der());
                rsa.map(|key| SigningKey(KeyPair::Rsa(key)))
                    .map_err(|_| InvalidKey::new("not an RSA key of at least 2048 bits"))
            }
            _ => Err(InvalidKey::new(
                "not PKCS #8 (convert it with `openssl pkcs8 -topk8 -nocrypt`)",
            )),
        }
    }

    /// Returns the name of its signature algorithm.
    pub fn algorithm(&self) -> &'static str {
        self.kind().algorithm()
    }

    /// Returns the public key.
    pub fn public(&self) -> PublicKey {
        let bytes = match &self.0 {
            KeyPair::P256(key) | KeyPair::P384(key) => key.public_key().as_ref(),
            KeyPair::Ed25519(key) => key.public_key().as_ref(),
            KeyPair::Rsa(key) => key.public_key().as_ref(),
        };
        PublicKey::new(self.kind(), bytes)
    }

    /// Signs a token; adds the algorithm to the header.
    ///
    /// # Errors
    /// When signing fails.
    pub fn sign(&self, header: &Value, claims: &Value) -> Result<String, InvalidKey> {
        let mut header = header.clone();
        header["alg"] = self.algorithm().into();
        let signed = format!("{}.{}", encode_part(&header), encode_part(claims));
        let signature = self.signature(signed.as_bytes())?;
        Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }

    fn kind(&self) -> KeyKind {
        match &self.0 {
            KeyPair::P256(_) => KeyKind::P256,
            KeyPair::P384(_) => KeyKind::P384,
            KeyPair::Ed25519(_) => KeyKind::Ed25519,
            KeyPair::Rsa(_) => KeyKind::Rsa,
        }
    }

    fn signature(&self, message: &[u8]) -> Result<Vec<u8>, InvalidKey> {
        let random = SystemRandom::new();
        let failed = |_| InvalidKey::new("signing failed");
        Ok(match &self.0 {
            KeyPair::P256(key) | KeyPair::P384(key) => {
                key.sign(&random, message).map_err(failed)?.as_ref().to_vec()
            }
            KeyPair::Ed25519(key) => key.sign(message).as_ref().to_vec(),
            KeyPair::Rsa(key) => {
                let mut signature = vec![0; key.public().modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature).map_err(failed)?;
                signature
            }
        })
    }
}

/// Shows the algorithm only.
impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.algorithm())
    }
}
