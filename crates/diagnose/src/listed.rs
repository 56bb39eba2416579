//! Many of a kind, as far as a person reads them. Pure.

/// So many are named; more only make a person scroll.
const NAMED: usize = 5;

/// The first of them, and how many more there are.
pub(crate) fn listed(all: &[impl AsRef<str>], between: &str) -> String {
    let named = all.iter().take(NAMED).map(AsRef::as_ref).collect::<Vec<_>>().join(between);
    match all.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named}{between}and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_much_is_counted() {
        let names = ["a", "b", "c", "d", "e", "f", "g"];
        for (many, expected) in [(1, "a"), (5, "a, b, c, d, e"), (7, "a, b, c, d, e, and 2 more")] {
            assert_eq!(listed(&names[..many], ", "), expected);
        }
    }
}
