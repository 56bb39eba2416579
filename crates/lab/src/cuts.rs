//! Network partitions: rules on the bridge, made again as a whole whenever one is added or healed.

use std::{collections::BTreeSet, fmt::Write, fs};

use serde::{Deserialize, Serialize};

use crate::{
    Lab, LabError, record,
    run::{feed, output, run},
};

/// What is cut.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cut {
    /// One machine from everything: the cable is out.
    All(String),
    /// Two machines from each other.
    Between(String, String),
}

/// Cuts one machine off from all others and the outside, or the first from each of the others.
pub async fn cut(lab: &Lab, machine: &str, others: &[String]) -> Result<BTreeSet<Cut>, LabError> {
    lab.machine(machine)?;
    let mut cuts = read(lab);
    if others.is_empty() {
        cuts.insert(Cut::All(machine.to_owned()));
    }
    for other in others {
        lab.machine(other)?;
        cuts.insert(between(machine, other));
    }
    apply(lab, &cuts).await?;
    Ok(cuts)
}

/// Heals every cut of a machine, or all cuts of the lab.
pub async fn heal(lab: &Lab, machine: Option<&str>) -> Result<BTreeSet<Cut>, LabError> {
    let mut cuts = read(lab);
    if let Some(machine) = machine {
        lab.machine(machine)?;
    }
    cuts.retain(|cut| machine.is_some_and(|machine| !concerns(cut, machine)));
    apply(lab, &cuts).await?;
    Ok(cuts)
}

/// The cuts of a lab. A file that is not there or cannot be read means none: `heal` makes it so.
pub(crate) fn read(lab: &Lab) -> BTreeSet<Cut> {
    let text = fs::read(Lab::dir(&lab.name).join("cuts.json")).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

pub(crate) fn concerns(cut: &Cut, machine: &str) -> bool {
    match cut {
        Cut::All(one) => one == machine,
        Cut::Between(one, other) => one == machine || other == machine,
    }
}

/// What a machine is cut off from by this cut, as a person says it; `None` if it is not concerned.
pub(crate) fn other_side(cut: &Cut, machine: &str) -> Option<String> {
    match cut {
        Cut::All(one) => (one == machine).then(|| "everything".to_owned()),
        Cut::Between(one, other) if one == machine => Some(other.clone()),
        Cut::Between(one, other) => (other == machine).then(|| one.clone()),
    }
}

fn between(one: &str, other: &str) -> Cut {
    let (one, other) = if one < other { (one, other) } else { (other, one) };
    Cut::Between(one.to_owned(), other.to_owned())
}

/// Makes the rules of exactly these cuts.
pub(crate) async fn apply(lab: &Lab, cuts: &BTreeSet<Cut>) -> Result<(), LabError> {
    let table = lab.name.cut_table();
    if cuts.is_empty() {
        if output("nft list tables").await?.lines().any(|line| line == format!("table bridge {table}")) {
            run(&format!("nft delete table bridge {table}")).await?;
        }
    } else {
        feed("nft -f -", &rules(lab, cuts)?).await?;
    }
    let path = Lab::dir(&lab.name).join("cuts.json");
    let text = serde_json::to_vec(cuts).map_err(|source| LabError::Record { path: path.clone(), source })?;
    record::replace(&path, &text)
}

fn rules(lab: &Lab, cuts: &BTreeSet<Cut>) -> Result<String, LabError> {
    let link = |machine: &str| lab.machine(machine).map(|machine| lab.name.link(machine.index));
    let mut forward = String::new();
    let mut host = String::new();
    for cut in cuts {
        match cut {
            Cut::All(one) => {
                let one = link(one)?;
                let _ = writeln!(forward, "\t\tiifname {one} drop\n\t\toifname {one} drop");
                let _ = writeln!(host, "{one}");
            }
            Cut::Between(one, other) => {
                let (one, other) = (link(one)?, link(other)?);
                let _ =
                    writeln!(forward, "\t\tiifname {one} oifname {other} drop\n\t\tiifname {other} oifname {one} drop");
            }
        }
    }
    let table = lab.name.cut_table();
    let chain = |name: &str, rules: &str| {
        format!("\tchain {name} {{\n\t\ttype filter hook {name} priority filter\n{rules}\t}}\n")
    };
    let towards =
        |word: &str| host.lines().fold(String::new(), |rules, one| rules + "\t\t" + word + " " + one + " drop\n");
    Ok(format!(
        "table bridge {table}\ndelete table bridge {table}\ntable bridge {table} {{\n{}{}{}}}\n",
        chain("forward", &forward),
        chain("input", &towards("iifname")),
        chain("output", &towards("oifname")),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MachineRecord;

    #[test]
    fn rules_for_a_pair_and_for_one_from_all() {
        let machine = |name: &str, index| MachineRecord {
            name: name.into(),
            index,
            ip: [10, 88, 0, 1].into(),
            ceph: false,
            mac: String::new(),
        };
        let lab = Lab {
            name: "lab".parse().unwrap(),
            subnet: "10.88.0.0/24".parse().unwrap(),
            gateway: None,
            with_cluster: false,
            with_ignition: false,
            machines: vec![machine("master-01", 0), machine("worker-01", 1), machine("worker-02", 2)],
        };
        let cuts = [between("worker-01", "master-01"), Cut::All("worker-02".into())].into();
        insta::assert_snapshot!(rules(&lab, &cuts).unwrap());
    }
}
