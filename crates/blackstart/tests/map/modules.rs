//! Which modules of a crate name which, and those that do so in circles.
//!
//! ```text
//! text ─► words ─► paths from `crate`, `self` and `super` ─► through imports and re-exports to a module ─► circles of siblings
//! ```
//! A module may use what is in those around it, and what is in it; so circles are sought among the modules of one folder, each
//! with all that is below it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use regex::Regex;

/// From the root of a crate: names of modules, and at the end perhaps of what is in the last.
type Route = Vec<String>;

/// The modules of a crate, by their route; the root has the empty one.
#[derive(Default)]
pub(crate) struct Modules(BTreeMap<Route, Module>);

#[derive(Default)]
struct Module {
    /// What is imported or re-exported by this name; from within the module's own crate, as everything here.
    imports: BTreeMap<String, Route>,
    /// Of these, all names are imported.
    globs: Vec<Route>,
    /// Everything that is named, imports too.
    named: Vec<Route>,
    /// What is declared in it.
    items: BTreeSet<String>,
}

/// A path as it is written, in its parts.
struct Written {
    path: Vec<String>,
    /// What it is called from there on; `*` for all of its names.
    name: String,
}

impl Modules {
    /// By the text of each, without what is for tests only.
    pub(crate) fn read(texts: &BTreeMap<Route, String>) -> Self {
        let mut all = Self::default();
        for (route, text) in texts {
            let words = words(text);
            let mut module = Module { items: items(&words), ..Module::default() };
            let mut depth = 0;
            for (at, word) in words.iter().enumerate() {
                depth += i32::from(word == "{") - i32::from(word == "}");
                let is_import = word == "use" && depth == 0;
                let before = at.checked_sub(1).map_or("", |before| &words[before]);
                let is_head = ["crate", "self", "super"].contains(&word.as_str()) && !["::", "$"].contains(&before);
                let is_path = is_head && is(&words, at + 1, "::");
                if !is_import && !is_path {
                    continue;
                }
                let mut written = Vec::new();
                tree(&words, at + usize::from(is_import), &[], &mut written);
                for Written { path, name } in written {
                    let Some(to) = absolute(route, &path, texts) else { continue };
                    match name.as_str() {
                        "*" if is_import => module.globs.push(to.clone()),
                        _ if is_import => drop(module.imports.insert(name, to.clone())),
                        _ => {}
                    }
                    module.named.push(to);
                }
            }
            all.0.insert(route.clone(), module);
        }
        all
    }

    /// Modules of one folder that name each other, each as `folder: one, other`.
    pub(crate) fn circles(&self) -> Vec<String> {
        let mut siblings: BTreeMap<Route, BTreeMap<&str, BTreeSet<&str>>> = BTreeMap::new();
        for (from, module) in &self.0 {
            for named in &module.named {
                let to = self.home(named, 0);
                let common = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
                if let (Some(one), Some(other)) = (from.get(common), self.known(&to).get(common)) {
                    siblings.entry(from[..common].to_vec()).or_default().entry(one).or_default().insert(other);
                }
            }
        }
        let folder = |route: &Route| route.iter().map(|name| format!("{name}/")).collect::<String>();
        let named = |(route, circle): (&Route, Vec<&str>)| format!("{}{}", folder(route), circle.join(", "));
        siblings
            .iter()
            .flat_map(|(route, names)| circles(names).into_iter().map(move |circle| (route, circle)))
            .map(named)
            .collect()
    }

    /// The module that has what this leads to.
    fn home(&self, route: &[String], jumps: usize) -> Route {
        let mut home = Route::new();
        for (at, name) in route.iter().enumerate() {
            let child = [&home[..], std::slice::from_ref(name)].concat();
            if self.0.contains_key(&child) {
                home = child;
                continue;
            }
            let module = &self.0[&home];
            let from_glob = || {
                module.globs.iter().find(|glob| self.has(glob, name)).map(|glob| [glob, &child[home.len()..]].concat())
            };
            let import = module.imports.get(name).cloned().or_else(from_glob);
            return match import {
                // A name that leads to itself is a macro's or another crate's.
                Some(import) if jumps < 8 => self.home(&[&import, &route[at + 1..]].concat(), jumps + 1),
                _ => home,
            };
        }
        home
    }

    fn has(&self, glob: &Route, name: &String) -> bool {
        let module = self.0.get(glob);
        module.is_some_and(|module| module.items.contains(name) || module.imports.contains_key(name))
    }

    /// The same route as it is kept here.
    fn known(&self, route: &Route) -> &Route {
        self.0.get_key_value(route).map_or(&EMPTY, |(known, _)| known)
    }
}

static EMPTY: Route = Route::new();

/// Groups of names each of which leads to each other.
fn circles<'a>(names: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> Vec<Vec<&'a str>> {
    let reached = |from: &'a str| {
        let (mut seen, mut left) = (BTreeSet::new(), vec![from]);
        while let Some(name) = left.pop() {
            left.extend(names.get(name).into_iter().flatten().filter(|next| seen.insert(**next)));
        }
        seen
    };
    let reached: BTreeMap<&str, BTreeSet<&str>> = names.keys().map(|name| (*name, reached(name))).collect();
    let circle = |name: &&'a str| -> Vec<&'a str> {
        let is_mutual = |other: &&&str| reached.get(**other).is_some_and(|back| back.contains(name));
        reached[name].iter().filter(is_mutual).copied().collect()
    };
    let all: BTreeSet<Vec<&str>> = names.keys().map(circle).filter(|circle| circle.len() > 1).collect();
    all.into_iter().collect()
}

