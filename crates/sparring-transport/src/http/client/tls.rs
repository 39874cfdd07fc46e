//! Whom to trust over TLS: the system's certificates, one's own, or anybody.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

use super::Tls;

/// Why nothing could be trusted.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file of certificates cannot be used.
    #[error("cannot use the certificates in {}: {reason}", path.display())]
    Certificates {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// TLS itself cannot be set up.
    #[error("cannot set up TLS: {0}")]
    Setup(#[from] rustls::Error),
}

/// TLS for connections that somebody else makes.
#[derive(Clone)]
pub struct TlsClient(Arc<ClientConfig>);

impl TlsClient {
    /// One that trusts as is said; reading the system's certificates takes time.
    ///
    /// # Errors
    /// When the certificates that are named cannot be used.
    pub fn new(tls: &Tls) -> Result<Self, TlsError> {
        Ok(TlsClient(config(tls)?))
    }

    pub(super) fn config(&self) -> &Arc<ClientConfig> {
        &self.0
    }
}

impl fmt::Debug for TlsClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TlsClient")
    }
}

pub(super) fn config(tls: &Tls) -> Result<Arc<ClientConfig>, TlsError> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()?;
    if tls.insecure {
        let config = builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(TrustAnybody(provider)))
            .with_no_client_auth();
        return Ok(Arc::new(config));
    }
    let mut roots = RootCertStore::empty();
    // A system without certificates can still be told of some.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if let Some(path) = &tls.ca {
        let unusable = |reason: String| TlsError::Certificates { path: path.clone(), reason };
        let certificates = CertificateDer::pem_file_iter(path);
        let certificates = certificates.map_err(|error| unusable(error.to_string()))?;
        let mut any = false;
        for certificate in certificates {
            let certificate = certificate.map_err(|error| unusable(error.to_string()))?;
            roots.add(certificate).map_err(|error| unusable(error.to_string()))?;
            any = true;
        }
        if !any {
            return Err(unusable("there is no certificate in it".to_owned()));
        }
    }
    Ok(Arc::new(builder.with_root_certificates(roots).with_no_client_auth()))
}

/// Believes whatever a server says about itself; only ever used when asked for.
#[derive(Debug)]
struct TrustAnybody(Arc<CryptoProvider>);

impl ServerCertVerifier for TrustAnybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
