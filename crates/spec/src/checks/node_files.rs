//! Node files fit cluster.yaml.

use std::{
    collections::{BTreeSet, HashMap, hash_map::Entry},
    fmt::Display,
    path::Path,
};

use crate::{
    cluster::Role,
    codes,
    draft::{Draft, DraftNode},
    location::{List, Location, Spanned},
    problems::{Finding, Problems},
    values::NodeName,
};

/// A search for a similar name looks at all names, so only the first unknown ones get a suggestion.
const MAX_SUGGESTIONS: usize = 20;

pub(super) fn are_named_after_their_node(draft: &Draft<'_>, problems: &mut Problems<'_>) {
    for file in draft.node_files {
        let Some(name) = &file.facts.name else { continue };
        let path = Path::new(file.file_name);
        if path.file_stem().is_some_and(|stem| stem != name.0.as_str()) {
            let message = format!("this file describes `{}`, but is not named after it", name.0);
            let finding = Finding::error(codes::FILE_NAME, name.location, message);
            problems.push(finding.hint(format!("rename the file to `{}.yaml`, or correct the name", name.0)));
        }
    }
}

pub(super) fn are_one_per_node(draft: &Draft<'_>, problems: &mut Problems<'_>) {
    let mut seen: HashMap<&str, Location> = HashMap::new();
    for file in draft.node_files {
        let Some(name) = &file.facts.name else { continue };
        match seen.entry(&name.0) {
            Entry::Vacant(free) => {
                free.insert(name.location);
            }
            Entry::Occupied(first) => {
                let message = format!("a second file describes `{}`", name.0);
                let finding = Finding::error(codes::TWO_FILES, name.location, message);
                problems.push(finding.also(*first.get(), "the first one"));
            }
        }
    }
}

pub(super) fn belong_to_a_listed_node(draft: &Draft<'_>, problems: &mut Problems<'_>) {
    // With a list that could not be read in full, "not listed" would be a guess.
    if !draft.nodes_complete {
        return;
    }
    let listed: BTreeSet<&str> = draft.nodes.iter().filter_map(DraftNode::name).map(|name| name.0.as_str()).collect();
    let unknown = draft.node_files.iter().filter_map(|file| file.facts.name.as_ref());
    for (index, name) in unknown.filter(|name| !listed.contains(name.0.as_str())).enumerate() {
        let message = format!("cluster.yaml lists no node `{}`", name.0);
        let near = if index < MAX_SUGGESTIONS { explain::did_you_mean(&name.0, listed.iter().copied()) } else { None };
        let finding = Finding::error(codes::UNKNOWN_NODE, name.location, message);
        problems.push(finding.hint(near.map(|near| format!("did you mean `{near}`? {}", codes::UNKNOWN_NODE.fix))));
    }
}

pub(super) fn agree_with_the_cluster(draft: &Draft<'_>, problems: &mut Problems<'_>) {
    for node in &draft.nodes {
        let Some(facts) = node.facts else { continue };
        let listed = node.listed;
        let mut compare = |what: &str, here: Option<(String, Location)>, there: Option<(String, Location)>| {
            if let (Some((here, location)), Some((there, other))) = (here, there)
                && here != there
            {
                let message = format!("{what} of `{}` is {here} here, but {there} in cluster.yaml", node.shown());
                problems.push(
                    Finding::error(codes::CONTRADICTION, location, message).also(other, "what cluster.yaml says"),
                );
            }
        };
        compare("the address", shown(facts.ip.as_ref()), shown(listed.ip.as_ref()));
        compare("the host name", shown(facts.hostname.as_ref()), shown(listed.hostname.as_ref()));
        compare("the list of roles", roles(facts.roles.as_ref()), roles(listed.roles.as_ref()));
        if let (Some(here), Some(there)) = (&facts.hardware, &listed.hardware) {
            compare(
                "the DMI uuid",
                text(here.dmi_uuid.as_ref(), |id| &id.0),
                text(there.dmi_uuid.as_ref(), |id| &id.0),
            );
            compare(
                "the DMI serial",
                text(here.dmi_serial.as_ref(), |id| &id.0),
                text(there.dmi_serial.as_ref(), |id| &id.0),
            );
        }
    }
}

fn shown<T: Display>(value: Option<&Spanned<T>>) -> Option<(String, Location)> {
    value.map(|value| (format!("`{}`", value.value), value.location))
}

fn text<T>(value: Option<&Spanned<T>>, text: impl Fn(&T) -> &str) -> Option<(String, Location)> {
    value.map(|value| (format!("`{}`", text(&value.value)), value.location))
}

/// As a set: order, repetition and synonyms make no difference.
fn roles(list: Option<&List<Spanned<Role>>>) -> Option<(String, Location)> {
    let list = list.filter(|list| list.complete)?;
    let roles: BTreeSet<Role> = list.items.iter().map(|role| role.value).collect();
    let names: Vec<String> = roles.iter().map(Role::to_string).collect();
    Some((format!("`[{}]`", names.join(", ")), list.location))
}

impl Display for NodeName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Sources, check, checks::some_nodes};

    #[test]
    fn node_files() {
        for (name, text, expected) in [
            ("nodes/w0.yaml", "{name: w0}", vec![]),
            ("nodes/w0.yaml", "{name: w0, ip: 192.168.1.20, hostname: host, roles: [worker]}", vec![]),
            ("nodes/m.yaml", "{name: m, roles: [control-plane, master]}", vec![]),
            ("nodes/w0.yaml", "{name: w0, ip: 192.168.1.21}", vec!["BS-SPEC-052"]),
            ("nodes/w0.yaml", "{name: w0, roles: [worker, ceph-osd]}", vec!["BS-SPEC-052"]),
            ("nodes/w1.yaml", "{name: w0}", vec!["BS-SPEC-053"]),
            ("nodes/w00.yaml", "{name: w00}", vec!["BS-SPEC-051"]),
            ("nodes/w0.yaml", "{name: w0, ip: 10}", vec!["BS-SPEC-019"]),
            ("nodes/w0.yaml", "{ip: 192.168.1.20}", vec!["BS-SPEC-013"]),
        ] {
            let cluster = format!("cluster: {{name: test}}\nnodes:\n{}", some_nodes(1));
            let checked = check(&Sources::cluster(cluster).with_node(name, format!("node: {text}\n")));
            let mut codes: Vec<_> = checked.problems.iter().map(|problem| problem.diagnostic.code.id).collect();
            codes.retain(|id| *id != crate::codes::NO_IDENTITY.id);
            assert_eq!(codes, expected, "{name} {text}");
        }
    }

    #[test]
    fn two_files_for_one_node() {
        let cluster = format!("cluster: {{name: test}}\nnodes:\n{}", some_nodes(0));
        let sources = Sources::cluster(cluster)
            .with_node("nodes/m.yaml", "node: {name: m}\n")
            .with_node("nodes/m.yml", "node: {name: m}\n");
        let checked = check(&sources);
        assert!(checked.problems.iter().any(|problem| problem.diagnostic.code == crate::codes::TWO_FILES));
    }
}
