//! Requests as trees of DER values, and what an attacker may do to them before signing.

use rcgen::{KeyPair, SigningKey};

use crate::chance::Chance;

/// A value: its tag as bytes, how its length is written, and what is in it.
#[derive(Clone)]
pub(crate) struct Value {
    tag: Vec<u8>,
    length: Length,
    /// What stands before its parts; the number of unused bits of a bit string that holds values.
    before: Vec<u8>,
    parts: Vec<Value>,
    after: Vec<u8>,
}

#[derive(Clone, Copy)]
enum Length {
    Shortest,
    /// With so many bytes too many.
    Longer(usize),
    Indefinite,
    /// Wrong by so much.
    Wrong(isize),
}

const TEXTS: &[u8] = &[0x0c, 0x12, 0x13, 0x14, 0x16, 0x1a, 0x1b, 0x1c, 0x1e];
const TAGS: &[u8] = &[
    0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x0a, 0x0c, 0x13, 0x16, 0x17, 0x1e, 0x30, 0x31, 0x80, 0x81, 0x82, 0x86, 0x87,
    0xa0, 0xa1, 0xa3, 0x24, 0x23, 0x3f,
];

fn plain(tag: u8, content: &[u8]) -> Value {
    Value { tag: vec![tag], length: Length::Shortest, before: content.to_vec(), parts: Vec::new(), after: Vec::new() }
}

fn of(tag: u8, parts: Vec<Value>) -> Value {
    Value { tag: vec![tag], length: Length::Shortest, before: Vec::new(), parts, after: Vec::new() }
}

fn oid(bytes: &[u8]) -> Value {
    plain(0x06, bytes)
}

const ORGANIZATION: &[u8] = &[0x55, 4, 10];
const COMMON_NAME: &[u8] = &[0x55, 4, 3];
const LOCALITY: &[u8] = &[0x55, 4, 7];
const SUBJECT_ALT_NAME: &[u8] = &[0x55, 0x1d, 0x11];
const KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x0f];
const EXTENSION_REQUEST: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 14];
const CHALLENGE_PASSWORD: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 7];
const EC: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1];
const P256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7];
const P384: &[u8] = &[0x2b, 0x81, 4, 0, 0x22];
const WITH_SHA256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2];
const WITH_SHA384: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 3];

/// Of what a request is made. Anything of it may have been changed.
pub(crate) struct Draft {
    info: Value,
    algorithm: Value,
    /// Changed after signing.
    whole: fn(&mut Value, &mut Chance),
}

fn attribute(kind: &[u8], text: &str) -> Value {
    of(0x30, vec![oid(kind), plain(0x13, text.as_bytes())])
}

fn subject(node: &str) -> Value {
    let name = format!("system:node:{node}");
    of(
        0x30,
        vec![of(0x31, vec![attribute(ORGANIZATION, "system:nodes")]), of(0x31, vec![attribute(COMMON_NAME, &name)])],
    )
}

fn extension(kind: &[u8], content: Value) -> Value {
    of(0x30, vec![oid(kind), of(0x04, vec![content])])
}

fn extension_request(extensions: Vec<Value>) -> Value {
    of(0x30, vec![oid(EXTENSION_REQUEST), of(0x31, vec![of(0x30, extensions)])])
}

fn evil_names() -> Value {
    extension(SUBJECT_ALT_NAME, of(0x30, vec![plain(0x82, b"kubernetes")]))
}

/// A request as Go writes it, for this key.
pub(crate) fn honest(key: &KeyPair, chance: &mut Chance) -> Draft {
    let point = key.public_key_raw();
    let (curve, algorithm) = if point.len() == 65 { (P256, WITH_SHA256) } else { (P384, WITH_SHA384) };
    let node = format!("worker-{:02}", chance.below(100));
    let mut bits = vec![0];
    bits.extend(point);
    let key = of(0x30, vec![of(0x30, vec![oid(EC), oid(curve)]), plain(0x03, &bits)]);
    let mut attributes = Vec::new();
    if !chance.once_in(3) {
        let mut names = vec![plain(0x82, node.as_bytes())];
        if chance.once_in(2) {
            names.push(plain(0x82, format!("{node}.example.org").as_bytes()));
        }
        names.push(plain(0x87, &[192, 0, 2, chance.byte()]));
        if chance.once_in(2) {
            names.push(plain(0x87, &[0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, chance.byte()]));
        }
        attributes.push(extension_request(vec![extension(SUBJECT_ALT_NAME, of(0x30, names))]));
    }
    Draft {
        info: of(0x30, vec![plain(0x02, &[0]), subject(&node), key, of(0xa0, attributes)]),
        algorithm: of(0x30, vec![oid(algorithm)]),
        whole: |_, _| (),
    }
}

