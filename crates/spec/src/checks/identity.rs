//! A machine that knows nothing about itself cannot find out which node it is.

use crate::{
    codes,
    draft::{Draft, DraftNode},
    problems::{Finding, Problems},
};

/// Names listed in the message; more are only counted.
const LISTED: usize = 3;

/// One warning for all nodes: a large cluster would have one per node otherwise.
pub(super) fn every_machine_can_be_distinguished(draft: &Draft<'_>, problems: &mut Problems<'_>) {
    let unknown: Vec<&DraftNode<'_>> = draft
        .nodes
        .iter()
        .filter(|node| node.listed.clean && node.macs().next().is_none())
        .filter(|node| node.dmi_uuid().is_none() && node.dmi_serial().is_none())
        .collect();
    let Some(first) = unknown.first() else { return };
    let names: Vec<String> = unknown.iter().take(LISTED).map(|node| format!("`{}`", node.shown())).collect();
    let more = match unknown.len().saturating_sub(LISTED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let message = format!("nothing identifies the machine of {}{more}", names.join(", "));
    let location = first.name().map_or(first.listed.location, |name| name.location);
    problems.push(Finding::warning(codes::NO_IDENTITY, location, message));
}

#[cfg(test)]
mod tests {
    use crate::{check_text, checks::some_nodes};

    #[test]
    fn one_warning_for_all() {
        for (workers, expected) in [
            (0, "nothing identifies the machine of `m`"),
            (4, "nothing identifies the machine of `m`, `w0`, `w1` and 2 more"),
        ] {
            let checked = check_text(&format!("cluster: {{name: test}}\nnodes:\n{}", some_nodes(workers)));
            let messages: Vec<&str> =
                checked.problems.iter().map(|problem| problem.diagnostic.message.as_str()).collect();
            assert_eq!(messages, [expected]);
        }
    }
}
