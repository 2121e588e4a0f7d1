//! Plugins at the limits of the protocol, and texts of the user.

use super::*;
use base64ct::Encoding;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A recipient of the plugin `test` with ten bytes.
const RECIPIENT: &str = "age1test1qqqqqqqqqqqqqqqqrnqd23";

/// Returns the problem of a plugin that runs with a file of the test as its input.
fn sealed_by(name: &str, input: &[u8], script: &str) -> Result<Vec<u8>, Error> {
    let folder = Folder::new(name, script);
    fs::write(folder.0.join("input"), input).unwrap();
    seal(&folder.plugins().timeout(Duration::from_secs(60)))
}

fn protocol<T: std::fmt::Debug>(result: Result<T, Error>) -> &'static str {
    match problem(result) {
        PluginProblem::Protocol(text) => text,
        other => panic!("{other:?}"),
    }
}

/// Encodes a body like the program `base64`, in lines of 64 columns of which the last one is
/// shorter.
fn body(len: usize) -> String {
    let encoded = base64ct::Base64Unpadded::encode_string(&vec![7; len]);
    let full = encoded.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap());
    let lines: Vec<_> = full.collect();
    let end = if encoded.len() % 64 == 0 { "\n\n" } else { "\n" };
    lines.join("\n") + end
}

const SEND: &str = "cat $f/input; sleep 60\n";

#[test]
fn texts_have_at_most_4096_bytes() {
    let ask = |len: usize| format!("-> msg\n{}-> done\n\n", body(len));
    for len in [1, 4095, 4096] {
        let found = sealed_by(&format!("text-{len}"), ask(len).as_bytes(), &format!("{READ}{SEND}"));
        assert_eq!(protocol(found), "expected a stanza for the recipients, found none", "{len}");
    }
    for len in [4097, 5000] {
        let found = sealed_by(&format!("text-{len}"), ask(len).as_bytes(), &format!("{READ}{SEND}"));
        assert_eq!(protocol(found), "expected texts of at most 4096 bytes, found a longer one", "{len}");
    }
}

#[test]
fn a_plugin_has_at_most_1000_commands_that_are_no_results() {
    for (commands, expected) in [
        (1000, "expected a stanza for the recipients, found none"),
        (1001, "expected at most 1000 messages, questions and errors, found more"),
    ] {
        let input = "-> grease\n\n".repeat(commands) + "-> done\n\n";
        let found = sealed_by(&format!("commands-{commands}"), input.as_bytes(), &format!("{READ}{SEND}"));
        assert_eq!(protocol(found), expected);
    }
}

/// A header has at most 4096 stanzas.
#[test]
fn a_plugin_has_at_most_4096_stanzas() {
    for (stanzas, is_refused) in [(4096, false), (4097, true)] {
        let input = "-> recipient-stanza 0 a\n\n".repeat(stanzas) + "-> done\n\n";
        let found = sealed_by(&format!("stanzas-{stanzas}"), input.as_bytes(), &format!("{READ}{SEND}"));
        match is_refused {
            true => assert_eq!(protocol(found), "expected at most 4096 stanzas with 16 MiB, found more"),
            false => assert!(found.is_ok(), "{found:?}"),
        }
    }
}

/// Words count with their separators, so a stanza with the words `recipient-stanza 0 a` counts 21
/// bytes and its body.
#[test]
fn the_stanzas_of_a_plugin_have_at_most_16_mib() {
    const FULL: usize = 180_000;
    let rest = (16 << 20) - 90 * (FULL + 21);
    for (name, last, is_refused) in [("fit", rest - 21, false), ("long", rest - 20, true)] {
        let mut input = format!("-> recipient-stanza 0 a\n{}", body(FULL)).repeat(90);
        assert!(last < 1 << 20);
        let (half, other) = (last / 4, last - last / 4 * 3 - 4 * 21 + 21);
        for len in [half, half, half, other] {
            input += &format!("-> recipient-stanza 0 a\n{}", body(len));
        }
        input += "-> done\n\n";
        let found = sealed_by(&format!("bytes-{name}"), input.as_bytes(), &format!("{READ}{SEND}"));
        let is_too_long = matches!(&found, Err(Error::Plugin(error)) if error.to_string().contains("16 MiB"));
        assert_eq!(is_too_long, is_refused, "{name}: {:?}", found.map(|file| file.len()));
    }
}

