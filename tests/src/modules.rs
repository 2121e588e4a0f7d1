//! The module graph of a crate: which source file uses items that another file defines.
//!
//! Each file is parsed, and each path in it is resolved as the compiler would resolve it: through
//! `crate`, `self` and `super`, through imports, glob imports and re-exports, down to the module
//! that defines the item. A path that leads out of the crate, or to a local name, is left out. An
//! import or a re-export is no use by itself: it counts where code mentions the imported name. Code
//! under `#[cfg(test)]` is left out too, so that, for example, a unit test of a low layer may use a
//! higher one.
//!
//! Macro calls are not expanded. Their tokens are read as paths where they look like paths, so that
//! a name in a `format!` or in a table of variants counts.

use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, UseTree};

/// Edges from each file to the files whose items it uses, with one path that makes the edge. Files
/// are named relative to the source folder.
pub type Graph = BTreeMap<String, BTreeMap<String, String>>;

/// Reads the graph of the crate whose root module is `root`, for example
/// `crates/sealane/src/lib.rs`.
pub fn graph(root: &Path) -> Graph {
    let folder = root.parent().expect("a source file lies in a folder").to_owned();
    let mut modules = Modules { folder: folder.clone(), ..Modules::default() };
    modules.read(root, &folder, Vec::new());
    modules.edges()
}

/// The edges between files that need each other: one list for each strongly connected component.
pub fn cycles(graph: &Graph) -> Vec<Vec<String>> {
    let reach = |from: &String| {
        let mut seen = BTreeSet::new();
        let mut waiting = vec![from.clone()];
        while let Some(file) = waiting.pop() {
            for next in graph.get(&file).into_iter().flat_map(BTreeMap::keys) {
                if seen.insert(next.clone()) {
                    waiting.push(next.clone());
                }
            }
        }
        seen
    };
    let reachable: BTreeMap<_, _> = graph.keys().map(|file| (file, reach(file))).collect();
    let mut found: Vec<BTreeSet<String>> = Vec::new();
    for (file, from_here) in &reachable {
        let component: BTreeSet<_> = from_here
            .iter()
            .filter(|other| reachable.get(other).is_some_and(|back| back.contains(*file)))
            .cloned()
            .collect();
        if component.len() > 1 && !found.contains(&component) {
            found.push(component);
        }
    }
    let inside = |component: &BTreeSet<String>| {
        let edges =
            component.iter().flat_map(|from| graph[from].iter().map(move |(to, path)| (from, to, path)));
        let edges = edges.filter(|(_, to, _)| component.contains(*to));
        edges.map(|(from, to, path)| format!("{from} -> {to} by {path}")).collect()
    };
    found.iter().map(inside).collect()
}

/// A module's place in the crate, for example `["age", "header"]`.
type ModulePath = Vec<String>;

#[derive(Default)]
struct Module {
    file: String,
    /// Names of items that this module defines, its macros included.
    defined: BTreeSet<String>,
    /// Names that an import or a re-export brings in, with the path that they stand for.
    imported: HashMap<String, Vec<String>>,
    /// Paths of glob imports.
    globs: Vec<Vec<String>>,
    /// All paths that its code mentions.
    used: BTreeSet<Vec<String>>,
}

#[derive(Default)]
struct Modules {
    folder: PathBuf,
    all: BTreeMap<ModulePath, Module>,
}

impl Modules {
    fn read(&mut self, file: &Path, children: &Path, path: ModulePath) {
        let source = fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let parsed = syn::parse_file(&source).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let name = file.strip_prefix(&self.folder).unwrap_or(file).to_string_lossy().replace('\\', "/");
        self.items(&parsed.items, &name, children, path);
    }

    fn items(&mut self, items: &[Item], file: &str, children: &Path, path: ModulePath) {
        let mut module = Module { file: file.to_owned(), ..Module::default() };
        for item in items.iter().filter(|item| !is_test(attributes(item))) {
            if let Some(name) = defined_name(item) {
                module.defined.insert(name);
            }
            match item {
                Item::Mod(inner) => {
                    let mut below = path.clone();
                    below.push(inner.ident.to_string());
                    match &inner.content {
                        Some((_, items)) => {
                            self.items(items, file, &children.join(inner.ident.to_string()), below);
                        }
                        None => {
                            let (file, children) = module_file(children, &inner.ident.to_string());
                            self.read(&file, &children, below);
                        }
                    }
                }
                // `::name` is another crate.
                Item::Use(import) if import.leading_colon.is_some() => {}
                Item::Use(import) => {
                    collect_use(&import.tree, &mut Vec::new(), &mut module);
                }
                other => Paths { used: &mut module.used }.visit_item(other),
            }
        }
        self.all.insert(path, module);
    }

    fn edges(&self) -> Graph {
        let mut graph = Graph::new();
        for (path, module) in &self.all {
            let edges = graph.entry(module.file.clone()).or_default();
            for used in &module.used {
                if let Some(definer) = self.resolve(path, used, 0) {
                    edges.insert(definer.file.clone(), used.join("::"));
                }
            }
        }
        for (file, edges) in &mut graph {
            edges.remove(file);
        }
        graph
    }