impl Draft {
    /// A part of what is signed, by the way to it, if an earlier trick has left it there.
    fn at(&mut self, way: &[usize]) -> Option<&mut Value> {
        way.iter().try_fold(&mut self.info, |value, index| value.parts.get_mut(*index))
    }

    fn subject(&mut self) -> Option<&mut Value> {
        self.at(&[1])
    }

    /// The key's bits, if they are still those of a key.
    fn point(&mut self) -> Option<&mut Vec<u8>> {
        self.at(&[2, 1]).map(|bits| &mut bits.before).filter(|bits| bits.len() > 64)
    }

    fn attributes(&mut self) -> Option<&mut Value> {
        self.at(&[3])
    }

    /// The extensions of the first attribute.
    fn extensions(&mut self) -> Option<&mut Value> {
        self.at(&[3, 0, 1, 0])
    }

    /// Signed by the holder of the key: an attacker signs what an attacker has made.
    pub(crate) fn sign(&self, key: &KeyPair, chance: &mut Chance) -> Vec<u8> {
        let mut info = Vec::new();
        self.info.write(&mut info);
        let mut bits = vec![0];
        bits.extend(key.sign(&info).unwrap());
        let mut whole = of(0x30, vec![self.info.clone(), self.algorithm.clone(), plain(0x03, &bits)]);
        (self.whole)(&mut whole, chance);
        let mut der = Vec::new();
        whole.write(&mut der);
        der
    }
}

impl Value {
    fn write(&self, out: &mut Vec<u8>) {
        let mut content = self.before.clone();
        for part in &self.parts {
            part.write(&mut content);
        }
        content.extend(&self.after);
        out.extend(&self.tag);
        match self.length {
            Length::Shortest => out.extend(length(content.len(), 0)),
            Length::Longer(more) => out.extend(length(content.len(), more)),
            Length::Wrong(by) => out.extend(length(content.len().saturating_add_signed(by), 0)),
            Length::Indefinite => {
                out.push(0x80);
                content.extend([0, 0]);
            }
        }
        out.extend(content);
    }

    /// Any value of the tree, each as likely as the others.
    fn any(&mut self, chance: &mut Chance) -> &mut Value {
        let wanted = chance.below(self.count());
        self.nth(wanted)
    }

    fn count(&self) -> usize {
        1 + self.parts.iter().map(Value::count).sum::<usize>()
    }

    fn nth(&mut self, mut index: usize) -> &mut Value {
        if index == 0 {
            return self;
        }
        index -= 1;
        for part in &mut self.parts {
            let count = part.count();
            if index < count {
                return part.nth(index);
            }
            index -= count;
        }
        unreachable!("the index is below the count")
    }

    /// A value with at least so many parts, if chance finds one.
    fn with_parts(&mut self, at_least: usize, chance: &mut Chance) -> Option<&mut Value> {
        let count = self.count();
        let found = (0..20).map(|_| chance.below(count)).find(|index| self.nth(*index).parts.len() >= at_least)?;
        Some(self.nth(found))
    }

    /// A value without parts that has this tag, if there is one.
    fn tagged(&mut self, tags: &[u8], chance: &mut Chance) -> Option<&mut Value> {
        let all: Vec<usize> = (0..self.count())
            .filter(|index| self.nth(*index).tag.len() == 1 && tags.contains(&self.nth(*index).tag[0]))
            .collect();
        if all.is_empty() { None } else { Some(self.nth(chance.pick(&all))) }
    }
}

