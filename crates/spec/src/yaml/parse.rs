//! The library's events to a tree.
//!
//! Mistakes that leave the rest readable (a duplicate key, a tag) are collected and reading goes on; a [`Finding`]
//! returned as an error ends it.

use std::{
    collections::{HashMap, hash_map},
    rc::Rc,
};

use granit_parser::{Event, Marker, Parser, ScalarStyle, StructureStyle, Tag};

use super::{Entry, Kind, Node, Scalar, limits, syntax};
use crate::{
    codes,
    excerpt::quoted_part,
    location::{FileId, Location, Span},
    problems::{Finding, Problems},
};

/// The root value of a file; `None` if the file has none or cannot be read to its end.
pub(crate) fn parse(file: FileId, text: &str, problems: &mut Problems<'_>) -> Option<Node> {
    let mut builder = Builder { file, problems, root: None, open: Vec::new(), anchors: HashMap::new(), values: 0 };
    let result = builder.read(text);
    let root = builder.root.take();
    match (result, root) {
        (Ok(()), Some(root)) if !root.is_null() => Some(root),
        (Ok(()), _) => {
            problems.push(Finding::error(codes::EMPTY, Location::whole(file), "this file has no content"));
            None
        }
        (Err(finding), _) => {
            problems.push(*finding);
            None
        }
    }
}

struct Builder<'a, 'p> {
    file: FileId,
    problems: &'a mut Problems<'p>,
    root: Option<Node>,
    open: Vec<Open>,
    anchors: HashMap<usize, Anchored>,
    /// Values so far, with aliases followed.
    values: usize,
}

/// A list or mapping whose end has not been seen.
struct Open {
    collection: Collection,
    location: Location,
    /// Written in brackets, so that its end is seen on the line.
    flow: bool,
    anchor: usize,
    values_before: usize,
    /// Levels below this one.
    depth: usize,
}

enum Collection {
    List(Vec<Node>),
    Map { entries: Vec<Entry>, seen: HashMap<Rc<str>, Location>, key: Option<Key> },
}

/// A key that waits for its value.
enum Key {
    Wanted(Rc<str>, Location),
    /// Reported already; its value is read and dropped.
    Refused,
}

/// What an alias stands for.
struct Anchored {
    node: Node,
    values: usize,
    depth: usize,
}

type Step = Result<(), Box<Finding>>;