    /// The module that defines the item at `used`, seen from the module at `from`.
    fn resolve(&self, from: &ModulePath, used: &[String], depth: usize) -> Option<&Module> {
        // Imports may go round in circles, as glob imports of parent and child do.
        if depth > 16 {
            return None;
        }
        let (first, rest) = used.split_first()?;
        match first.as_str() {
            "crate" => self.walk(&Vec::new(), rest, depth),
            "self" => self.walk(from, rest, depth),
            "super" => self.walk(&from[..from.len().checked_sub(1)?].to_vec(), rest, depth),
            _ => self.lookup(from, used, depth),
        }
    }

    /// Follows `rest` down from the module at `at`.
    fn walk(&self, at: &ModulePath, rest: &[String], depth: usize) -> Option<&Module> {
        match rest.first().map(String::as_str) {
            None => None,
            Some("super") => self.walk(&at[..at.len().checked_sub(1)?].to_vec(), &rest[1..], depth),
            Some("self") => self.walk(at, &rest[1..], depth),
            // A name that the module does not show is one that a macro defines there.
            Some(name) => self.lookup(at, rest, depth).or_else(|| {
                let module =
                    rest.len() == 1 && !self.all.contains_key(&[at.as_slice(), &[name.to_owned()]].concat());
                self.all.get(at).filter(|_| module)
            }),
        }
    }

    /// Looks `path` up by the names that the module at `at` has.
    fn lookup(&self, at: &ModulePath, path: &[String], depth: usize) -> Option<&Module> {
        let module = self.all.get(at)?;
        let (first, rest) = path.split_first()?;
        let mut below = at.clone();
        below.push(first.clone());
        if self.all.contains_key(&below) {
            // Of a path that ends at a module the use is of the item behind it, which another path
            // names.
            return if rest.is_empty() { None } else { self.walk(&below, rest, depth) };
        }
        if module.defined.contains(first) {
            return Some(module);
        }
        if let Some(target) = module.imported.get(first) {
            let whole: Vec<_> = target.iter().chain(rest).cloned().collect();
            return if whole == path { None } else { self.resolve(at, &whole, depth + 1) };
        }
        module.globs.iter().find_map(|glob| {
            let whole: Vec<_> = glob.iter().chain(path).cloned().collect();
            self.resolve(at, &whole, depth + 1)
        })
    }
}

/// The file of `mod name;` and the folder of its own modules.
fn module_file(children: &Path, name: &str) -> (PathBuf, PathBuf) {
    let folder = children.join(name);
    let sibling = children.join(format!("{name}.rs"));
    if sibling.exists() { (sibling, folder) } else { (folder.join("mod.rs"), folder) }
}

fn collect_use(tree: &UseTree, prefix: &mut Vec<String>, module: &mut Module) {
    match tree {
        UseTree::Path(path) => {
            prefix.push(path.ident.to_string());
            collect_use(&path.tree, prefix, module);
            prefix.pop();
        }
        UseTree::Name(name) if name.ident == "self" => {
            if let Some(last) = prefix.last() {
                module.imported.insert(last.clone(), prefix.clone());
            }
        }
        UseTree::Name(name) => {
            let mut whole = prefix.clone();
            whole.push(name.ident.to_string());
            module.imported.insert(name.ident.to_string(), whole);
        }
        UseTree::Rename(rename) => {
            let mut whole = prefix.clone();
            if rename.ident != "self" {
                whole.push(rename.ident.to_string());
            }
            module.imported.insert(rename.rename.to_string(), whole);
        }
        UseTree::Glob(_) => module.globs.push(prefix.clone()),
        UseTree::Group(group) => group.items.iter().for_each(|tree| collect_use(tree, prefix, module)),
    }
}

/// Collects the paths of an item, those in macro calls included.
struct Paths<'a> {
    used: &'a mut BTreeSet<Vec<String>>,
}

impl<'ast> Visit<'ast> for Paths<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_test(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            self.used.insert(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.tokens(call.tokens.clone());
        visit::visit_macro(self, call);
    }
}

impl Paths<'_> {
    /// Reads `a::b::c` out of tokens. A single name counts as well, because a table may name an
    /// imported function.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(name) => {
                    if colons != 2 {
                        self.end(&mut path);
                    }
                    path.push(name.to_string());
                    colons = 0;
                }
                TokenTree::Punct(mark) if mark.as_char() == ':' => colons += 1,
                TokenTree::Group(group) => {
                    self.end(&mut path);
                    self.tokens(group.stream());
                }
                _ => self.end(&mut path),
            }
        }
        self.end(&mut path);
    }

    fn end(&mut self, path: &mut Vec<String>) {
        if !path.is_empty() {
            self.used.insert(std::mem::take(path));
        }
    }
}

fn defined_name(item: &Item) -> Option<String> {
    Some(
        match item {
            Item::Const(item) => &item.ident,
            Item::Enum(item) => &item.ident,
            Item::Fn(item) => &item.sig.ident,
            Item::Macro(item) => item.ident.as_ref()?,
            Item::Static(item) => &item.ident,
            Item::Struct(item) => &item.ident,
            Item::Trait(item) => &item.ident,
            Item::Type(item) => &item.ident,
            Item::Union(item) => &item.ident,
            _ => return None,
        }
        .to_string(),
    )
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Whether an item is compiled for tests only: `#[cfg(test)]`, `#[cfg(all(test, unix))]` or
/// `#[test]`.
fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg")
                && matches!(&attribute.meta, syn::Meta::List(list) if {
                    let text = list.tokens.to_string();
                    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "test")
                        && !text.contains("not")
                })
    })
}
