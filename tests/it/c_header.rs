//! The header of the C library, which is written by hand, against the functions, structures and
//! constants of its crate.

use project::{pages, root};
use std::collections::{BTreeMap, BTreeSet};
use syn::parse::{Parse, ParseStream};
use syn::{
    Expr, FnArg, GenericArgument, Ident, Item, Lit, Pat, PathArguments, PointerMutability, ReturnType, Token,
    Type,
};

/// The C types of Rust types. Handles are converted by their names.
const TYPES: &[(&str, &str)] = &[
    ("In", "const uint8_t *"),
    ("Input", "const uint8_t *"),
    ("&[u8]", "const uint8_t *"),
    ("Output", "uint8_t *"),
    ("Verdicts", "uint8_t *"),
    ("&str", "const char *"),
    ("Option<&str>", "const char *"),
    ("&Path", "const char *"),
    ("Destination", "uint8_t **"),
    ("Lengths", "const uint64_t *"),
    ("Out", "uint8_t *"),
    ("CText", "const char *"),
    ("Given", "uint8_t **"),
    ("*const c_char", "const char *"),
    ("*mut c_void", "void *"),
    ("*mut u8", "uint8_t *"),
    ("usize", "size_t"),
    ("u64", "uint64_t"),
    ("u32", "uint32_t"),
    ("i64", "int64_t"),
    ("i32", "int32_t"),
    ("[u8; TEXT_LEN]", "uint8_t[248]"),
    ("[u8; 32]", "uint8_t[32]"),
];

/// The interface of the crate in the words of C.
#[derive(Default)]
struct Library {
    /// Declarations as C writes them, by name.
    functions: BTreeMap<String, String>,
    /// Members of structures as C writes them, by name.
    structures: BTreeMap<String, String>,
    constants: BTreeMap<String, String>,
    handles: BTreeSet<String>,
    /// Types of function pointers, with `NAME` in the place of the member.
    callbacks: BTreeMap<String, String>,
}

