//! The path of a value inside a file, as people write it: `cluster.networking.pod_cidr`, `nodes[2].ip` (from 0, as
//! kubectl and yq count).
//!
//! A chain of references on the stack: it costs nothing as long as there is no problem to report.

use std::fmt;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Path<'a> {
    parent: Option<&'a Path<'a>>,
    step: Step,
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Root,
    Key(&'static str),
    Item(usize),
}

impl Path<'_> {
    /// The file itself.
    pub(crate) fn root() -> Self {
        Self { parent: None, step: Step::Root }
    }

    pub(crate) fn key<'a>(&'a self, name: &'static str) -> Path<'a> {
        Path { parent: Some(self), step: Step::Key(name) }
    }

    pub(crate) fn item(&self, index: usize) -> Path<'_> {
        Path { parent: Some(self), step: Step::Item(index) }
    }

    /// The path in backticks; the file itself has no path.
    pub(crate) fn described(&self) -> String {
        match self.step {
            Step::Root => "this file".to_owned(),
            Step::Key(_) | Step::Item(_) => format!("`{self}`"),
        }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            parent.fmt(f)?;
        }
        match (self.step, self.parent.map(|parent| parent.step)) {
            (Step::Root, _) => Ok(()),
            (Step::Key(name), None | Some(Step::Root)) => f.write_str(name),
            (Step::Key(name), Some(_)) => write!(f, ".{name}"),
            (Step::Item(index), _) => write!(f, "[{index}]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_read_as_people_write_them() {
        let root = Path::root();
        let nodes = root.key("nodes");
        let second = nodes.item(1);
        assert_eq!(second.key("ip").to_string(), "nodes[1].ip");
        assert_eq!(root.described(), "this file");
        assert_eq!(nodes.described(), "`nodes`");
    }
}
