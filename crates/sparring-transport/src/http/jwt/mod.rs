//! JSON Web Tokens (RFC 7519): signs them with a private key and verifies them with a public
//! key.
//!
//! The callers check the claims and the lifetime. `ring` computes the signatures.

mod public_key;
mod signing_key;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

pub use public_key::PublicKey;
pub use signing_key::SigningKey;

/// The reason why a key cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidKey(pub(crate) String);

impl InvalidKey {
    fn new(why: &str) -> Self {
        InvalidKey(why.to_owned())
    }
}

fn encode_part(part: &serde_json::Value) -> String {
    URL_SAFE_NO_PAD.encode(part.to_string())
}

fn decode_part(part: &str) -> Option<serde_json::Value> {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn verifies_only_an_unchanged_token_of_the_same_key() {
        let (key, other) = (SigningKey::generate(), SigningKey::generate());
        let claims = json!({"sub": "ann", "exp": 1});
        let token = key.sign(&json!({"typ": "at+jwt"}), &claims).unwrap();
        assert_eq!(key.public().verify(&token), Some(claims));
        assert_eq!(other.public().verify(&token), None);
        let parts: Vec<&str> = token.split('.').collect();
        let forged = encode_part(&json!({"sub": "eve", "exp": 1}));
        let unsigned = encode_part(&json!({"alg": "none"}));
        let foreign = encode_part(&json!({"alg": "RS256"}));
        for wrong in [
            format!("{}.{forged}.{}", parts[0], parts[2]),
            format!("{unsigned}.{}.", parts[1]),
            format!("{foreign}.{}.{}", parts[1], parts[2]),
            format!("{}.{}", parts[0], parts[1]),
            format!("{token}.x"),
            format!("{}.{}.{}=", parts[0], parts[1], parts[2]),
            String::new(),
            "..".to_owned(),
        ] {
            assert_eq!(key.public().verify(&wrong), None, "{wrong}");
        }
    }

    #[test]
    fn reads_keys_of_every_kind_from_private_and_public_pem() {
        for algorithm in
            [&rcgen::PKCS_ECDSA_P256_SHA256, &rcgen::PKCS_ECDSA_P384_SHA384, &rcgen::PKCS_ED25519]
        {
            let pair = rcgen::KeyPair::generate_for(algorithm).unwrap();
            let key = SigningKey::from_pem(&pair.serialize_pem()).unwrap();
            let token = key.sign(&json!({}), &json!({"a": 1})).unwrap();
            for pem in [pair.public_key_pem(), pair.serialize_pem()] {
                let public = PublicKey::from_pem(&pem).unwrap();
                assert_eq!(public.verify(&token), Some(json!({"a": 1})), "{}", key.algorithm());
                assert_eq!(public.algorithm(), key.algorithm());
            }
        }
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/oauth/keys/");
        let read = |name: &str| std::fs::read_to_string(format!("{folder}{name}")).unwrap();
        let rsa = SigningKey::from_pem(&read("rsa.pem")).unwrap();
        let token = rsa.sign(&json!({}), &json!({"a": 1})).unwrap();
        for half in ["rsa.pem", "rsa.pub.pem"] {
            let public = PublicKey::from_pem(&read(half)).unwrap();
            assert_eq!((public.algorithm(), public.jwk()), ("RS256", None), "{half}");
            assert_eq!(public.verify(&token), Some(json!({"a": 1})), "{half}");
        }
        for (pem, expected) in [
            ("", "not a key in PEM"),
            ("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", "not a key for"),
        ] {
            let error = PublicKey::from_pem(pem).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
