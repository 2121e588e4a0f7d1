//! The list of all public types of the crate `sealane` that change with their calls, with what a
//! copy of them may do.
//!
//! `fork()` copies every value. A copy that counts nonces would use them for other messages. So a
//! new type that changes must be added to one of the lists.

use project::{pages, root};
use std::collections::{BTreeMap, BTreeSet};
use syn::visit::{self, Visit};

/// Types that refuse to continue in a forked child. They contain a `ForkGuard`, or a field of a
/// type that does. `crates/sealane/tests/it/fork.rs` tests each of them.
const GUARDED: [&str; 6] = [
    "keys/asymmetric/hpke/context.rs: Sender",
    "files/output.rs: OutputFile",
    "files/stream.rs: Encryptor",
    "folders/writer.rs: Writer",
    "messages/hazmat/pieces.rs: AeadEncryptor",
    "messages/hazmat/poly1305.rs: Poly1305",
];

/// Types whose copies may continue, with the reason.
const HARMLESS: [(&str, &str); 23] = [
    ("base/interrupt.rs: Pace", "counts bytes until the next look at the clock"),
    ("base/memory.rs: Wiped", "holds plaintext and seals nothing"),
    ("messages/aead.rs: Buffer", "each message has a nonce of the generator, which notices a fork"),
    ("keys/age/armor/decoder.rs: Decoder", "decodes ASCII armor"),
    ("keys/age/armor/encoder.rs: Encoder", "encodes ASCII armor"),
    ("keys/asymmetric/hpke/context.rs: Receiver", "decrypts"),
    ("engine/options.rs: Options", "holds a callback"),
    ("engine/options.rs: Progress", "calls a callback"),
    (
        "engine/staged.rs: StagedFile",
        "has a `ForkGuard`; users reach it only in an `OutputFile`, which is listed above",
    ),
    ("files/byte_queue.rs: ByteQueue", "holds bytes; the encryptor that writes to it refuses"),
    ("folders/described.rs: DescribedFolder", "holds keys; each file has a fresh derived key"),
    ("folders/inventory/draft.rs: InventoryDraft", "lists encrypted files; each inventory has a fresh key"),
    ("folders/job.rs: Job", "lists files; each of them is encrypted with a fresh key or nonce"),
    ("folders/manifest.rs: Manifest", "lists finished files and seals nothing"),
    ("engine/reader.rs: ChunkReader", "decrypts"),
    ("files/reader.rs: Reader", "decrypts"),
    ("files/stream.rs: Decryptor", "decrypts; its sink can be an `OutputFile`, which refuses"),
    ("messages/hazmat/pieces.rs: AeadDecryptor", "decrypts"),
    ("folders/removal.rs: Stale", "lists files to remove and seals nothing"),
    ("keys/keyring/folder.rs: FolderKeys", "holds keys; each wrapping has a fresh nonce"),
    ("keys/signature/message.rs: Signing", "hashes; signatures of Ed25519 need no nonce"),
    ("keys/signature/message.rs: Verifying", "hashes"),
    ("keys/keyring/mod.rs: Keyring", "holds keys and seals nothing"),
];

/// The crates behind `sealane`.
const LIBRARIES: [&str; 6] = ["base", "messages", "engine", "keys", "files", "folders"];

/// The structs and enums of a file, and those that change with a call or through a shared
/// reference.
#[derive(Default)]
struct Types {
    structs: BTreeMap<String, Struct>,
    changing: BTreeSet<String>,
}

struct Struct {
    public: bool,
    /// The identifiers in the types of its fields.
    fields: BTreeSet<String>,
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes
        .iter()
        .any(|a| a.path().is_ident("cfg") && a.parse_args::<syn::Ident>().is_ok_and(|i| i == "test"))
}

/// The identifiers in a type or another part of the syntax.
#[derive(Default)]
struct Idents(BTreeSet<String>);

impl<'ast> Visit<'ast> for Idents {
    fn visit_ident(&mut self, ident: &'ast syn::Ident) {
        self.0.insert(ident.to_string());
    }
}

