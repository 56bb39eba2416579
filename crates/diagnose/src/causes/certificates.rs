//! Certificates, keys and kubeconfigs: whether they are there, in time, belong together and carry the right names.

use std::collections::BTreeMap;

use explain::Code;
use pki::{Fault, Flaw, codes as pki_codes};
use playbooks::cluster::ids;
use spec::BootstrapRole;

use crate::{
    Check, Checking, Context, Finding, Kind, Part,
    codes::{
        CERTIFICATE_ENDS, CERTIFICATE_EXPIRED, CERTIFICATE_MISSING, CERTIFICATE_NAMES, CERTIFICATE_UNFIT,
        KUBECONFIG_ASTRAY,
    },
};

/// See [`super`].
pub(crate) const CHECK: Check = Check::new(
    "certificates",
    "certificates, keys and kubeconfigs: age, names, signatures",
    &[
        CERTIFICATE_EXPIRED,
        CERTIFICATE_ENDS,
        CERTIFICATE_NAMES,
        CERTIFICATE_MISSING,
        CERTIFICATE_UNFIT,
        KUBECONFIG_ASTRAY,
        pki_codes::UNREADABLE,
        pki_codes::KEY_MISMATCH,
        pki_codes::NOT_SIGNED,
    ],
    check,
);

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        let is_worker = context.role() == BootstrapRole::Worker;
        if !context.was_done(if is_worker { ids::JOIN } else { ids::PKI }).await? {
            return Ok(Vec::new());
        }
        Ok(evaluate(&context.certificates().await?.faults, is_worker))
    })
}

/// One finding per kind of fault: certificates that were made together end together.
fn evaluate(faults: &[Fault], is_worker: bool) -> Vec<Finding> {
    let mut by_code: BTreeMap<&str, Vec<&Fault>> = BTreeMap::new();
    for fault in faults {
        by_code.entry(code(&fault.flaw).id).or_default().push(fault);
    }
    by_code.into_values().filter_map(|faults| together(&faults, is_worker)).collect()
}

fn together(faults: &[&Fault], is_worker: bool) -> Option<Finding> {
    let first = faults.first()?;
    let code = code(&first.flaw);
    let is_missing = first.flaw == Flaw::Missing;
    let kind = match first.flaw {
        Flaw::EndsSoon { .. } => Kind::Warning,
        // What was never handed out is missing because the node could not join; the check of joining reports that.
        Flaw::Missing if is_worker => Kind::Symptom,
        // With a clock that is behind, every certificate looks like this.
        Flaw::NotYetValid { .. } => Kind::Symptom,
        _ => Kind::Cause,
    };
    let part =
        if is_missing && is_worker { Some(Part::Joining) } else { faults.iter().map(|fault| part(fault.name)).min() };
    let evidence: Vec<String> = faults.iter().map(|fault| seen(fault)).collect();
    let fix = fix(faults, is_worker).unwrap_or_else(|| code.fix.to_owned());
    Some(Finding { code: Some(code), kind, part: part?, evidence: evidence.join("; "), fix })
}

fn code(flaw: &Flaw) -> Code {
    match flaw {
        Flaw::Missing => CERTIFICATE_MISSING,
        Flaw::Unreadable { .. } => pki_codes::UNREADABLE,
        Flaw::KeyMismatch => pki_codes::KEY_MISMATCH,
        Flaw::Foreign { .. } | Flaw::Exchanged => pki_codes::NOT_SIGNED,
        Flaw::NotYetValid { .. } | Flaw::Subject { .. } => CERTIFICATE_UNFIT,
        Flaw::Expired { .. } => CERTIFICATE_EXPIRED,
        Flaw::EndsSoon { .. } => CERTIFICATE_ENDS,
        Flaw::Names { .. } => CERTIFICATE_NAMES,
        Flaw::OtherServer { .. } | Flaw::OtherCa => KUBECONFIG_ASTRAY,
    }
}

