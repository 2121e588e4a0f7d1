//! The parser of OpenSSH keys does not panic on any bytes inside PEM, and an identity decrypts what
//! its recipient encrypts.
// claim: input-no-crash

use sealane::age::{self, Armor, Identity, Recipient};

pub(crate) fn run(der: &[u8]) {
    let text = crate::pem("OPENSSH PRIVATE KEY", der);
    // Keys with a passphrase request up to ten seconds of bcrypt, so none is given.
    if let Ok(identity) = Identity::from_ssh(&text, None) {
        let recipient: Recipient = identity.recipient().to_string().parse().expect("our own text");
        assert_eq!(recipient, identity.recipient());
        let sealed = age::seal(b"x", &[recipient], Armor::Binary).expect("a good recipient");
        assert_eq!(*age::open(&sealed, &[identity]).expect("our own file"), b"x");
    }
    if let Ok(line) = std::str::from_utf8(der) {
        let _ = line.parse::<Recipient>();
        let _ = format!("ssh-ed25519 {line}").parse::<Recipient>();
        let _ = format!("ssh-rsa {line}").parse::<Recipient>();
    }
}
