//! The half of a key that signs.

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

use super::public::{Kind, PublicKey};
use super::{BadKey, encoded};

/// A key to sign with.
pub struct SigningKey(Pair);

enum Pair {
    P256(EcdsaKeyPair),
    P384(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
    Rsa(RsaKeyPair),
}

impl SigningKey {
    /// A new one, for ES256.
    ///
    /// # Panics
    /// When the system has no random bytes.
    pub fn generate() -> SigningKey {
        let (curve, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
        let made = EcdsaKeyPair::generate_pkcs8(curve, &random).ok();
        let pair = made.and_then(|it| EcdsaKeyPair::from_pkcs8(curve, it.as_ref(), &random).ok());
        SigningKey(Pair::P256(pair.expect("the system gives random bytes")))
    }

    /// Reads a private key.
    ///
    /// # Errors
    /// When it is none, or none that can be used here.
    pub fn from_pem(pem: &str) -> Result<SigningKey, BadKey> {
        let der = PrivateKeyDer::from_pem_slice(pem.as_bytes())
            .map_err(|_| BadKey::new("it is no private key in PEM"))?;
        let random = SystemRandom::new();
        match &der {
            PrivateKeyDer::Pkcs8(der) => {
                let der = der.secret_pkcs8_der();
                let curve = |curve| EcdsaKeyPair::from_pkcs8(curve, der, &random).ok();
                let p256 = || curve(&ECDSA_P256_SHA256_FIXED_SIGNING).map(Pair::P256);
                let p384 = || curve(&ECDSA_P384_SHA384_FIXED_SIGNING).map(Pair::P384);
                let rsa = || RsaKeyPair::from_pkcs8(der).ok().map(Pair::Rsa);
                let ed = || Ed25519KeyPair::from_pkcs8_maybe_unchecked(der).ok().map(Pair::Ed25519);
                let found = p256().or_else(p384).or_else(rsa).or_else(ed);
                let none = || BadKey::new("it is none for ES256, ES384, EdDSA or RS256");
                found.map(SigningKey).ok_or_else(none)
            }
            PrivateKeyDer::Pkcs1(der) => {
                let rsa = RsaKeyPair::from_der(der.secret_pkcs1_der());
                rsa.map(|key| SigningKey(Pair::Rsa(key)))
                    .map_err(|_| BadKey::new("it is no RSA key of 2048 bits or more"))
            }
            _ => Err(BadKey::new(
                "it is not in the form PKCS #8; `openssl pkcs8 -topk8 -nocrypt` makes that",
            )),
        }
    }

    /// What its signatures are called.
    pub fn algorithm(&self) -> &'static str {
        self.kind().algorithm()
    }

    /// The half that may be shown.
    pub fn public(&self) -> PublicKey {
        let bytes = match &self.0 {
            Pair::P256(key) | Pair::P384(key) => key.public_key().as_ref(),
            Pair::Ed25519(key) => key.public_key().as_ref(),
            Pair::Rsa(key) => key.public_key().as_ref(),
        };
        PublicKey::new(self.kind(), bytes)
    }

    /// Signs a statement; what signs it is added to the header.
    ///
    /// # Errors
    /// When the key does not sign.
    pub fn sign(&self, header: &Value, claims: &Value) -> Result<String, BadKey> {
        let mut header = header.clone();
        header["alg"] = self.algorithm().into();
        let signed = format!("{}.{}", encoded(&header), encoded(claims));
        let signature = self.signature(signed.as_bytes())?;
        Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }

    fn kind(&self) -> Kind {
        match &self.0 {
            Pair::P256(_) => Kind::P256,
            Pair::P384(_) => Kind::P384,
            Pair::Ed25519(_) => Kind::Ed25519,
            Pair::Rsa(_) => Kind::Rsa,
        }
    }

    fn signature(&self, message: &[u8]) -> Result<Vec<u8>, BadKey> {
        let random = SystemRandom::new();
        let failed = |_| BadKey::new("signing failed");
        Ok(match &self.0 {
            Pair::P256(key) | Pair::P384(key) => {
                key.sign(&random, message).map_err(failed)?.as_ref().to_vec()
            }
            Pair::Ed25519(key) => key.sign(message).as_ref().to_vec(),
            Pair::Rsa(key) => {
                let mut signature = vec![0; key.public().modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature).map_err(failed)?;
                signature
            }
        })
    }
}

/// Says what kind it is, and nothing else.
impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.algorithm())
    }
}
