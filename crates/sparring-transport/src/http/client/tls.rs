//! TLS settings: trusts the system's certificates, additional ones, or all.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

use super::Tls;
use crate::read_file::{MAX_KEY_BYTES, read_file};

/// The reason why TLS cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file of certificates cannot be used.
    #[error("cannot use the certificates in {}: {reason}", path.display())]
    Certificates {
        /// The file.
        path: PathBuf,
        /// The problem with it.
        reason: String,
    },
    /// TLS itself cannot be set up.
    #[error("cannot set up TLS: {0}")]
    Setup(#[from] rustls::Error),
}

/// A TLS configuration for connections that the caller makes.
#[derive(Clone)]
pub struct TlsClient(Arc<ClientConfig>);

impl TlsClient {
    /// Creates a configuration; reading the system's certificates takes time.
    ///
    /// # Errors
    /// When the certificate file cannot be used.
    pub fn new(tls: &Tls) -> Result<Self, TlsError> {
        Ok(TlsClient(client_config(tls)?))
    }

    pub(super) fn client_config(&self) -> &Arc<ClientConfig> {
        &self.0
    }
}

impl fmt::Debug for TlsClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TlsClient")
    }
}

pub(super) fn client_config(tls: &Tls) -> Result<Arc<ClientConfig>, TlsError> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()?;
    if tls.insecure {
        let config = builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(NoVerification(provider)))
            .with_no_client_auth();
        return Ok(Arc::new(config));
    }
    let mut roots = RootCertStore::empty();
    // A system without certificates can still use the file.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if let Some(path) = &tls.ca {
        let unusable = |reason: String| TlsError::Certificates { path: path.clone(), reason };
        let pem = read_file(path, MAX_KEY_BYTES).map_err(|error| unusable(error.to_string()))?;
        let mut any = false;
        for certificate in CertificateDer::pem_slice_iter(&pem) {
            let certificate = certificate.map_err(|error| unusable(error.to_string()))?;
            roots.add(certificate).map_err(|error| unusable(error.to_string()))?;
            any = true;
        }
        if !any {
            return Err(unusable("the file contains no certificate".to_owned()));
        }
    }
    Ok(Arc::new(builder.with_root_certificates(roots).with_no_client_auth()))
}

/// Accepts every certificate; only used on request.
#[derive(Debug)]
struct NoVerification(Arc<CryptoProvider>);

impl ServerCertVerifier for NoVerification {
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