fn seen(fault: &Fault) -> String {
    let path = fault.path.display();
    match &fault.flaw {
        Flaw::Missing => format!("{path} is not there"),
        Flaw::Unreadable { why } => format!("{path} cannot be read: {why}"),
        Flaw::KeyMismatch => format!("{path} and the key beside it do not belong together"),
        Flaw::Foreign { issuer } => {
            format!("{path} was signed by `{issuer}` with another key than the cluster's CA has")
        }
        Flaw::Exchanged => format!("{path} has signed none of the certificates here: it is another CA"),
        Flaw::NotYetValid { start } => format!("{path} is valid only from {start:.0} on"),
        Flaw::Expired { end } => format!("{path} ended on {end:.0}"),
        Flaw::EndsSoon { end } => format!("{path} ends on {end:.0}"),
        Flaw::Names { lacks, has } => {
            format!("{path} lacks {}; it has {}", lacks.join(", "), has.join(", "))
        }
        Flaw::Subject { subject } => format!("{path} is made out to `{subject}`, or not good for its use"),
        Flaw::OtherServer { server, expected } => format!("{path} leads to {server} instead of {expected}"),
        Flaw::OtherCa => format!("{path} trusts another CA than the cluster's"),
    }
}

/// A command for this very case, where there is one.
fn fix(faults: &[&Fault], is_worker: bool) -> Option<String> {
    if faults.iter().any(|fault| is_ca(fault.name)) {
        return Some("restore the CA from the sealed directory, a backup or another master".to_owned());
    }
    if faults.iter().any(|fault| fault.flaw == Flaw::Missing) {
        return None;
    }
    let paths = || faults.iter().map(|fault| fault.path.display().to_string()).collect::<Vec<_>>().join(" ");
    let of_kubelet = |fault: &&&Fault| fault.name.starts_with("kubelet-");
    if faults.iter().any(|fault| of_kubelet(&fault)) || is_worker {
        return Some(format!("`rm {}` and `blackstart node up`, which gets new ones", paths()));
    }
    Some(match faults {
        [one] => format!("`blackstart pki renew {}`, then restart what uses it", one.name),
        _ => "`blackstart pki renew --all`, then restart the services, or the machine".to_owned(),
    })
}

fn is_ca(name: &str) -> bool {
    name == "ca" || name.ends_with("-ca")
}

/// What cannot work with it.
fn part(name: &str) -> Part {
    match name {
        "controller-manager.conf" | "scheduler.conf" => Part::Controllers,
        "super-admin.conf" | "agent.conf" => Part::Agent,
        "kubelet.conf" | "kubelet-client" | "kubelet-server" => Part::Kubelet,
        "kube-proxy.conf" => Part::KubeProxy,
        "admin.conf" => Part::Api,
        etcd if etcd.starts_with("etcd") => Part::Etcd,
        _ => Part::ApiServer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(name: &'static str, flaw: Flaw) -> Fault {
        let file = if name.contains('.') { name.to_owned() } else { format!("pki/{name}.crt") };
        Fault { name, path: format!("/etc/kubernetes/{file}").into(), flaw }
    }

    fn reported(faults: &[Fault], is_worker: bool) -> String {
        let line = |finding: &Finding| {
            let Finding { kind, part, evidence, fix, .. } = finding;
            format!("{} {kind:?} {part:?}: {evidence}\n  fix: {fix}", finding.id())
        };
        evaluate(faults, is_worker).iter().map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn each_kind_of_fault_is_one_finding() {
        let end = "2026-11-01T00:00:00Z".parse().unwrap();
        let faults = [
            fault("apiserver", Flaw::Expired { end }),
            fault("etcd-server", Flaw::Expired { end }),
            fault("admin.conf", Flaw::EndsSoon { end }),
            fault("apiserver-etcd-client", Flaw::KeyMismatch),
            fault("scheduler.conf", Flaw::Foreign { issuer: "CN=kubernetes".into() }),
            fault("kubelet.conf", Flaw::OtherServer { server: "https://a:1".into(), expected: "https://b:2".into() }),
            fault("etcd-peer", Flaw::Names { lacks: vec!["10.0.0.9".into()], has: vec!["10.0.0.8".into()] }),
        ];
        insta::assert_snapshot!(reported(&faults, false));
    }

    #[test]
    fn on_a_worker_the_way_back_is_to_join_again() {
        let faults = [
            fault("agent.conf", Flaw::Missing),
            fault("kube-proxy.conf", Flaw::Unreadable { why: "it is no kubeconfig" }),
            fault("ca", Flaw::Exchanged),
        ];
        insta::assert_snapshot!(reported(&faults, true));
        assert_eq!(reported(&[], true), "");
    }
}
