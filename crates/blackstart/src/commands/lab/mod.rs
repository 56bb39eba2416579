//! `blackstart lab`: machines on this computer.

mod show;

use std::{os::unix::process::ExitStatusExt, path::Path, process::ExitStatus};

use lab::{Capabilities, Exec, Lab, LabError, LabName, Machine, Machines, Plan, Prepared, Shape, steps};
use spec::ValidatedCluster;

use crate::{
    Exit, Failure,
    cli::{LabCommand, LabOption, Machines as Named},
    context::{Context, Ended, block_on},
    output::confirm,
};

pub(super) fn run(context: &Context, command: &LabCommand) -> Result<(), Ended> {
    if let LabCommand::List = command {
        return show::list(context);
    }
    lab::check_root()?;
    match command {
        LabCommand::List => Ok(()),
        LabCommand::Up { lab, masters, workers, config, machines_only, ignition, pivot, ceph } => {
            let name = name(lab)?;
            refuse_other_shape(&name, *masters, *workers, *ceph)?;
            refuse_other_first_boot(&name, *ignition, *pivot, *machines_only)?;
            let usual = if *pivot { Shape::pivot() } else { Shape::usual(*ceph) };
            let machines = match config {
                Some(dir) => Machines::Config(dir),
                None => Machines::Shape(Shape {
                    masters: masters.unwrap_or(usual.masters),
                    workers: workers.unwrap_or(usual.workers),
                    ..usual
                }),
            };
            let with_cluster = !machines_only;
            let with_ignition = with_cluster && (*ignition || *pivot);
            let plan = Plan { machines, with_cluster, with_ignition, with_ceph: *ceph };
            up(context, &name, &plan)
        }
        LabCommand::Status { lab } => show::status(context, &open(lab)?),
        LabCommand::Exec { lab, machine, command } => exec(lab, machine, command),
        LabCommand::Shell { lab, machine } => exec(lab, machine, &[]),
        LabCommand::Logs { lab, machine, unit, follow, console } => {
            let (lab, capabilities) = (open(lab)?, Capabilities::detect()?);
            let machine = Machine::new(&lab, machine, &capabilities)?;
            ended(lab::logs(&machine, unit.as_deref(), *follow, *console).map_err(cut_short)?)
        }
        LabCommand::Cp { lab, from, to } => {
            let (lab, capabilities) = (open(lab)?, Capabilities::detect()?);
            Ok(lab::copy(&lab, &capabilities, from, to)?)
        }
        LabCommand::Reboot(machines) => each(machines, &async |machine| lab::reboot(machine).await),
        LabCommand::Kill(machines) => each(machines, &async |machine| lab::kill(machine)),
        LabCommand::Wipe { machines, ignition, yes } => wipe(machines, ignition.as_deref(), *yes),
        LabCommand::Pause(machines) => each(machines, &async |machine| lab::pause(machine).await),
        LabCommand::Resume(machines) => each(machines, &async |machine| lab::resume(machine)),
        LabCommand::Cut { lab, machine, others } => {
            show::cuts(context, &block_on(lab::cut(&open(lab)?, machine, others))??)
        }
        LabCommand::Heal { lab, machine } => {
            show::cuts(context, &block_on(lab::heal(&open(lab)?, machine.as_deref()))??)
        }
        LabCommand::Down { lab } => {
            let machines = open(lab)?.machines.iter().map(|machine| machine.name.clone()).collect();
            let all = Named { lab: LabOption { name: lab.name.clone() }, machines };
            each(&all, &async |machine| lab::down(machine).await)
        }
        LabCommand::Destroy { lab, yes } => destroy(context, &name(lab)?, *yes),
        LabCommand::Supervise { lab, machine } => Ok(block_on(lab::supervise(&lab.parse()?, machine))??),
    }
}

/// A lab that exists keeps its machines; a user who asks for another number of them must know.
fn refuse_other_shape(name: &LabName, masters: Option<u8>, workers: Option<u8>, ceph: bool) -> Result<(), Failure> {
    let Ok(lab) = Lab::open(name) else { return Ok(()) };
    let count = |role: &str| lab.machines.iter().filter(|machine| machine.name.starts_with(role)).count();
    let has = (count("master-"), count("worker-"));
    let differs = |wanted: Option<u8>, has: usize| wanted.is_some_and(|wanted| usize::from(wanted) != has);
    if differs(masters, has.0) || differs(workers, has.1) {
        let message = format!("lab `{name}` exists and has masters: {}, workers: {}", has.0, has.1);
        return Err(Failure::usage(lab::codes::OTHER_SHAPE, message));
    }
    if ceph && !has_ceph(&lab) {
        let message = format!("lab `{name}` exists and has no machine with Ceph");
        return Err(Failure::usage(lab::codes::OTHER_SHAPE, message));
    }
    Ok(())
}

/// The same for how its machines are set up.
fn refuse_other_first_boot(name: &LabName, ignition: bool, pivot: bool, only: bool) -> Result<(), Failure> {
    let Ok(lab) = Lab::open(name) else { return Ok(()) };
    let lacks = match (ignition, pivot) {
        (_, true) if lab.machines.iter().all(|machine| machine.name != "bootstrap") => "no bootstrap node",
        (true, _) | (_, true) if !only && !lab.with_ignition => "no machine that Ignition sets up",
        _ => return Ok(()),
    };
    Err(Failure::usage(lab::codes::OTHER_SHAPE, format!("lab `{name}` exists and has {lacks}")))
}

