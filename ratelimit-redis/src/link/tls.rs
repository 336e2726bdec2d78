//! Connections that nobody else can read, to servers whose certificate the system trusts.

use std::{
    io,
    sync::{Arc, OnceLock},
};

use tokio::net::TcpStream;
use tokio_rustls::{
    TlsConnector,
    client::TlsStream,
    rustls::{ClientConfig, RootCertStore, crypto::ring, pki_types::ServerName},
};

pub(super) async fn secure(stream: TcpStream, host: &str) -> io::Result<TlsStream<TcpStream>> {
    let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
    TlsConnector::from(config()?).connect(name, stream).await
}

/// Reads the certificates of the system once, and says what is wrong with them.
pub(super) fn config() -> io::Result<Arc<ClientConfig>> {
    static CONFIG: OnceLock<Arc<ClientConfig>> = OnceLock::new();
    if let Some(config) = CONFIG.get() {
        return Ok(Arc::clone(config));
    }
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    let (usable, _) = roots.add_parsable_certificates(found.certs);
    if usable == 0 {
        let error = found.errors.into_iter().next().map(io::Error::other);
        return Err(error.unwrap_or_else(|| io::Error::other("the system trusts no certificate")));
    }
    // Named, since the process may have several to choose from.
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::clone(CONFIG.get_or_init(|| Arc::new(config))))
}