impl<'ast> Visit<'ast> for Types {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        let mut idents = Idents::default();
        item.fields.iter().for_each(|field| idents.visit_type(&field.ty));
        let interior = |ident: &String| {
            ident.starts_with("Atomic") || ["Mutex", "RwLock", "Cell", "RefCell"].contains(&ident.as_str())
        };
        if idents.0.iter().any(interior) {
            self.changing.insert(item.ident.to_string());
        }
        let public = matches!(item.vis, syn::Visibility::Public(_));
        self.structs.insert(item.ident.to_string(), Struct { public, fields: idents.0 });
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        let mut idents = Idents::default();
        item.variants
            .iter()
            .flat_map(|variant| &variant.fields)
            .for_each(|field| idents.visit_type(&field.ty));
        // An enum is not listed, but a struct can be guarded by what is in it.
        self.structs.insert(item.ident.to_string(), Struct { public: false, fields: idents.0 });
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let changes = item.items.iter().any(|member| match member {
            syn::ImplItem::Fn(method) => {
                let drops = method.sig.ident == "drop";
                method
                    .sig
                    .receiver()
                    .is_some_and(|me| matches!(me.kind, syn::ReceiverKind::Reference(_, _, Some(_))))
                    && !drops
            }
            _ => false,
        });
        if let (true, syn::Type::Path(of)) = (changes, &*item.self_ty) {
            self.changing.extend(of.path.segments.last().map(|last| last.ident.to_string()));
        }
    }
}

#[test]
fn every_type_that_changes_is_listed() {
    let mut all = BTreeMap::new();
    for page in LIBRARIES
        .iter()
        .flat_map(|library| pages(&format!("crates/{library}/src"), ".rs"))
        .filter(|page| !page.path.ends_with("/test.rs"))
    {
        let mut types = Types::default();
        types.visit_file(&syn::parse_file(&page.text).unwrap());
        all.insert(page.path.trim_start_matches("crates/").replacen("/src/", "/", 1), types);
    }
    let found: BTreeSet<String> = all
        .iter()
        .flat_map(|(path, types)| {
            let public = |name: &&String| types.structs.get(*name).is_some_and(|one| one.public);
            types.changing.iter().filter(public).map(move |name| format!("{path}: {name}"))
        })
        .collect();
    let listed: BTreeSet<String> =
        GUARDED.iter().chain(HARMLESS.iter().map(|(name, _)| name)).map(|name| (*name).to_owned()).collect();
    assert_eq!(found, listed, "add a new type to one of the lists of this test");
    let guarded = |name: &str| is_guarded(&all, name, &mut BTreeSet::new());
    let tests = std::fs::read_to_string(root().join("crates/sealane/tests/it/fork.rs")).unwrap();
    for entry in GUARDED {
        let name = entry.rsplit(' ').next().unwrap();
        assert!(guarded(name), "{entry} has no ForkGuard");
        assert!(tests.contains(name), "{entry} is not tested");
    }
}

/// Returns whether a type of this name has a guard among its fields, or the fields of their types.
fn is_guarded(all: &BTreeMap<String, Types>, name: &str, seen: &mut BTreeSet<String>) -> bool {
    let fields: Vec<&String> =
        all.values().filter_map(|types| types.structs.get(name)).flat_map(|one| &one.fields).collect();
    fields.iter().any(|field| field.as_str() == "ForkGuard")
        || fields.into_iter().any(|field| seen.insert(field.clone()) && is_guarded(all, field, seen))
}

/// Python classes use the lock of `shared.rs`, which raises an exception for a call inside a call.
/// With a plain mutex, a signal handler or a file object that calls back would wait forever.
#[test]
fn python_classes_use_the_shared_lock() {
    // No Python code runs while the mutex is held: in the others the value is cloned or replaced.
    const MAY: [&str; 4] = [
        "bindings/python/src/shared.rs",
        "bindings/python/src/fields.rs",
        "bindings/python/src/plugins.rs",
        "bindings/python/src/folder/store.rs",
    ];
    for page in
        pages("bindings/python/src", ".rs").into_iter().filter(|page| !MAY.contains(&page.path.as_str()))
    {
        for (line, code) in page.code() {
            assert!(!code.contains("Mutex") && !code.contains("RwLock"), "{}:{line}: {code}", page.path);
        }
    }
}