/// The same for the machines of a configuration directory.
fn refuse_other_machines(name: &LabName, dir: &Path, cluster: &ValidatedCluster) -> Result<(), Failure> {
    let Some(difference) = Lab::open(name).ok().and_then(|lab| lab.difference(cluster)) else { return Ok(()) };
    let message = format!("lab `{name}` exists, and {} has other machines: {difference}", dir.display());
    Err(Failure::usage(lab::codes::OTHER_SHAPE, message))
}

fn up(context: &Context, name: &LabName, plan: &Plan<'_>) -> Result<(), Ended> {
    if let Machines::Config(dir) = &plan.machines {
        let cluster = context.cluster(Some(dir))?; // prints every problem with its place
        refuse_other_machines(name, dir, &cluster)?;
    }
    let prepared = lab::prepare(name, plan)?;
    let Prepared { lab, .. } = &prepared;
    let state = Lab::dir(name).join("state");
    context.run_in(&state, name.as_str(), &steps::playbook(lab)?)?;
    if context.out.is_json() {
        return Ok(());
    }
    show::status(context, lab)?;
    let first = lab.machines.first().map_or("master-01", |machine| machine.name.as_str());
    let option = show::option(name);
    let check = match lab.with_cluster {
        true if has_ceph(lab) => "blackstart ceph status",
        true => "kubectl get nodes -o wide",
        false => "systemctl status",
    };
    Ok(context.out.text(&format!(
        "\nNext:\n  blackstart lab exec {first}{option} {check}\n  blackstart lab shell {first}{option}\n  blackstart lab destroy{option}\n"
    ))?)
}

fn has_ceph(lab: &Lab) -> bool {
    lab.machines.iter().any(|machine| machine.ceph)
}

fn wipe(machines: &Named, ignition: Option<&Path>, yes: bool) -> Result<(), Ended> {
    let lab = open(&machines.lab)?;
    for machine in &machines.machines {
        lab.machine(machine)?; // a mistyped name is an error before any question
    }
    confirm(yes, &format!("Wipe the disks of {}?", machines.machines.join(", ")))?;
    each(machines, &async |machine| match ignition {
        Some(dir) => lab::wipe_for_ignition(machine, &dir.join(format!("{}.ign", machine.name()))),
        None => lab::wipe(machine),
    })
}

fn destroy(context: &Context, name: &LabName, yes: bool) -> Result<(), Ended> {
    confirm(yes, &format!("Remove lab `{name}` with all its machines?"))?;
    let destroyed = block_on(lab::destroy(name, &Capabilities::detect()?))??;
    if context.out.is_json() {
        return Ok(context.out.json(&serde_json::json!({ "lab": name, "machines": destroyed.machines }))?);
    }
    let text = match destroyed.machines.len() {
        0 => format!("nothing is left of lab `{name}`; it had no machines\n"),
        1 => format!("lab `{name}` is gone (1 machine)\n"),
        many => format!("lab `{name}` is gone ({many} machines)\n"),
    };
    Ok(context.out.text(&text)?)
}

fn exec(lab: &LabOption, machine: &str, command: &[String]) -> Result<(), Ended> {
    let (lab, capabilities) = (open(lab)?, Capabilities::detect()?);
    let machine = Machine::new(&lab, machine, &capabilities)?;
    let term = std::env::var("TERM").ok();
    ended(lab::exec(&machine, &Exec { command, term }).map_err(cut_short)?)
}

/// A command that ended with its machine has no exit code of its own; as with ssh, it is 255.
fn cut_short(error: LabError) -> Failure {
    let exit = if let LabError::WentDown(_) = error { Exit::Other(255) } else { Exit::Failed };
    Failure { exit, ..error.into() }
}

/// The command's own exit code is ours; one that a signal ended is reported the way shells do.
fn ended(status: ExitStatus) -> Result<(), Ended> {
    let code = status.code().or_else(|| Some(128 + status.signal()?));
    match code {
        Some(0) => Ok(()),
        Some(code) => Err(Ended::Reported(Exit::Other(u8::try_from(code).unwrap_or(1)))),
        None => Err(Ended::Reported(Exit::Failed)),
    }
}

/// Does something to several machines at once.
fn each(machines: &Named, work: &impl AsyncFn(&Machine<'_>) -> Result<(), LabError>) -> Result<(), Ended> {
    let (lab, capabilities) = (open(&machines.lab)?, Capabilities::detect()?);
    let all: Vec<Machine<'_>> =
        machines.machines.iter().map(|name| Machine::new(&lab, name, &capabilities)).collect::<Result<_, _>>()?;
    let results = block_on(futures::future::join_all(all.iter().map(|machine| work(machine))))?;
    results.into_iter().collect::<Result<Vec<()>, LabError>>()?;
    Ok(())
}

fn name(option: &LabOption) -> Result<LabName, Failure> {
    option.name.parse().map_err(|error: LabError| Failure { exit: Exit::Usage, ..error.into() })
}

fn open(option: &LabOption) -> Result<Lab, Failure> {
    Ok(Lab::open(&name(option)?)?)
}
