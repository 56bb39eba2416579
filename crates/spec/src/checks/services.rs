//! The size of the service network.

use crate::{
    codes,
    draft::Draft,
    problems::{Finding, Problems},
};

/// The API takes the first address and the cluster's DNS the tenth; the API server keeps a bitmap of 20 bits.
const HOST_BITS: std::ops::RangeInclusive<u8> = 4..=20;

pub(super) fn size_is_possible(draft: &Draft<'_>, problems: &mut Problems<'_>) {
    let Some(service) = &draft.networks.service else { return };
    let bits = service.value.max_prefix_len() - service.value.prefix_len();
    if HOST_BITS.contains(&bits) {
        return;
    }
    let what = if bits < *HOST_BITS.start() { "small" } else { "large" };
    let message = format!("the service network {} is too {what}", service.value);
    let (longest, shortest) =
        (service.value.max_prefix_len() - HOST_BITS.start(), service.value.max_prefix_len() - HOST_BITS.end());
    problems.push(
        Finding::error(codes::SERVICE_SIZE, draft.location_of(service.origin), message)
            .hint(format!("use a prefix from /{shortest} to /{longest}")),
    );
}

#[cfg(test)]
mod tests {
    use super::super::{codes_of, some_nodes};

    #[test]
    fn sizes() {
        for (network, expected) in [
            ("10.96.0.0/12", vec![]),
            ("10.96.0.0/28", vec![]),
            ("10.96.0.0/29", vec!["BS-SPEC-043"]),
            ("16.0.0.0/11", vec!["BS-SPEC-043"]),
        ] {
            let settings = format!("  networking: {{service_cidr: {network}}}\n");
            assert_eq!(codes_of(&settings, &some_nodes(0)), expected, "{network}");
        }
    }

    #[test]
    fn ipv6_sizes() {
        let nodes = "  - {name: m, ip: 'fd00:1::10', roles: [master]}\n";
        for (prefix, expected) in [(108, vec![]), (124, vec![]), (107, vec!["BS-SPEC-043"]), (125, vec!["BS-SPEC-043"])]
        {
            let settings = format!("  networking: {{service_cidr: 'fd00:2::/{prefix}'}}\n");
            assert_eq!(codes_of(&settings, nodes), expected, "{prefix}");
        }
    }
}