/// Comments, and texts within the code.
static NO_CODE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r##"//[^\n]*|r#"[\s\S]*?"#|"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\\n]|\\.)'"##).unwrap());

static WORD: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\w+|::|\S").unwrap());

fn words(text: &str) -> Vec<String> {
    let code = NO_CODE.replace_all(text, " ");
    WORD.find_iter(&code).map(|word| word.as_str().to_owned()).collect()
}

fn is(words: &[String], at: usize, expected: &str) -> bool {
    words.get(at).is_some_and(|word| word == expected)
}

fn items(words: &[String]) -> BTreeSet<String> {
    const KINDS: [&str; 7] = ["fn", "struct", "enum", "trait", "const", "static", "type"];
    words.windows(2).filter(|pair| KINDS.contains(&pair[0].as_str())).map(|pair| pair[1].clone()).collect()
}

/// The paths of a tree such as `a::{b, c::*}`, and where it ends.
fn tree(words: &[String], mut at: usize, before: &[String], written: &mut Vec<Written>) -> usize {
    let mut path = before.to_vec();
    loop {
        match words.get(at).map(String::as_str) {
            Some("{") => {
                at += 1;
                while at < words.len() && !is(words, at, "}") {
                    at = tree(words, at, &path, written);
                    at += usize::from(is(words, at, ","));
                }
                return at + 1;
            }
            Some("*") => {
                written.push(Written { path, name: "*".to_owned() });
                return at + 1;
            }
            Some(name) if name.starts_with(|letter: char| letter.is_alphabetic() || letter == '_') => {
                // `a::{self}` is `a`; alone it is where this module is.
                if name != "self" || path.is_empty() {
                    path.push(name.to_owned());
                }
                at += 1;
            }
            _ => break,
        }
        if !is(words, at, "::") {
            break;
        }
        at += 1;
    }
    let mut name = path.last().cloned().unwrap_or_default();
    if is(words, at, "as") {
        name.clone_from(&words[at + 1]);
        at += 2;
    }
    written.push(Written { path, name });
    // Whatever cannot be part of a path is stepped over, so that a group always ends.
    let is_end = at >= words.len() || [",", "}", ";"].iter().any(|end| is(words, at, end));
    at + usize::from(!is_end)
}

/// From the root; `None` for what is another crate's.
fn absolute(module: &Route, path: &[String], modules: &BTreeMap<Route, String>) -> Option<Route> {
    let (first, rest) = path.split_first()?;
    let from = match first.as_str() {
        "crate" => Route::new(),
        "self" => module.clone(),
        "super" => {
            let ups = path.iter().take_while(|part| *part == "super").count();
            let base = &module[..module.len().checked_sub(ups)?];
            return Some([base, &path[ups..]].concat());
        }
        _ => {
            let child = [&module[..], &path[..1]].concat();
            modules.contains_key(&child).then_some(child)?
        }
    };
    Some([&from[..], rest].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(texts: &[(&str, &str)]) -> Vec<String> {
        let route = |text: &str| text.split('/').filter(|name| !name.is_empty()).map(str::to_owned).collect::<Route>();
        let texts = texts.iter().map(|(at, text)| (route(at), (*text).to_owned())).collect();
        Modules::read(&texts).circles()
    }

    #[test]
    fn modules_that_name_each_other_are_found() {
        for (case, texts, expected) in [
            ("one way", &[("", "mod a; mod b;"), ("a", "use crate::b::B;"), ("b", "struct B;")][..], &[][..]),
            ("both ways", &[("", ""), ("a", "use crate::b::B;"), ("b", "fn b(a: super::a::A) {}")], &["a, b"]),
            (
                "by a re-export",
                &[("", "pub use a::A; use b::B as C;"), ("a", "crate::C"), ("b", "use crate::{x, A};")],
                &["a, b"],
            ),
            ("by all names", &[("", "pub use a::*;"), ("a", "struct A; use crate::b;"), ("b", "super::A")], &["a, b"]),
            (
                "three",
                &[
                    ("", ""),
                    ("a", "crate::b::x()"),
                    ("b", "crate::c::x()"),
                    ("c", "crate::a::{self as y}"),
                    ("d", "crate::a::x()"),
                ],
                &["a, b, c"],
            ),
            (
                "what is around",
                &[("", "use a::A; struct B;"), ("a", "crate::B; self::b::C"), ("a/b", "super::A; crate::B")],
                &[],
            ),
            (
                "below",
                &[("", ""), ("a", ""), ("a/b", "use super::c::{self, C};"), ("a/c", "use crate::a::b;")],
                &["a/b, c"],
            ),
            (
                "in a comment or a text",
                &[("", ""), ("a", "// crate::b\n\"crate::b\"; '\"'"), ("b", "crate::a::x()")],
                &[],
            ),
        ] {
            assert_eq!(found(texts), expected, "{case}");
        }
    }
}
