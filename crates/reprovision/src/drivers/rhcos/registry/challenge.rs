//! What a registry wants to see, from `WWW-Authenticate`.

use std::collections::BTreeMap;

/// How to ask again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Challenge {
    /// With name and password.
    Basic,
    /// With a token from there.
    Bearer {
        /// Where.
        realm: String,
        /// `service` and `scope`, as far as they are given.
        query: Vec<(String, String)>,
    },
}

impl Challenge {
    /// The first of the challenges that we can meet; a token is preferred.
    pub(super) fn parse<'a>(headers: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let mut found: Vec<Self> = headers.into_iter().filter_map(one).collect();
        found.sort_by_key(|challenge| *challenge == Self::Basic);
        found.into_iter().next()
    }
}

fn one(header: &str) -> Option<Challenge> {
    let (scheme, rest) = header.trim().split_once(' ').unwrap_or((header.trim(), ""));
    if scheme.eq_ignore_ascii_case("basic") {
        return Some(Challenge::Basic);
    }
    if !scheme.eq_ignore_ascii_case("bearer") {
        return None;
    }
    let mut values = parameters(rest);
    let realm = values.remove("realm")?;
    let query = ["service", "scope"].into_iter().filter_map(|name| Some((name.to_owned(), values.remove(name)?)));
    Some(Challenge::Bearer { realm, query: query.collect() })
}

/// `a="x, y",b=z`: commas within quotes belong to the value.
fn parameters(text: &str) -> BTreeMap<String, String> {
    let mut values = BTreeMap::new();
    let mut rest = text.trim();
    while let Some((name, after)) = rest.split_once('=') {
        let after = after.trim_start();
        let (value, next) = match after.strip_prefix('"') {
            Some(quoted) => unquote(quoted),
            None => after
                .split_once(',')
                .map_or((after.trim().to_owned(), ""), |(value, next)| (value.trim().to_owned(), next)),
        };
        values.insert(name.trim_matches([' ', ',']).to_ascii_lowercase(), value);
        rest = next.trim_start_matches([' ', ',']);
    }
    values
}

/// What is before the closing quote, and what is after it.
fn unquote(text: &str) -> (String, &str) {
    let (mut value, mut is_escaped) = (String::new(), false);
    for (at, character) in text.char_indices() {
        match character {
            '"' if !is_escaped => return (value, text.get(at + 1..).unwrap_or_default()),
            '\\' if !is_escaped => is_escaped = true,
            other => {
                value.push(other);
                is_escaped = false;
            }
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bearer(realm: &str, query: &[(&str, &str)]) -> Challenge {
        let query = query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Challenge::Bearer { realm: realm.into(), query }
    }

    #[test]
    fn what_registries_say() {
        let pull = ("scope", "repository:a/b:pull,push");
        for (headers, challenge) in [
            (&[r#"Basic realm="Registry Realm""#][..], Some(Challenge::Basic)),
            (&["basic"], Some(Challenge::Basic)),
            (
                &[r#"Bearer realm="https://auth/token",service="quay.io",scope="repository:a/b:pull,push""#],
                Some(bearer("https://auth/token", &[("service", "quay.io"), pull])),
            ),
            (&["bearer  service=x , realm=https://r/t"], Some(bearer("https://r/t", &[("service", "x")]))),
            (&[r#"Bearer realm="https://a\"b",error="invalid_token""#], Some(bearer("https://a\"b", &[]))),
            (&["Basic", r#"Bearer realm="https://r""#], Some(bearer("https://r", &[]))),
            (&[r#"Bearer service="x""#], None),
            (&["Negotiate abc", ""], None),
            (&[r#"Bearer realm="https://r"#], Some(bearer("https://r", &[]))),
        ] {
            assert_eq!(Challenge::parse(headers.iter().copied()), challenge, "{headers:?}");
        }
    }
}