/// Converts `EncryptWith` to `sealane_encrypt_with`.
fn c_name(rust: &str) -> String {
    let mut name = String::from("sealane");
    for letter in rust.chars() {
        if letter.is_ascii_uppercase() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

/// Returns the text of a type, with its last name only.
fn text(rust: &Type) -> String {
    match rust {
        Type::Path(path) => {
            let last = path.path.segments.last().unwrap();
            let PathArguments::AngleBracketed(arguments) = &last.arguments else {
                return last.ident.to_string();
            };
            let Some(GenericArgument::Type(inner)) = arguments.args.first() else {
                panic!("{} has an argument that is no type", last.ident)
            };
            format!("{}<{}>", last.ident, text(inner))
        }
        Type::Ptr(pointer) => match pointer.mutability {
            PointerMutability::Mut(_) => format!("*mut {}", text(&pointer.elem)),
            PointerMutability::Const(_) => format!("*const {}", text(&pointer.elem)),
        },
        Type::Reference(reference) if reference.mutability.is_some() => {
            format!("Unique<{}>", text(&reference.elem))
        }
        Type::Reference(reference) => match text(&reference.elem).as_str() {
            plain @ ("[u8]" | "str" | "Path") => format!("&{plain}"),
            handle => format!("Shared<{handle}>"),
        },
        Type::Slice(slice) => format!("[{}]", text(&slice.elem)),
        Type::Array(array) => {
            let len = match &array.len {
                Expr::Path(path) => path.path.segments.last().unwrap().ident.to_string(),
                len => number(len),
            };
            format!("[{}; {len}]", text(&array.elem))
        }
        _ => panic!("a type that no function of C has"),
    }
}

impl Library {
    /// Returns the C type of a Rust type, and remembers handles.
    fn c_type(&mut self, rust: &str) -> String {
        if let Some((_, c)) = TYPES.iter().find(|(name, _)| *name == rust) {
            return (*c).to_owned();
        }
        for (kind, constant) in [
            ("Shared<", "const "),
            ("Unique<", ""),
            ("Owned<", ""),
            ("SizedIn<", "const "),
            ("SizedOut<", ""),
        ] {
            if let Some(inner) = rust.strip_prefix(kind).and_then(|rest| rest.strip_suffix('>')) {
                self.handles.insert(c_name(inner));
                return format!("{constant}{} *", c_name(inner));
            }
        }
        panic!("no type of C is known for {rust}");
    }

    fn add(&mut self, item: &Item) {
        match item {
            Item::Type(alias) => {
                if let Type::FnPtr(function) = &*alias.ty {
                    let mut arguments = Vec::new();
                    for argument in &function.inputs {
                        let name = argument.name.as_ref().unwrap().0.to_string();
                        arguments.push(declared(&self.c_type(&text(&argument.ty)), &name));
                    }
                    let result = self.result(&function.output);
                    let c = format!("{result} (*NAME)({})", arguments.join(", "));
                    self.callbacks.insert(alias.ident.to_string(), c);
                }
            }
            Item::Struct(item) if is_c(&item.attrs) => {
                let mut members = String::new();
                for field in &item.fields {
                    let (name, rust) = (field.ident.as_ref().unwrap().to_string(), text(&field.ty));
                    let callback = rust.strip_prefix("Option<").and_then(|rest| rest.strip_suffix('>'));
                    members += &match callback {
                        Some(alias) => self.callbacks[alias].replace("NAME", &name),
                        None => declared(&self.c_type(&rust), &name),
                    };
                    members += "; ";
                }
                self.structures.insert(c_name(&item.ident.to_string()), members);
            }
            Item::Const(item) if item.ident.to_string().starts_with("SEALANE_") => {
                self.constants.insert(item.ident.to_string(), number(&item.expr));
            }
            Item::Fn(item) if item.sig.abi.is_some() => {
                let exported = item.attrs.iter().any(|attribute| attribute.path().is_ident("unsafe"));
                assert!(exported, "{} is not exported", item.sig.ident);
                let mut arguments = Vec::new();
                for argument in &item.sig.inputs {
                    let FnArg::Typed(argument) = argument else { panic!("a receiver") };
                    let Pat::Ident(name) = &*argument.pat else { panic!("a pattern") };
                    arguments.push(declared(&self.c_type(&text(&argument.ty)), &name.ident.to_string()));
                }
                let list = if arguments.is_empty() { "void".to_owned() } else { arguments.join(", ") };
                let name = item.sig.ident.to_string();
                let result = self.result(&item.sig.output);
                let declaration = format!("{}({list});", declared(&result, &name));
                self.functions.insert(name, declaration);
            }
            Item::Macro(item) if item.mac.path.is_ident("exports") => {
                let exports: Exports = syn::parse2(item.mac.tokens.clone()).unwrap();
                self.handles.insert("sealane_error".into());
                for Export { name, arguments, result } in exports.0 {
                    let mut list = String::new();
                    for (name, rust, len) in arguments {
                        list += &format!("{}, ", declared(&self.c_type(&text(&rust)), &name.to_string()));
                        list += &len.map_or(String::new(), |len| format!("size_t {len}, "));
                    }
                    let result = self.c_type(&text(&result));
                    let declaration =
                        format!("{}({list}sealane_error *error);", declared(&result, &name.to_string()));
                    self.functions.insert(name.to_string(), declaration);
                }
            }
            Item::Macro(item) if item.mac.path.is_ident("freed") => {
                let Freed { function, name, handle } = syn::parse2(item.mac.tokens.clone()).unwrap();
                let handle = self.c_type(&format!("Owned<{handle}>"));
                self.functions.insert(function.to_string(), format!("void {function}({handle}{name});"));
            }
            _ => {}
        }
    }

    fn result(&mut self, output: &ReturnType) -> String {
        match output {
            ReturnType::Default => "void".into(),
            ReturnType::Type(_, result) => self.c_type(&text(result)),
        }
    }
}

/// The functions in a macro `exports!`; `guarded` gives each the last argument `error`.
struct Exports(Vec<Export>);

struct Export {
    name: Ident,
    /// Name and type of each argument, and the name of its length.
    arguments: Vec<(Ident, Type, Option<Ident>)>,
    result: Type,
}

impl Parse for Exports {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let mut exports = Vec::new();
        while !input.is_empty() {
            input.call(syn::Attribute::parse_outer)?;
            input.parse::<Token![fn]>()?;
            let (name, list);
            name = input.parse()?;
            syn::parenthesized!(list in input);
            let mut arguments = Vec::new();
            while !list.is_empty() {
                let name = list.parse()?;
                list.parse::<Token![:]>()?;
                let rust = list.parse()?;
                let mut len = None;
                if list.peek(syn::token::Bracket) {
                    let inner;
                    syn::bracketed!(inner in list);
                    len = Some(inner.parse()?);
                }
                arguments.push((name, rust, len));
                list.parse::<Option<Token![,]>>()?;
            }
            input.parse::<Token![->]>()?;
            let result = input.parse()?;
            input.parse::<syn::Block>()?;
            exports.push(Export { name, arguments, result });
        }
        Ok(Self(exports))
    }
}

/// The function in a macro `freed!`.
struct Freed {
    function: Ident,
    name: Ident,
    handle: Ident,
}

impl Parse for Freed {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let (function, argument) = (input.parse()?, input);
        let inner;
        syn::parenthesized!(inner in argument);
        let name = inner.parse()?;
        inner.parse::<Token![:]>()?;
        Ok(Self { function, name, handle: inner.parse()? })
    }
}

/// Declares `name` with a type of C.
fn declared(c: &str, name: &str) -> String {
    if let Some((element, len)) = c.split_once('[') {
        return format!("{element} {name}[{len}");
    }
    if c.ends_with('*') { format!("{c}{name}") } else { format!("{c} {name}") }
}

fn is_c(attributes: &[syn::Attribute]) -> bool {
    let c = |attribute: &syn::Attribute| attribute.parse_args::<Ident>().is_ok_and(|ident| ident == "C");
    attributes.iter().any(|attribute| attribute.path().is_ident("repr") && c(attribute))
}

