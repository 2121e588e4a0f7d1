//! Plugins of age that are missing, slow, wrong or hostile. Each is a shell script. Files are
//! exchanged with real plugins in `tests/interop/test_age_plugins.py`.
#![cfg(unix)]

mod limits;

use sealane::age::plugin::{Input, Interaction};
use sealane::age::{self, Armor, Identity, Kind, Plugins, Recipient};
use sealane::error::{PluginError, PluginProblem};
use sealane::interrupt::with_check;
use sealane::{Error, Misuse};
use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use zeroize::Zeroizing;

/// Our phase is read up to its end.
const READ: &str = "while read -r line; do test \"$line\" = '-> done' && break; done; read -r line\n";
const DONE: &str = "printf -- '-> done\\n\\n'\n";

/// A folder with the plugin `test`, which is removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, script: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("sealane-plugins-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let program = folder.join("age-plugin-test");
        // A thread that forks at the same time can hold a file open for writing, which then cannot
        // be started.
        let text = format!("#!/bin/sh\nf={}\n{script}", folder.display());
        fs::write(folder.join("script"), text).unwrap();
        fs::set_permissions(folder.join("script"), fs::Permissions::from_mode(0o700)).unwrap();
        let copied = Command::new("cp").arg("-p").arg(folder.join("script")).arg(program).status().unwrap();
        assert!(copied.success());
        Self(folder)
    }

    fn plugins(&self) -> Plugins {
        Plugins::default().path(&self.0)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn recipient(plugins: &Plugins) -> Recipient {
    Identity::from_plugin("test").unwrap().with_plugins(plugins).recipient()
}

fn identity(plugins: &Plugins) -> Identity {
    Identity::from_plugin("test").unwrap().with_plugins(plugins)
}

fn seal(plugins: &Plugins) -> Result<Vec<u8>, Error> {
    age::seal(b"hello", &[recipient(plugins)], Armor::Binary)
}

/// Opens a file that is for another identity, so that only the plugin can open it.
fn open(plugins: &Plugins) -> Result<Vec<u8>, Error> {
    let other = Identity::generate(Kind::X25519).unwrap().recipient();
    let file = age::seal(b"hello", &[other], Armor::Binary).unwrap();
    age::open(&file, &[identity(plugins)]).map(|plain| plain.to_vec())
}

/// Returns the problem, after a check that the error names the plugin.
fn problem<T: std::fmt::Debug>(result: Result<T, Error>) -> PluginProblem {
    match result {
        Err(Error::Plugin(PluginError { plugin, problem })) => {
            assert_eq!(plugin, "test");
            problem
        }
        other => panic!("expected an error of the plugin, found {other:?}"),
    }
}

/// Runs both directions with a plugin, and returns their problems.
fn problems(name: &str, script: &str) -> [PluginProblem; 2] {
    let folder = Folder::new(name, script);
    let plugins = folder.plugins().timeout(Duration::from_secs(20));
    [problem(seal(&plugins)), problem(open(&plugins))]
}

/// Returns the number of plugins that have ended and that our process never waits for.
///
/// Plugins of the tests on other threads are there for a moment too, so those are counted that are
/// there for ten seconds.
fn zombies() -> usize {
    let is_zombie = |process: &PathBuf| {
        fs::read_to_string(process.join("stat")).is_ok_and(|stat| {
            let fields: Vec<_> = stat.rsplit(") ").next().unwrap().split(' ').collect();
            fields[0] == "Z"
                && fields[1] == std::process::id().to_string()
                && stat.contains("(age-plugin-test)")
        })
    };
    let mut found: Vec<_> = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path()).collect();
    let began = Instant::now();
    loop {
        found.retain(is_zombie);
        if found.is_empty() || began.elapsed() > Duration::from_secs(10) {
            return found.len();
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

// claim: plugin-permission
#[test]
fn without_permission() {
    let text = "age1test1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqlm5aa";
    assert!(matches!(text.parse::<Recipient>(), Err(Error::Format(_))), "the checksum is wrong");
    let identity = Identity::from_plugin("test").unwrap();
    assert_eq!((identity.plugin(), identity.recipient().plugin()), (Some("test"), Some("test")));
    let sealed = age::seal(b"", &[identity.recipient()], Armor::Binary);
    assert!(matches!(problem(sealed), PluginProblem::NotEnabled));
    let other = Identity::generate(Kind::X25519).unwrap();
    let file = age::seal(b"hello", &[other.recipient()], Armor::Binary).unwrap();
    assert!(matches!(problem(age::open(&file, std::slice::from_ref(&identity))), PluginProblem::NotEnabled));
    // A plugin is not needed if another identity opens the file.
    assert_eq!(*age::open(&file, &[identity, other]).unwrap(), b"hello");
}

// claim: plugin-errors, plugin-path
#[test]
fn missing_programs() {
    let folder = Folder::new("missing", "");
    let plugins = folder.plugins();
    fs::set_permissions(folder.0.join("age-plugin-test"), fs::Permissions::from_mode(0o600)).unwrap();
    let folders = [folder.0.to_str().unwrap(), "", "/nowhere", ":.:relative"];
    for path in folders {
        for found in [problem(seal(&plugins.clone().path(path))), problem(open(&plugins.clone().path(path)))]
        {
            assert!(matches!(found, PluginProblem::NotFound), "{path}: {found:?}");
        }
    }
    fs::write(folder.0.join("age-plugin-test"), "#!/no/such/interpreter\n").unwrap();
    fs::set_permissions(folder.0.join("age-plugin-test"), fs::Permissions::from_mode(0o700)).unwrap();
    let found = problem(seal(&plugins));
    assert!(
        matches!(&found, PluginProblem::NotStarted(error) if error.kind() == std::io::ErrorKind::NotFound)
    );
}

/// The current folder can belong to another user.
// claim: plugin-path
#[test]
fn relative_folders_are_not_searched() {
    let folder = Folder::new("relative", DONE);
    let up: PathBuf = std::env::current_dir().unwrap().components().skip(1).map(|_| "..").collect();
    let relative = up.join(folder.0.strip_prefix("/").unwrap());
    assert!(relative.join("age-plugin-test").is_file());
    assert!(matches!(problem(seal(&Plugins::default().path(relative))), PluginProblem::NotFound));
}

// claim: plugin-errors
#[test]
fn plugins_that_end_early() {
    for (name, script) in [("exit", "exit 3"), ("killed", "kill -9 $$"), ("closed", "exec <&- >&-; sleep 60")]
    {
        for found in problems(name, script) {
            let PluginProblem::Ended { status } = &found else { panic!("{name}: {found:?}") };
            let shown = status.as_deref().unwrap_or_default();
            let expected = [("exit", "exit status: 3"), ("killed", "signal: 9 (SIGKILL)"), ("closed", "")];
            assert!(expected.contains(&(name, shown)), "{name}: {shown}");
        }
    }
    for found in problems("half", &format!("{READ}printf -- '-> recipient-stanza 0 a\\nAAAA'")) {
        assert!(matches!(found, PluginProblem::Ended { .. }), "{found:?}");
    }
    assert_eq!(zombies(), 0);
}

// claim: plugin-errors, plugin-bounded
#[test]
fn other_programs_and_wrong_commands() {
    let cases = [
        ("text", "echo hello; sleep 60".to_owned()),
        ("prompt", "printf 'Password: '; sleep 60".to_owned()),
        ("zeros", "head -c 300000 /dev/zero; sleep 60".to_owned()),
        ("flood", "yes -- '-> a'".to_owned()),
        ("endless-line", "printf -- '-> '; yes a | tr -d '\\n'".to_owned()),
        (
            "endless-body",
            "printf -- '-> a\\n'; yes AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
                .to_owned(),
        ),
        ("endless-messages", format!("{READ}while :; do printf -- '-> msg\\nAAAA\\n' || exit; done")),
        ("endless-grease", format!("{READ}while :; do printf -- '-> grease\\n\\n' || exit; done")),
        ("confirm", format!("{READ}printf -- '-> confirm\\nAAAA\\n'; sleep 60")),
        ("confirm-base64", format!("{READ}printf -- '-> confirm *\\nAAAA\\n'; sleep 60")),
        ("not-utf8", format!("{READ}printf -- '-> msg\\n/w\\n'; sleep 60")),
    ];
    for (name, script) in cases {
        for found in problems(name, &script) {
            assert!(matches!(found, PluginProblem::Protocol(_)), "{name}: {found:?}");
        }
    }
    assert_eq!(zombies(), 0);
}

// claim: plugin-errors
#[test]
fn wrong_stanzas() {
    let cases = [
        ("none", DONE.to_owned()),
        ("index", "printf -- '-> recipient-stanza 1 a\\n\\n'; sleep 60".to_owned()),
        ("no-words", "printf -- '-> recipient-stanza 0\\n\\n'; sleep 60".to_owned()),
        (
            "labels",
            "for i in 1 2; do printf -- '-> labels a\\n\\n'; read l; read l; done; sleep 60".to_owned(),
        ),
        ("scrypt", format!("printf -- '-> recipient-stanza 0 scrypt\\n\\n'; read l; read l; {DONE}")),
    ];
    for (name, script) in cases {
        let folder = Folder::new(&format!("stanza-{name}"), &format!("{READ}{script}"));
        let found = problem(seal(&folder.plugins()));
        assert!(matches!(found, PluginProblem::Protocol(_)), "{name}: {found:?}");
    }
}

// claim: plugin-file-key
#[test]
fn wrong_file_keys() {
    let key = "AAAAAAAAAAAAAAAAAAAAAA";
    let send = |words: &str, body: &str| format!("printf -- '-> {words}\\n{body}\\n'; read l; read l;");
    let cases = [
        ("short", send("file-key 0", "AAAA") + "sleep 60"),
        ("index", send("file-key 1", key) + "sleep 60"),
        ("words", send("file-key", key) + "sleep 60"),
        ("twice", send("file-key 0", key).repeat(2) + "sleep 60"),
    ];
    for (name, script) in cases {
        let folder = Folder::new(&format!("key-{name}"), &format!("{READ}{script}"));
        let found = problem(open(&folder.plugins()));
        assert!(matches!(found, PluginProblem::Protocol(_)), "{name}: {found:?}");
    }
    let folder = Folder::new("key-other", &format!("{READ}{} {DONE}", send("file-key 0", key)));
    assert!(matches!(problem(open(&folder.plugins())), PluginProblem::WrongFileKey));
}

#[test]
fn identities_that_do_not_match() {
    let folder = Folder::new("no-match", &format!("{READ}{DONE}"));
    assert!(matches!(open(&folder.plugins()), Err(Error::NoMatchingKey)));
}

/// The plugin keeps the file key that it gets, so it is as bad as a plugin can be for secrecy, and
/// correct otherwise.
const KEEPING: &str = "case $1 in
*recipient*)
    while read -r line; do
        test \"$last\" = '-> wrap-file-key' && echo \"$line\" > $f/key
        last=$line
        test \"$line\" = '-> done' && break
    done
    printf -- '-> recipient-stanza 0 test\\n\\n'; read l; read l;;
*)
    while read -r line; do test \"$line\" = '-> done' && break; done
    printf -- '-> file-key 0\\n'; cat $f/key; read l; read l;;
esac
printf -- '-> done\\n\\n'
";

#[test]
fn files_with_a_plugin() {
    let folder = Folder::new("keeping", KEEPING);
    let plugins = folder.plugins();
    let file = seal(&plugins).unwrap();
    assert!(file.starts_with(b"age-encryption.org/v1\n-> test\n\n--- "));
    assert_eq!(*age::open(&file, &[identity(&plugins)]).unwrap(), b"hello");
    // An identity of a plugin that is missing does no harm if another one opens the file.
    let missing = Identity::from_plugin("missing").unwrap().with_plugins(&plugins);
    assert_eq!(*age::open(&file, &[missing.clone(), identity(&plugins)]).unwrap(), b"hello");
    let error = age::open(&file, &[missing]).unwrap_err().to_string();
    assert!(error.starts_with("age plugin missing: expected the program age-plugin-missing"), "{error}");
    assert_eq!(zombies(), 0);
}

#[test]
fn recipients_with_other_labels() {
    let labels = |labels: &str| {
        KEEPING.replace(
            DONE.trim_end(),
            &format!("printf -- '-> labels {labels}\\n\\n'; read l; read l\n{DONE}"),
        )
    };
    let (classical, quantum) =
        (Identity::generate(Kind::X25519).unwrap(), Identity::generate(Kind::Hybrid).unwrap());
    let seal = |folder: &Folder, other: &Identity| {
        age::seal(b"", &[recipient(&folder.plugins()), other.recipient()], Armor::Binary)
    };
    let plain = Folder::new("labels-none", KEEPING);
    assert!(age::open(&seal(&plain, &classical).unwrap(), std::slice::from_ref(&classical)).is_ok());
    assert!(matches!(seal(&plain, &quantum), Err(Error::Misuse(Misuse::InvalidRecipients(_)))));
    let pq = Folder::new("labels-pq", &labels("postquantum"));
    assert!(age::open(&seal(&pq, &quantum).unwrap(), std::slice::from_ref(&quantum)).is_ok());
    assert!(matches!(seal(&pq, &classical), Err(Error::Misuse(Misuse::InvalidRecipients(_)))));
    let own = Folder::new("labels-own", &labels("b a"));
    for other in [&classical, &quantum] {
        assert!(matches!(seal(&own, other), Err(Error::Misuse(Misuse::InvalidRecipients(_)))));
    }
}

/// A user who answers every question, and a list of the questions.
#[derive(Default)]
struct User(Mutex<Vec<String>>);

impl Interaction for User {
    fn message(&self, plugin: &str, text: &str) -> Result<Option<()>, Error> {
        self.0.lock().unwrap().push(format!("{plugin}: {text}"));
        Ok(Some(()))
    }

    fn request(&self, plugin: &str, prompt: &str, input: Input) -> Result<Option<Zeroizing<String>>, Error> {
        self.0.lock().unwrap().push(format!("{plugin}: {prompt}? {input:?}"));
        Ok(Some(Zeroizing::new("1234".to_owned())))
    }

    fn confirm(
        &self,
        plugin: &str,
        prompt: &str,
        yes: &str,
        no: Option<&str>,
    ) -> Result<Option<bool>, Error> {
        self.0.lock().unwrap().push(format!("{plugin}: {prompt}? {yes} {no:?}"));
        match prompt {
            "fail" => Err(Error::Cancelled),
            _ => Ok(Some(no.is_none())),
        }
    }
}

#[test]
fn questions_to_the_user() {
    let ask = |words: &str, body: &str| {
        format!(
            "printf -- '-> {words}\\n{body}\\n'; read l; echo \"$l\" >> $f/log; read l; echo \"$l\" >> $f/log\n"
        )
    };
    let script = [
        READ.to_owned(),
        ask("msg", "aGVsbG8"),
        ask("request-secret", "UElO"),
        ask("request-public", "c2xvdA"),
        ask("confirm eWVz bm8", "dXNl"),
        ask("confirm eWVz", "dXNl"),
        ask("grease 1", "AAAA"),
        DONE.to_owned(),
    ]
    .concat();
    let folder = Folder::new("questions", &script);
    let user = Arc::new(User::default());
    let log = || std::mem::take(&mut *user.0.lock().unwrap());
    let plugins = Plugins::new(Arc::clone(&user) as Arc<dyn Interaction>).path(&folder.0);
    assert!(matches!(open(&plugins), Err(Error::NoMatchingKey)));
    let expected = ["hello", "PIN? Secret", "slot? Public", "use? yes Some(\"no\")", "use? yes None"];
    assert_eq!(log(), expected.map(|text| format!("test: {text}")));
    let replies = "-> ok\n\n-> ok\nMTIzNA\n-> ok\nMTIzNA\n-> ok no\n\n-> ok yes\n\n-> unsupported\n\n";
    assert_eq!(fs::read_to_string(folder.0.join("log")).unwrap(), replies);
    // Without a user, the plugin is told so.
    fs::remove_file(folder.0.join("log")).unwrap();
    assert!(matches!(open(&folder.plugins()), Err(Error::NoMatchingKey)));
    let replies = "-> fail\n\n".repeat(5) + "-> unsupported\n\n";
    assert_eq!(fs::read_to_string(folder.0.join("log")).unwrap(), replies);

    let folder = Folder::new("cancel", &[READ, &ask("confirm eWVz bm8", "ZmFpbA"), "sleep 60"].concat());
    let began = Instant::now();
    assert!(matches!(open(&plugins.path(&folder.0)), Err(Error::Cancelled)));
    assert!(began.elapsed() < Duration::from_secs(20));
    assert_eq!(zombies(), 0);
}

/// The error of a plugin is shown, but no secret in it.
// claim: plugin-errors
#[test]
fn reported_errors() {
    let report = |text: &str| {
        let encoded =
            Command::new("sh").arg("-c").arg(format!("printf -- '{text}' | base64 -w 64 | tr -d =")).output();
        let body = String::from_utf8(encoded.unwrap().stdout).unwrap().replace('\n', "\\n");
        format!("{READ}printf -- '-> error internal\\n{body}'; read l; read l\n{DONE}")
    };
    let shown = |name: &str, script: &str| {
        problems(name, script).map(|found| match found {
            PluginProblem::Reported(text) => text,
            other => panic!("{name}: {other:?}"),
        })
    };
    for text in shown("report", &report("the key\\n is \\033locked")) {
        assert_eq!(text, "the key\\n is \\u001blocked");
    }
    for text in shown("report-bidi", &report("key\\342\\200\\256dekcol")) {
        assert_eq!(text, "key\\u202edekcol");
    }
    for text in shown("report-long", &report(&"ab".repeat(1000))) {
        assert_eq!(text.chars().count(), 301);
    }
    for secret in ["see AGE-SECRET-KEY-1ABC", "age-plugin-test-1abc", "-----BEGIN PRIVATE KEY-----"] {
        for text in shown("report-secret", &report(secret)) {
            assert_eq!(text, "(a text that contains a secret)");
        }
    }
    for text in shown("report-end", &(report("locked").replace(DONE, "exit 1\n"))) {
        assert_eq!(text, "locked");
    }
    // The body of wrap-file-key is encoded once more, so that it becomes text again.
    let script = "while read -r line; do
        test \"$last\" = '-> wrap-file-key' && key=$line
        last=$line
        test \"$line\" = '-> done' && break
    done
    read l; printf -- '-> error internal\\n'; printf %s \"$key\" | base64 | tr -d =; read l; read l; printf -- '-> done\\n\\n'";
    let folder = Folder::new("report-key", script);
    let found = problem(seal(&folder.plugins()));
    assert!(
        matches!(&found, PluginProblem::Reported(text) if text == "(a text that contains a secret)"),
        "{found:?}"
    );
}

// claim: plugin-bounded
#[test]
fn silent_plugins_are_ended() {
    let cases = [
        ("silent", format!("{READ}sleep 60")),
        ("unread", "sleep 60".to_owned()),
        ("dribbling", "printf -- '-> '; while :; do printf a; sleep 0.1; done".to_owned()),
    ];
    for (name, script) in cases {
        let folder = Folder::new(name, &script);
        let plugins = folder.plugins().timeout(Duration::from_secs(1));
        for work in [|plugins: &Plugins| seal(plugins), open] {
            let began = Instant::now();
            assert!(matches!(problem(work(&plugins)), PluginProblem::TimedOut(_)));
            assert!(began.elapsed() < Duration::from_secs(20));
        }
    }
    assert_eq!(zombies(), 0);
}

/// Each silence is shorter than the limit, and their sum is not.
// claim: plugin-bounded
#[test]
fn plugins_that_never_end() {
    let script = format!("{READ}while :; do sleep 0.2; printf -- '-> msg\\neA\\n'; read l; read l; done");
    let folder = Folder::new("endless", &script);
    let limit = Duration::from_secs(1);
    let began = Instant::now();
    match problem(seal(&folder.plugins().timeout(limit))) {
        PluginProblem::TimedOut(found) => assert!(found > limit),
        other => panic!("{other:?}"),
    }
    assert!(began.elapsed() < Duration::from_secs(60));
    assert_eq!(zombies(), 0);
}

/// A header that does not fit into a pipe, for a plugin that does not read.
// claim: plugin-bounded
#[test]
fn plugins_that_do_not_read() {
    let folder = Folder::new("full-pipe", "sleep 60");
    let identities: Vec<_> = (0..2000).map(|_| Identity::generate(Kind::X25519).unwrap()).collect();
    let recipients: Vec<_> = identities.iter().map(Identity::recipient).collect();
    let file = age::seal(b"", &recipients, Armor::Binary).unwrap();
    let plugins = folder.plugins().timeout(Duration::from_secs(1));
    assert!(matches!(problem(age::open(&file, &[identity(&plugins)])), PluginProblem::TimedOut(_)));
}

// claim: plugin-bounded
#[test]
fn a_check_cancels() {
    let folder = Folder::new("check", "sleep 60");
    let began = Instant::now();
    let result = with_check(|| ControlFlow::Break(()), || seal(&folder.plugins()));
    assert!(matches!(result, Err(Error::Cancelled)));
    assert!(began.elapsed() < Duration::from_secs(20));
    assert_eq!(zombies(), 0);
}
