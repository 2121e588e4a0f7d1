//! Handshakes and records with sealane's AEADs, against rustls's providers.

use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::WebPkiClientVerifier;
use rustls::{
    ClientConfig, ClientConnection, Error, HandshakeKind, RootCertStore, ServerConfig, ServerConnection,
    SupportedCipherSuite, SupportedProtocolVersion, version,
};
use sealane_rustls::with_sealane;
use std::io::{Read, Write};
use std::sync::Arc;

fn ours() -> CryptoProvider {
    with_sealane(ring::default_provider()).unwrap()
}

fn only(provider: &CryptoProvider, suite: SupportedCipherSuite) -> CryptoProvider {
    let same = |known: &&SupportedCipherSuite| known.suite() == suite.suite();
    CryptoProvider {
        cipher_suites: provider.cipher_suites.iter().filter(same).copied().collect(),
        ..provider.clone()
    }
}

struct Pair {
    client: ClientConnection,
    server: ServerConnection,
}

/// Connects a client and a server that accept one cipher suite.
fn connected(client: &CryptoProvider, server: &CryptoProvider, suite: SupportedCipherSuite) -> Pair {
    Configs::new(client, server, suite, Setup::default()).connect()
}

/// What differs between two handshakes with one cipher suite.
#[derive(Clone, Copy, Default)]
struct Setup {
    /// Maximum record length in bytes, including header and tag.
    fragment: Option<usize>,
    /// Whether the server requires a client certificate.
    client_auth: bool,
}

/// The two sides of several connections.
struct Configs {
    client: Arc<ClientConfig>,
    server: Arc<ServerConfig>,
    suite: SupportedCipherSuite,
}

impl Configs {
    fn new(
        client: &CryptoProvider,
        server: &CryptoProvider,
        suite: SupportedCipherSuite,
        setup: Setup,
    ) -> Self {
        let algorithm = match suite.suite().as_str().unwrap() {
            // RSA signatures need a key that takes a second to generate, so it is in a file.
            name if name.contains("_RSA_") => &rcgen::PKCS_RSA_SHA256,
            _ => &rcgen::PKCS_ECDSA_P256_SHA256,
        };
        let key = match algorithm == &rcgen::PKCS_RSA_SHA256 {
            true => rcgen::KeyPair::from_pem(include_str!("rsa.pem")).unwrap(),
            false => rcgen::KeyPair::generate_for(algorithm).unwrap(),
        };
        let certificate =
            rcgen::CertificateParams::new(vec!["localhost".into()]).unwrap().self_signed(&key).unwrap();
        let certificate = CertificateDer::from(certificate.der().to_vec());
        let versions: &[&SupportedProtocolVersion] = match suite {
            SupportedCipherSuite::Tls13(_) => &[&version::TLS13],
            SupportedCipherSuite::Tls12(_) => &[&version::TLS12],
        };
        let mut roots = RootCertStore::empty();
        roots.add(certificate.clone()).unwrap();
        let chain = vec![certificate];
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let roots = Arc::new(roots);
        let (client, server) = (Arc::new(only(client, suite)), Arc::new(only(server, suite)));

        let config = ClientConfig::builder_with_provider(client)
            .with_protocol_versions(versions)
            .unwrap()
            .with_root_certificates(roots.clone());
        let mut client = match setup.client_auth {
            true => config.with_client_auth_cert(chain.clone(), key.clone_key()).unwrap(),
            false => config.with_no_client_auth(),
        };
        client.max_fragment_size = setup.fragment;

        let config =
            ServerConfig::builder_with_provider(server.clone()).with_protocol_versions(versions).unwrap();
        let config = match setup.client_auth {
            true => config.with_client_cert_verifier(
                WebPkiClientVerifier::builder_with_provider(roots, server).build().unwrap(),
            ),
            false => config.with_no_client_auth(),
        };
        let mut server = config.with_single_cert(chain, key).unwrap();
        server.max_fragment_size = setup.fragment;
        Self { client: Arc::new(client), server: Arc::new(server), suite }
    }

    fn connect(&self) -> Pair {
        let name = ServerName::try_from("localhost").unwrap();
        let mut pair = Pair {
            client: ClientConnection::new(self.client.clone(), name).unwrap(),
            server: ServerConnection::new(self.server.clone()).unwrap(),
        };
        for _ in 0..10 {
            to_server(&mut pair, |_| {}).unwrap();
            to_client(&mut pair).unwrap();
        }
        assert!(!pair.client.is_handshaking() && !pair.server.is_handshaking());
        assert_eq!(pair.client.negotiated_cipher_suite().unwrap().suite(), self.suite.suite());
        pair
    }
}

fn to_server(pair: &mut Pair, change: impl Fn(&mut Vec<u8>)) -> Result<(), Error> {
    let mut wire = Vec::new();
    while pair.client.wants_write() {
        pair.client.write_tls(&mut wire).unwrap();
    }
    change(&mut wire);
    let mut wire = &wire[..];
    while !wire.is_empty() {
        pair.server.read_tls(&mut wire).unwrap();
        pair.server.process_new_packets()?;
    }
    Ok(())
}

fn to_client(pair: &mut Pair) -> Result<(), Error> {
    let mut wire = Vec::new();
    while pair.server.wants_write() {
        pair.server.write_tls(&mut wire).unwrap();
    }
    let mut wire = &wire[..];
    while !wire.is_empty() {
        pair.client.read_tls(&mut wire).unwrap();
        pair.client.process_new_packets()?;
    }
    Ok(())
}

fn data(len: u32) -> Vec<u8> {
    (0..len).map(|i| (i % 251) as u8).collect()
}

