//! What machines call the server: what is asked for, else what the pointers say.

use std::{collections::BTreeSet, fs, net::IpAddr, path::Path};

use spec::San;

/// The names of its certificate; none if nothing says so.
pub(super) fn of_server(given: &[String], listen: IpAddr, configs: &Path) -> BTreeSet<San> {
    let pointers = fs::read_dir(configs.join("pointers")).into_iter().flatten().flatten();
    let texts = pointers.filter_map(|entry| fs::read(entry.path()).ok());
    let hosts = texts.filter_map(|text| host(&text));
    let concrete = (!listen.is_unspecified()).then(|| listen.to_string());
    given.iter().cloned().chain(concrete).chain(hosts).map(|name| san(&name)).collect()
}

fn san(name: &str) -> San {
    name.parse().map_or_else(|_| San::Dns(name.to_owned()), San::Ip)
}

/// The host in a pointer's URL.
fn host(pointer: &[u8]) -> Option<String> {
    let pointer: serde_json::Value = serde_json::from_slice(pointer).ok()?;
    let source = pointer.pointer("/ignition/config/merge/0/source")?.as_str()?;
    let authority = source.strip_prefix("https://")?.split('/').next()?;
    let host = match authority.strip_prefix('[') {
        Some(ipv6) => ipv6.split(']').next()?,
        None => authority.split(':').next()?,
    };
    (!host.is_empty()).then(|| host.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_of_a_pointer() {
        for (source, expected) in [
            ("https://10.0.0.9:22623/config/a", Some("10.0.0.9")),
            ("https://ign.example.org/config/a", Some("ign.example.org")),
            ("https://[fd00::1]:22623/config/a", Some("fd00::1")),
            ("http://10.0.0.9/config/a", None),
            ("https:///config/a", None),
        ] {
            let text = format!(r#"{{"ignition": {{"config": {{"merge": [{{"source": "{source}"}}]}}}}}}"#);
            assert_eq!(host(text.as_bytes()).as_deref(), expected, "{source}");
        }
        assert_eq!(host(b"{}"), None);
    }

    #[test]
    fn an_address_counts_if_it_is_one() {
        let dir = tempfile::tempdir().unwrap();
        let of = |given: &[&str], listen: &str| {
            let given: Vec<String> = given.iter().map(ToString::to_string).collect();
            of_server(&given, listen.parse().unwrap(), dir.path())
        };
        assert_eq!(of(&[], "0.0.0.0"), BTreeSet::new());
        assert_eq!(of(&[], "10.0.0.1"), BTreeSet::from([San::Ip([10, 0, 0, 1].into())]));
        assert_eq!(of(&["a.example"], "::"), BTreeSet::from([San::Dns("a.example".to_owned())]));
    }
}
