//! The parsers of OpenSSH and minisign keys and of lists do not panic on any bytes inside
//! PEM or without it, and an identity decrypts what its recipient encrypts.
// claim: input-no-crash

use sealane::age::{self, Armor, Identity, Recipient};
use sealane::keys;
use sealane::signature::{Signers, SigningKey, Verifying};

pub(crate) fn run(der: &[u8]) {
    let text = crate::pem("OPENSSH PRIVATE KEY", der);
    // Keys with a passphrase request up to ten seconds of bcrypt, so none is given.
    if let Ok(identity) = Identity::from_ssh(&text, None) {
        let recipient: Recipient = identity.recipient().to_string().parse().expect("our own text");
        assert_eq!(recipient, identity.recipient());
        let sealed = age::seal(b"x", &[recipient], Armor::Binary).expect("a good recipient");
        assert_eq!(*age::open(&sealed, &[identity]).expect("our own file"), b"x");
    }
    let _ = SigningKey::parse(text.as_bytes(), None);
    let _ = (SigningKey::parse(der, None), Signers::parse(der), keys::parse_identity_file(der, None));
    if let Ok(signers) = Signers::parse(der) {
        let _ = Verifying::new(der, &signers, "file").map(Verifying::finish);
    }
    let _ = Signers::parse_revoked(der);
    if let Ok(line) = std::str::from_utf8(der) {
        let _ = line.parse::<Recipient>();
        let _ = format!("ssh-ed25519 {line}").parse::<Recipient>();
        let _ = format!("ssh-rsa {line}").parse::<Recipient>();
    }
}
