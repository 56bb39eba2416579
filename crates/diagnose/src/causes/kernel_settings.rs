//! Settings of the kernel that the bootstrap turned on and that were turned off since.

use std::path::Path;

use playbooks::cluster::{self, ids};

use crate::{Check, Checking, Context, Finding, Part, codes::KERNEL_SETTING};

/// See [`super`].
pub(crate) const CHECK: Check = Check::new("kernel-settings", "sysctls that pods need", &[KERNEL_SETTING], check);

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        if !context.was_done(ids::KERNEL_SETTINGS).await? {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        for (name, wanted) in cluster::kernel_settings(&context.cluster) {
            let value = context.text(Path::new("/proc/sys").join(name.replace('.', "/")))?;
            found.extend(evaluate(name, wanted, value.as_deref()));
        }
        Ok(found)
    })
}

fn evaluate(name: &str, wanted: &str, value: Option<&str>) -> Option<Finding> {
    let value = value.map(str::trim);
    let seen = match value {
        Some(value) if value == wanted => return None,
        Some(value) => format!("is {value}"),
        None => "does not exist".to_owned(),
    };
    let evidence = format!("{name} {seen} and must be {wanted}, or no packet gets from one pod to another");
    Some(Finding::cause(KERNEL_SETTING, Part::PodNetwork, evidence))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_wanted_value_will_do() {
        let evidence = |value| evaluate("net.ipv4.ip_forward", "1", value).map(|finding| finding.evidence);
        assert_eq!(evidence(Some("1\n")), None);
        assert!(evidence(Some("0\n")).unwrap().starts_with("net.ipv4.ip_forward is 0 and must be 1"));
        assert!(evidence(None).unwrap().contains("does not exist"));
    }
}