/// The value of a constant as C writes it.
fn number(value: &Expr) -> String {
    match value {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(int) => int.to_string(),
            _ => panic!("a constant that is no number"),
        },
        Expr::Unary(negative) => format!("(-{})", number(&negative.expr)),
        Expr::Path(_) => "UINT64_MAX".into(),
        _ => panic!("a constant that is no number"),
    }
}

fn library() -> Library {
    let files: Vec<_> =
        pages("bindings/c/src", ".rs").iter().map(|page| syn::parse_file(&page.text).unwrap()).collect();
    let mut library = Library::default();
    // The types of function pointers are needed for the structures.
    for item in files.iter().flat_map(|file| &file.items).filter(|item| matches!(item, Item::Type(_))) {
        library.add(item);
    }
    for item in files.iter().flat_map(|file| &file.items).filter(|item| !matches!(item, Item::Type(_))) {
        library.add(item);
    }
    library
}

/// The header without comments and with single blanks.
fn header() -> String {
    let text = std::fs::read_to_string(root().join("bindings/c/include/sealane.h")).unwrap();
    let code: String = text
        .split("/*")
        .map(|part| part.split_once("*/").map_or(part, |(_, code)| code))
        .collect::<Vec<_>>()
        .join(" ");
    code.replace('\n', " \n ")
        .split([' ', '\t'])
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn the_header_declares_the_functions() {
    let (library, header) = (library(), header().replace("\n ", ""));
    for declaration in library.functions.values() {
        assert!(header.contains(declaration.as_str()), "sealane.h should have\n{declaration}");
    }
    // The two other declarations that end in this way are of function pointers.
    let declared = header.matches(");").count() - library.callbacks.len();
    assert_eq!(declared, library.functions.len(), "sealane.h declares a function that does not exist");
    assert!(declared > 60, "{declared} functions");
}

#[test]
fn the_header_has_the_structures_and_handles() {
    let (library, header) = (library(), header().replace("\n ", ""));
    for (name, members) in &library.structures {
        let definition = format!("typedef struct {name} {{ {members}}} {name};");
        assert!(header.contains(&definition), "sealane.h should have\n{definition}");
    }
    assert_eq!(header.matches("typedef struct").count(), library.handles.len(), "{:?}", library.handles);
    for handle in library.handles.iter().filter(|name| !library.structures.contains_key(*name)) {
        assert!(header.contains(&format!("typedef struct {handle} {handle};")), "{handle}");
        let free = format!("void {handle}_free({handle} *");
        assert!(header.contains(&free), "{handle} cannot be freed");
    }
    assert_eq!(library.structures.len(), 4);
}

#[test]
fn the_header_has_the_constants() {
    let (library, header) = (library(), header());
    let defined: BTreeMap<String, String> = header
        .lines()
        .filter_map(|line| line.trim().strip_prefix("#define SEALANE_")?.split_once(' '))
        .map(|(name, value)| (format!("SEALANE_{name}"), value.trim().to_owned()))
        // A test of `call` compares the codes of errors, which are negative, with those of the
        // core.
        .filter(|(name, value)| !value.starts_with("(-") || library.constants.contains_key(name))
        .collect();
    assert_eq!(defined, library.constants);
}

/// `bad_input.c` calls every function that can fail, and the other test programs and examples call
/// all functions.
#[test]
fn every_function_is_tested() {
    let source = |path: &str| std::fs::read_to_string(root().join(path)).unwrap();
    let table = source("bindings/c/tests/bad_input.c");
    let programs = [".c", ".h"].iter().flat_map(|ending| pages("bindings/c/tests", ending));
    let programs: String = programs.map(|page| page.text).collect();
    let examples: String = pages("bindings/c/examples", ".c").into_iter().map(|page| page.text).collect();
    for (name, declaration) in library().functions {
        let call = format!("{name}(");
        assert!(programs.contains(&call), "no test program calls {name}");
        let refused =
            [format!("FAILS(SEALANE_MISUSE, {call}"), format!("MAKES_NOTHING(SEALANE_MISUSE, {call}")];
        let listed = refused.iter().any(|call| table.contains(call.as_str()));
        assert!(
            listed || !declaration.contains("sealane_error *error"),
            "bad_input.c has no mistake in {name}"
        );
        let freed = format!("{name}(NULL)");
        assert!(
            !name.ends_with("_free") || table.contains(&freed),
            "bad_input.c does not free null with {name}"
        );
    }
    for page in pages("bindings/c/examples", ".c") {
        let name = page.path.rsplit('/').next().unwrap().trim_end_matches(".c").to_owned();
        let runs = source("bindings/c/test.sh");
        assert!(runs.contains(&name), "test.sh does not run the example {name}");
    }
    for group in [
        "aead_",
        "stream_",
        "pieces_",
        "secret_",
        "hybrid_",
        "signature_",
        "encrypt_file",
        "reader_",
        "filter_",
        "writer_",
    ] {
        assert!(examples.contains(&format!("sealane_{group}")), "no example shows sealane_{group}");
    }
}