/// A stanza of a passphrase is alone, also with a label.
#[test]
fn stanzas_of_a_passphrase() {
    let scrypt = "-> recipient-stanza 0 scrypt\n\n";
    let labels = "-> labels a\n\n";
    let (done, other) = ("-> done\n\n", "-> recipient-stanza 0 a\n\n");
    for (name, input, is_refused) in [
        ("alone", [scrypt, labels, done].concat(), false),
        ("without-label", [scrypt, done].concat(), true),
        ("twice", [scrypt, scrypt, labels, done].concat(), true),
        ("before", [scrypt, other, labels, done].concat(), true),
        ("after", [other, scrypt, labels, done].concat(), true),
        ("three", [other, scrypt, other, labels, done].concat(), true),
        ("none", [other, other, labels, done].concat(), false),
    ] {
        let found = sealed_by(&format!("scrypt-{name}"), input.as_bytes(), &format!("{READ}{SEND}"));
        match is_refused {
            true => assert!(protocol(found).contains("one of a passphrase without a label"), "{name}"),
            false => assert!(found.is_ok(), "{name}: {found:?}"),
        }
    }
}

/// Returns as many characters as the number in the prompt, and counts the reminders.
#[derive(Default)]
struct Typist(AtomicUsize);

impl Interaction for Typist {
    fn request(&self, _: &str, prompt: &str, _: Input) -> Result<Option<Zeroizing<String>>, Error> {
        Ok(Some(Zeroizing::new("x".repeat(prompt.parse().unwrap()))))
    }

    fn waiting(&self, plugin: &str) {
        assert_eq!(plugin, "test");
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn inputs_have_at_most_4096_bytes() {
    let ask = |prompt: &str| {
        format!("printf -- '-> request-secret\\n{prompt}\\n'; read l; echo \"$l\" >> $f/log; read l\n")
    };
    let skip = "while test ${#l} = 64; do read l; done\n";
    // 4096, 4097 and 0 in base64.
    let script = [READ, &ask("NDA5Ng"), skip, &ask("NDA5Nw"), &ask("MA"), DONE].concat();
    let folder = Folder::new("inputs", &script);
    let plugins = Plugins::new(Arc::new(Typist::default())).path(&folder.0);
    assert!(matches!(open(&plugins), Err(Error::NoMatchingKey)));
    assert_eq!(fs::read_to_string(folder.0.join("log")).unwrap(), "-> ok\n-> fail\n-> ok\n");
}

/// The user is reminded once of a plugin that is silent for more than five seconds, and never of
/// another one.
#[test]
fn reminders() {
    for (name, script, expected) in
        [("slow", format!("{READ}sleep 6\n{DONE}"), 1), ("fast", format!("{READ}sleep 0.2\n{DONE}"), 0)]
    {
        let folder = Folder::new(name, &script);
        let user = Arc::new(Typist::default());
        let plugins = Plugins::new(Arc::clone(&user) as Arc<dyn Interaction>).path(&folder.0);
        assert!(matches!(open(&plugins), Err(Error::NoMatchingKey)));
        assert_eq!(user.0.load(Ordering::Relaxed), expected, "{name}");
    }
}

/// After the conversation, the pipes are closed, and the plugin has time to end.
#[test]
fn plugins_end_after_the_conversation() {
    let end = "while read -r line; do :; done; echo > $f/ended\n";
    let folder = Folder::new("ended", &[READ, DONE, end].concat());
    assert!(matches!(open(&folder.plugins()), Err(Error::NoMatchingKey)));
    assert!(folder.0.join("ended").exists());
}

/// A plugin that closes its input while it is written to.
#[test]
fn plugins_that_close_their_input() {
    let folder = Folder::new("closed-input", "sleep 0.3; exec <&-; sleep 60");
    let identities: Vec<_> = (0..2000).map(|_| Identity::generate(Kind::X25519).unwrap()).collect();
    let recipients: Vec<_> = identities.iter().map(Identity::recipient).collect();
    let file = age::seal(b"", &recipients, Armor::Binary).unwrap();
    let plugins = folder.plugins().timeout(Duration::from_secs(30));
    let found = problem(age::open(&file, &[identity(&plugins)]));
    assert!(matches!(found, PluginProblem::Ended { .. }), "{found:?}");
}

/// A recipient is public, so an error may name it.
#[test]
fn errors_that_name_a_recipient() {
    let report = "-> error internal\nINPUT-> done\n\n";
    let encoded = base64ct::Base64Unpadded::encode_string(RECIPIENT.as_bytes());
    let folder = Folder::new("named", &format!("{READ}{SEND}"));
    fs::write(folder.0.join("input"), report.replace("INPUT", &(encoded + "\n"))).unwrap();
    let recipient: Recipient = RECIPIENT.parse().unwrap();
    assert_eq!(recipient.to_string(), RECIPIENT);
    let found = problem(age::seal(b"", &[recipient.with_plugins(&folder.plugins())], Armor::Binary));
    assert!(matches!(&found, PluginProblem::Reported(text) if text == RECIPIENT), "{found:?}");
}