fn length(length: usize, more: usize) -> Vec<u8> {
    if length < 0x80 && more == 0 {
        return vec![u8::try_from(length).unwrap()];
    }
    let bytes = length.to_be_bytes();
    let digits = &bytes[bytes.iter().take_while(|byte| **byte == 0).count()..];
    let mut written = vec![0x80 | u8::try_from(digits.len() + more).unwrap()];
    // The first one too many may be the long form itself, for what would fit the short one.
    written.extend(vec![0; more]);
    written.extend(digits);
    written
}

/// One thing that an attacker does.
pub(crate) type Trick = (&'static str, fn(&mut Draft, &mut Chance));

#[rustfmt::skip]
pub(crate) const TRICKS: &[Trick] = &[
    // Anywhere in the tree.
    ("another tag", |draft, chance| { let tag = chance.pick(TAGS); draft.info.any(chance).tag = vec![tag]; }),
    ("a high tag", |draft, chance| { let number = chance.byte() & 0x7f; let value = draft.info.any(chance); value.tag = vec![value.tag[0] | 0x1f, number]; }),
    ("a high tag that is low", |draft, chance| { let value = draft.info.any(chance); value.tag = vec![value.tag[0] | 0x1f, value.tag[0] & 0x1f]; }),
    ("the constructed bit", |draft, chance| draft.info.any(chance).tag[0] ^= 0x20),
    ("a length too long", |draft, chance| { let more = 1 + chance.below(4); draft.info.any(chance).length = Length::Longer(more); }),
    ("no length", |draft, chance| draft.info.any(chance).length = Length::Indefinite),
    ("a wrong length", |draft, chance| { let by = chance.pick(&[-2, -1, 1, 2, 127]); draft.info.any(chance).length = Length::Wrong(by); }),
    ("bytes behind", |draft, chance| { let byte = chance.byte(); draft.info.any(chance).after.push(byte); }),
    ("a null behind", |draft, chance| draft.info.any(chance).after.extend([5, 0])),
    ("bytes before", |draft, chance| { let byte = chance.byte(); draft.info.any(chance).before.insert(0, byte); }),
    ("another byte", |draft, chance| {
        let (at, byte) = (chance.next(), chance.byte());
        let value = draft.info.any(chance);
        if !value.before.is_empty() {
            let at = usize::try_from(at % value.before.len() as u64).unwrap();
            value.before[at] = byte;
        }
    }),
    ("one twice", |draft, chance| if let Some(value) = draft.info.with_parts(1, chance) {
        let at = chance.below(value.parts.len());
        value.parts.insert(at, value.parts[at].clone());
    }),
    ("one is missing", |draft, chance| if let Some(value) = draft.info.with_parts(1, chance) {
        let at = chance.below(value.parts.len());
        value.parts.remove(at);
    }),
    ("another order", |draft, chance| if let Some(value) = draft.info.with_parts(2, chance) {
        value.parts.rotate_left(1);
    }),
    ("two become one", |draft, chance| if let Some(value) = draft.info.with_parts(2, chance) {
        let last = value.parts.pop().unwrap();
        value.parts.last_mut().unwrap().parts.extend(last.parts);
    }),
    ("one value in place of another", |draft, chance| {
        let other = draft.info.any(chance).clone();
        if other.count() < 12 { *draft.info.any(chance) = other; }
    }),
    ("one value more", |draft, chance| {
        let other = draft.info.any(chance).clone();
        let at = chance.next();
        if other.count() < 12 && let Some(value) = draft.info.with_parts(1, chance) {
            let at = usize::try_from(at % (value.parts.len() as u64 + 1)).unwrap();
            value.parts.insert(at, other);
        }
    }),
    // Texts.
    ("another kind of text", |draft, chance| {
        let kind = chance.pick(TEXTS);
        if let Some(value) = draft.info.tagged(TEXTS, chance) { value.tag = vec![kind]; }
    }),
    ("a text in two bytes each", |draft, chance| if let Some(value) = draft.info.tagged(&[0x13], chance) {
        value.tag = vec![0x1e];
        value.before = value.before.iter().flat_map(|byte| [0, *byte]).collect();
    }),
    ("what a text must not hold", |draft, chance| {
        let (at, byte) = (chance.next(), chance.pick(&[0, b'*', b'&', b'@', b'_', b'\n', 0x7f, 0x80, 0xc3, 0xff]));
        if let Some(value) = draft.info.tagged(&[0x0c, 0x13, 0x82], chance) {
            let at = usize::try_from(at % (value.before.len() as u64 + 1)).unwrap();
            value.before.insert(at, byte);
        }
    }),
    ("a text of another alphabet", |draft, chance| if let Some(value) = draft.info.tagged(&[0x13], chance) {
        value.tag = vec![0x0c];
        value.before.extend("ä".bytes());
    }),
    ("an empty text", |draft, chance| if let Some(value) = draft.info.tagged(&[0x0c, 0x13, 0x82], chance) { value.before.clear(); }),
    // The subject.
    ("another key", |draft, chance| {
        let name = chance.pick(&["master-01", "Worker-01", "kubernetes-admin", ""]);
        if let Some(slot) = draft.subject() { *slot = subject(name); }
    }),
    ("a locality", |draft, _| if let Some(slot) = draft.subject() { slot.parts.push(of(0x31, vec![attribute(LOCALITY, "here")])); }),
    ("another group", |draft, chance| if let Some(slot) = draft.subject() {
        slot.parts.insert(chance.below(slot.parts.len() + 1), of(0x31, vec![attribute(ORGANIZATION, "system:masters")]));
    }),
    ("two in one", |draft, _| if let Some(slot) = draft.subject() {
        let both = vec![attribute(ORGANIZATION, "system:nodes"), attribute(COMMON_NAME, "system:node:worker-01")];
        *slot = of(0x30, vec![of(0x31, both)]);
    }),
    ("another group in the same place", |draft, chance| if let Some(slot) = draft.subject().and_then(|slot| slot.with_parts(1, chance)) {
        slot.parts.push(attribute(ORGANIZATION, "system:masters"));
    }),
    ("no subject", |draft, _| if let Some(slot) = draft.subject() { slot.parts.clear(); }),
    // Names.
    ("a name more", |draft, chance| {
        let name = chance.pick(&["kubernetes", "kubernetes.default.svc", "*.svc", "KUBERNETES", "localhost.", "a..b", "-a", "xn--a", "a b"]);
        if let Some(other) = draft.info.tagged(&[0x82], chance) { *other = plain(0x82, name.as_bytes()); }
    }),
    ("another length of an address", |draft, chance| {
        let length = chance.pick(&[0, 1, 3, 4, 5, 8, 15, 16, 17, 32]);
        if let Some(value) = draft.info.tagged(&[0x87], chance) { value.before.resize(length, 7); }
    }),
    ("an IPv4 address as IPv6", |draft, chance| if let Some(value) = draft.info.tagged(&[0x87], chance) {
        value.before = vec![0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1];
    }),
    ("names of other kinds", |draft, chance| {
        let kind = chance.pick(&[0x80, 0x81, 0x83, 0x84, 0x85, 0x86, 0x88, 0xa0, 0xa4]);
        if let Some(value) = draft.info.tagged(&[0x82], chance) { value.tag = vec![kind]; }
    }),
    // Attributes and extensions.
    ("another extension", |draft, chance| {
        let other = extension(KEY_USAGE, plain(0x03, &[2, 4]));
        if let Some(extensions) = draft.extensions() {
            extensions.parts.insert(chance.below(extensions.parts.len() + 1), other);
        } else if let Some(attributes) = draft.attributes() {
            attributes.parts.push(extension_request(vec![other]));
        }
    }),
    ("names again", |draft, chance| if let Some(extensions) = draft.extensions() {
        extensions.parts.insert(chance.below(extensions.parts.len() + 1), evil_names());
    }),
    ("names in an attribute of their own", |draft, chance| if let Some(attributes) = draft.attributes() {
        attributes.parts.insert(chance.below(attributes.parts.len() + 1), extension_request(vec![evil_names()]));
    }),
    ("names in a second value", |draft, _| if let Some(values) = draft.at(&[3, 0, 1]) { values.parts.push(of(0x30, vec![evil_names()])); }),
    ("a critical extension", |draft, chance| {
        let output = chance.pick(&[0xff, 0, 1]);
        if let Some(extension) = draft.at(&[3, 0, 1, 0, 0]).filter(|extension| !extension.parts.is_empty()) {
            extension.parts.insert(1, plain(0x01, &[output]));
        }
    }),
    ("no names", |draft, _| if let Some(attributes) = draft.attributes() {
        attributes.parts = vec![extension_request(vec![extension(SUBJECT_ALT_NAME, of(0x30, vec![]))])];
    }),
    ("no extensions", |draft, _| if let Some(attributes) = draft.attributes() { attributes.parts = vec![extension_request(vec![])]; }),
    ("a password", |draft, chance| if let Some(attributes) = draft.attributes() {
        let other = of(0x30, vec![oid(CHALLENGE_PASSWORD), of(0x31, vec![plain(0x0c, b"x")])]);
        attributes.parts.insert(chance.below(attributes.parts.len() + 1), other);
    }),
    ("no attributes at all", |draft, _| draft.info.parts.truncate(3)),
    // The key and what it signs with.
    ("another version", |draft, chance| {
        let version = chance.pick(&[1, 2, 0x80, 0xff]);
        if let Some(slot) = draft.at(&[0]) { *slot = plain(0x02, &[version]); }
    }),
    ("a version of two bytes", |draft, _| if let Some(slot) = draft.at(&[0]) { *slot = plain(0x02, &[0, 0]); }),
    ("a compressed point", |draft, _| if let Some(bits) = draft.point() {
        let half = (bits.len() - 2) / 2;
        bits[1] = 2 | (bits[bits.len() - 1] & 1);
        bits.truncate(2 + half);
    }),
    ("a hybrid point", |draft, _| if let Some(bits) = draft.point() { bits[1] = 6 | (bits[bits.len() - 1] & 1); }),
    ("unused bits", |draft, chance| { let unused = 1 + chance.byte() % 9; if let Some(bits) = draft.point() { bits[0] = unused; } }),
    ("another curve", |draft, chance| {
        let curve = chance.pick(&[P256, P384, &[0x2b, 0x81, 4, 0, 0x21][..], &[0x2b, 0x81, 4, 0, 0x23][..], &[0x2b, 0x81, 4, 0, 0x0a][..]]);
        if let Some(slot) = draft.at(&[2, 0, 1]) { *slot = oid(curve); }
    }),
    ("a curve spelled out", |draft, _| if let Some(slot) = draft.at(&[2, 0, 1]) {
        let field = of(0x30, vec![oid(&[0x2a, 0x86, 0x48, 0xce, 0x3d, 1, 1]), plain(0x02, &[7])]);
        *slot = of(0x30, vec![plain(0x02, &[1]), field]);
    }),
    ("no curve", |draft, _| if let Some(algorithm) = draft.at(&[2, 0]) { algorithm.parts.truncate(1); }),
    ("a null behind the curve", |draft, _| if let Some(algorithm) = draft.at(&[2, 0]) { algorithm.parts.push(plain(5, &[])); }),
    ("a null behind the algorithm", |draft, _| draft.algorithm.parts.push(plain(5, &[]))),
    ("another algorithm", |draft, chance| {
        let algorithm = chance.pick(&[WITH_SHA256, WITH_SHA384, &[0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 4][..], &[0x2b, 0x65, 0x70][..], &[0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 1][..]]);
        draft.algorithm = of(0x30, vec![oid(algorithm)]);
    }),
    // Around what is signed.
    ("bytes behind the whole", |draft, _| draft.whole = |whole, chance| { let byte = chance.byte(); whole.after.push(byte); }),
    ("a value more in the whole", |draft, _| draft.whole = |whole, _| whole.parts.push(plain(5, &[]))),
    ("a length too long around it", |draft, _| draft.whole = |whole, chance| whole.length = Length::Longer(1 + chance.below(3))),
    ("no length around it", |draft, _| draft.whole = |whole, _| whole.length = Length::Indefinite),
    ("a signature with another length", |draft, _| draft.whole = |whole, _| whole.parts[2].length = Length::Longer(1)),
    ("unused bits of the signature", |draft, _| draft.whole = |whole, chance| whole.parts[2].before[0] = chance.byte() & 7),
    ("bytes behind the signature", |draft, _| draft.whole = |whole, chance| { let byte = chance.byte(); whole.parts[2].before.push(byte); }),
    ("another byte of the signature", |draft, _| draft.whole = |whole, chance| { let at = chance.below(whole.parts[2].before.len()); whole.parts[2].before[at] ^= 1 << chance.below(8); }),
];