impl Builder<'_, '_> {
    fn read(&mut self, text: &str) -> Step {
        let options = granit_parser::options! {
            strict_indentation: true,
            emit_comments: false,
            flow_nesting_limit: limits::DEPTH,
            block_nesting_limit: limits::DEPTH,
        };
        let mut documents = 0;
        for event in Parser::new_from_str_with_options(text, options) {
            let (event, span) = event.map_err(|error| Box::new(syntax::finding(&error, self.file, text)))?;
            let tag_location = span.tag_span().map(|tag| self.location(&tag.start, &tag.end));
            let location = self.location(&span.start, &span.end);
            match event {
                Event::DocumentStart(..) => {
                    documents += 1;
                    if documents > 1 {
                        let message = "a second YAML document begins here";
                        return Err(Box::new(Finding::error(codes::SEVERAL_DOCUMENTS, location, message)));
                    }
                }
                Event::Scalar(text, style, anchor, tag) => {
                    let forced_text = self.tag(tag.as_deref(), "str", tag_location.unwrap_or(location));
                    if text.len() > limits::SCALAR_BYTES {
                        let message = format!("this value is longer than {} bytes", limits::SCALAR_BYTES);
                        let hint = "check that this is the right file".to_owned();
                        return Err(Box::new(Finding::error(codes::TOO_COMPLEX, location, message).hint(hint)));
                    }
                    let plain = style == ScalarStyle::Plain && !forced_text;
                    let scalar = Scalar { text: text.into(), plain };
                    self.complete(Node { kind: Kind::Scalar(scalar), location }, anchor, 1, 0)?;
                }
                Event::SequenceStart(style, anchor, tag) => {
                    self.tag(tag.as_deref(), "seq", tag_location.unwrap_or(location));
                    self.begin(Collection::List(Vec::new()), location, style, anchor);
                }
                Event::MappingStart(style, anchor, tag) => {
                    self.tag(tag.as_deref(), "map", tag_location.unwrap_or(location));
                    let map = Collection::Map { entries: Vec::new(), seen: HashMap::new(), key: None };
                    self.begin(map, location, style, anchor);
                }
                Event::SequenceEnd | Event::MappingEnd => self.end(&span.end)?,
                Event::Alias(id) => self.alias(id, location)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn begin(&mut self, collection: Collection, location: Location, style: StructureStyle, anchor: usize) {
        let flow = style == StructureStyle::Flow;
        self.open.push(Open { collection, location, flow, anchor, values_before: self.values, depth: 0 });
    }

    fn end(&mut self, end: &Marker) -> Step {
        let Some(Open { collection, location, flow, anchor, values_before, depth }) = self.open.pop() else {
            return Ok(());
        };
        let location = if flow { up_to(location, end) } else { location };
        let node = match collection {
            Collection::List(items) => Node { kind: Kind::List(Rc::new(items)), location },
            Collection::Map { entries, .. } => {
                let location = entries.first().map_or(location, |first| first.key_location);
                Node { kind: Kind::Map(Rc::new(entries)), location }
            }
        };
        // The values inside have been counted one by one.
        let values_inside = self.values - values_before;
        self.values = values_before;
        self.complete(node, anchor, values_inside + 1, depth + 1)
    }

    fn alias(&mut self, id: usize, location: Location) -> Step {
        let Some(Anchored { node, values, depth }) = self.anchors.get(&id) else {
            let message = "this alias stands inside the value that it refers to";
            return Err(Box::new(Finding::error(codes::TOO_COMPLEX, location, message)));
        };
        let (values, depth) = (*values, *depth);
        let node = match (&node.kind, location.span) {
            // What is wrong with a scalar is reported at the alias; what is inside a collection stands where it stands.
            (Kind::Scalar(_), Some(span)) => node.clone().at(span),
            _ => node.clone(),
        };
        self.complete(node, 0, values, depth)
    }

    /// A whole value has been read: it goes into the collection around it.
    fn complete(&mut self, node: Node, anchor: usize, values: usize, depth: usize) -> Step {
        self.values = self.values.saturating_add(values);
        if self.values > limits::VALUES {
            let message = format!("this file unfolds to more than {} values", limits::VALUES);
            return Err(Box::new(Finding::error(codes::TOO_COMPLEX, node.location, message)));
        }
        if self.open.len() + depth > limits::DEPTH {
            return Err(Box::new(syntax::too_deep(node.location)));
        }
        if anchor != 0 {
            self.anchors.insert(anchor, Anchored { node: node.clone(), values, depth });
        }
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open { collection: Collection::List(items), depth: inside, .. }) => {
                *inside = depth.max(*inside);
                items.push(node);
            }
            Some(Open { collection: Collection::Map { entries, seen, key }, depth: inside, .. }) => {
                *inside = depth.max(*inside);
                match key.take() {
                    None => *key = Some(read_key(&node, seen, self.problems)),
                    Some(Key::Wanted(key, key_location)) => entries.push(Entry { key, key_location, value: node }),
                    Some(Key::Refused) => {}
                }
            }
        }
        Ok(())
    }

    /// True if the tag is the core schema's `expected`; any other tag is a problem.
    fn tag(&mut self, tag: Option<&Tag>, expected: &str, location: Location) -> bool {
        let Some(tag) = tag else { return false };
        let fits = tag.is_yaml_core_schema_tag(expected);
        if !fits {
            let finding = Finding::error(codes::UNSUPPORTED_YAML, location, "tags are not read here")
                .hint(Some("remove the tag; to make text of a number, put it in quotes".to_owned()));
            self.problems.push(finding);
        }
        fits
    }

    fn location(&self, start: &Marker, end: &Marker) -> Location {
        Location { file: self.file, span: Some(syntax::span(start, end)) }
    }
}

fn read_key(node: &Node, seen: &mut HashMap<Rc<str>, Location>, problems: &mut Problems<'_>) -> Key {
    let refuse = |problems: &mut Problems<'_>, finding: Finding| {
        problems.push(finding);
        Key::Refused
    };
    let Kind::Scalar(scalar) = &node.kind else {
        return refuse(problems, Finding::error(codes::UNSUPPORTED_YAML, node.location, "a key must be a single word"));
    };
    if scalar.plain && &*scalar.text == "<<" {
        let finding = Finding::error(codes::UNSUPPORTED_YAML, node.location, "merge keys (`<<`) are not read here")
            .hint(Some("write the keys out, or use an alias (`*name`) for a whole value".to_owned()));
        return refuse(problems, finding);
    }
    match seen.entry(scalar.text.clone()) {
        hash_map::Entry::Vacant(free) => {
            free.insert(node.location);
            Key::Wanted(scalar.text.clone(), node.location)
        }
        hash_map::Entry::Occupied(first) => {
            let message = format!("the key `{}` is given twice", quoted_part(&scalar.text));
            let finding =
                Finding::error(codes::DUPLICATE_KEY, node.location, message).also(*first.get(), "first given here");
            refuse(problems, finding)
        }
    }
}

fn up_to(location: Location, end: &Marker) -> Location {
    Location { span: location.span.map(|start| Span { end: syntax::span(end, end).end, ..start }), ..location }
}

#[cfg(test)]
mod tests;
