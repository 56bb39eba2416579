//! Which master gets the next connection: the usable one with the fewest, and among equals the next in this node's order.
//! One that is about to leave comes last.

/// What the choice looks at, one per master.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Candidate {
    /// It is healthy, and was not tried for this connection yet.
    pub(super) usable: bool,
    /// It says that it is not ready.
    pub(super) last_resort: bool,
    /// How many connections it serves for this node.
    pub(super) connections: usize,
}

/// The index of the master to use. `rotation` differs from node to node, so that a hundred nodes that start at once do
/// not all go to the first master.
pub(super) fn choose(candidates: &[Candidate], rotation: usize) -> Option<usize> {
    let count = candidates.len();
    (0..count)
        .map(|step| (rotation + step) % count)
        .filter(|&index| candidates[index].usable)
        .min_by_key(|&index| (candidates[index].last_resort, candidates[index].connections))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewest_connections_first_then_the_nodes_own_order() {
        let up = |connections| Candidate { usable: true, last_resort: false, connections };
        let leaving = |connections| Candidate { last_resort: true, ..up(connections) };
        let down = Candidate { usable: false, ..up(0) };
        for (candidates, rotation, expected) in [
            (vec![], 0, None),
            (vec![down, down], 1, None),
            (vec![up(0), up(0), up(0)], 0, Some(0)),
            (vec![up(0), up(0), up(0)], 2, Some(2)),
            (vec![up(0), up(0), up(0)], 7, Some(1)),
            (vec![up(1), up(0), up(1)], 0, Some(1)),
            (vec![up(5), down, up(6)], 1, Some(0)),
            (vec![up(2), up(1), up(1)], 2, Some(2)),
            (vec![leaving(0), up(9)], 0, Some(1)),
            (vec![leaving(3), down, leaving(2)], 0, Some(2)),
        ] {
            assert_eq!(choose(&candidates, rotation), expected, "{candidates:?} from {rotation}");
        }
    }
}