/// Runs a test for every cipher suite with a client and a server; at least one is ours. The other
/// side is ours or ring's; with the feature `aws-lc-rs`, also aws-lc-rs's.
fn in_both_directions(test: impl Fn(&CryptoProvider, &CryptoProvider, SupportedCipherSuite)) {
    let (ours, ring) = (ours(), ring::default_provider());
    #[allow(unused_mut, reason = "changed with the feature aws-lc-rs")]
    let mut pairs = vec![(&ours, &ours), (&ours, &ring), (&ring, &ours)];
    #[cfg(feature = "aws-lc-rs")]
    let aws = rustls::crypto::aws_lc_rs::default_provider();
    #[cfg(feature = "aws-lc-rs")]
    pairs.extend([(&ours, &aws), (&aws, &ours)]);
    for suite in ring::ALL_CIPHER_SUITES {
        for &(client, server) in &pairs {
            test(client, server, *suite);
        }
    }
}

/// Sends data in both directions and compares it.
fn exchange(pair: &mut Pair, data: &[u8]) {
    for piece in data.chunks(16_000).chain([&data[..0]]) {
        pair.client.writer().write_all(piece).unwrap();
        to_server(pair, |_| {}).unwrap();
        let mut got = vec![0; piece.len()];
        pair.server.reader().read_exact(&mut got).unwrap();
        assert!(got == piece);
        pair.server.writer().write_all(&got).unwrap();
        to_client(pair).unwrap();
        let mut back = vec![0; piece.len()];
        pair.client.reader().read_exact(&mut back).unwrap();
        assert!(back == piece);
    }
}

#[test]
fn every_suite_with_every_provider() {
    let data = data(100_003);
    assert_eq!(ours().cipher_suites.len(), 9);
    in_both_directions(|client, server, suite| {
        let mut pair = connected(client, server, suite);
        for len in [0, 1, 15, 16, 17, 1000, 16_000, data.len()] {
            exchange(&mut pair, &data[..len]);
        }
    });
}

#[test]
fn records_of_every_length() {
    // From the shortest to the longest maximum that rustls accepts.
    let data = data(16_000);
    in_both_directions(|client, server, suite| {
        for fragment in [32, 33, 64, 100, 255, 1024, 4101, 16_389] {
            let setup = Setup { fragment: Some(fragment), ..Setup::default() };
            exchange(&mut Configs::new(client, server, suite, setup).connect(), &data);
        }
    });
}

#[test]
fn clients_with_certificates() {
    in_both_directions(|client, server, suite| {
        let setup = Setup { client_auth: true, ..Setup::default() };
        let mut pair = Configs::new(client, server, suite, setup).connect();
        assert_eq!(pair.server.peer_certificates().map(<[_]>::len), Some(1));
        exchange(&mut pair, b"hello");
    });
}

#[test]
fn connections_that_resume_another() {
    in_both_directions(|client, server, suite| {
        let configs = Configs::new(client, server, suite, Setup::default());
        for expected in [HandshakeKind::Full, HandshakeKind::Resumed, HandshakeKind::Resumed] {
            let mut pair = configs.connect();
            assert_eq!(pair.client.handshake_kind(), Some(expected));
            exchange(&mut pair, b"hello");
        }
    });
}

#[test]
fn updates_of_keys() {
    let data = data(3000);
    in_both_directions(|client, server, suite| {
        let mut pair = connected(client, server, suite);
        if suite.tls13().is_none() {
            // TLS 1.2 has none.
            assert!(pair.client.refresh_traffic_keys().is_err());
            return;
        }
        for _ in 0..5 {
            exchange(&mut pair, &data);
            pair.client.refresh_traffic_keys().unwrap();
            exchange(&mut pair, &data);
            pair.server.refresh_traffic_keys().unwrap();
        }
        exchange(&mut pair, &data);
    });
}

#[test]
fn every_changed_byte_ends_the_connection() {
    let ours = ours();
    for suite in ring::ALL_CIPHER_SUITES {
        // The header has a type and a version, which rustls ignores in TLS 1.3, and a length;
        // rustls would wait for that many bytes.
        let header = if suite.tls13().is_some() { 0..0 } else { 0..3 };
        for at in header.chain(5..60) {
            let mut pair = connected(&ours, &ours, *suite);
            pair.client.writer().write_all(&[7; 30]).unwrap();
            let mut reached = std::cell::Cell::new(true);
            let result = to_server(&mut pair, |wire| match wire.get_mut(at) {
                Some(byte) => *byte ^= 1,
                None => reached.set(false),
            });
            if *reached.get_mut() {
                let error = result.unwrap_err();
                // A changed type or version may be another error.
                assert!(at < 3 || error == Error::DecryptError, "{suite:?}: byte {at}: {error}");
                assert_eq!(pair.server.reader().read(&mut [0; 30]).map_err(|e| e.kind()).ok(), None);
            }
        }
    }
}

#[test]
fn records_without_a_tag_are_errors() {
    let ours = ours();
    for suite in ring::ALL_CIPHER_SUITES {
        for len in 0..24_u8 {
            let mut pair = connected(&ours, &ours, *suite);
            pair.client.writer().write_all(b"x").unwrap();
            let shorter = std::cell::Cell::new(true);
            let result = to_server(&mut pair, |wire| {
                shorter.set(usize::from(len) + 5 < wire.len());
                wire.truncate(5 + usize::from(len));
                (wire[3], wire[4]) = (0, len);
            });
            assert!(!shorter.get() || result.is_err(), "{suite:?}: {len} bytes");
        }
    }
}

#[test]
fn the_provider_is_named_and_no_key_is_shown() {
    let ours = ours();
    assert!(!ours.fips());
    for suite in &ours.cipher_suites {
        assert!(!suite.fips());
    }
}
