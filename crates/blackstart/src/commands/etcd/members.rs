//! `blackstart etcd members`: the list that a majority agrees on.

use etcd::{Member, codes, survey::ask};
use serde_json::json;

use super::{access, masters};
use crate::{
    Failure,
    context::{Context, Ended, block_on},
    progress::busy,
};

pub(super) fn run(context: &Context) -> Result<(), Ended> {
    let cluster = context.cluster(None)?;
    let access = access(context)?;
    let heard = busy(context.out, "asking every member", || block_on(ask(&access, masters(&cluster))))?;
    let answers = heard.iter().filter_map(|one| one.reported.as_ref().ok());
    let Some(members) = answers.clone().find_map(|reported| reported.agreed.as_deref()) else {
        let message = format!("{} of {} asked answered, and they have no majority", answers.count(), heard.len());
        return Err(Failure::new(codes::NO_MAJORITY, message).into());
    };
    if context.out.is_json() {
        let members: Vec<_> = members
            .iter()
            .map(|member| {
                json!({ "id": format!("{:x}", member.id), "name": member.name, "peer_urls": member.peer_urls,
                        "client_urls": member.client_urls, "is_learner": member.is_learner,
                        "has_started": member.has_started() })
            })
            .collect();
        return Ok(context.out.json(&json!({ "members": members }))?);
    }
    Ok(context.out.text(&shown(members))?)
}

fn shown(members: &[Member]) -> String {
    let mut text = format!("{:<16}  {:<16}  {:<8}  {:<28}  CLIENTS\n", "ID", "NAME", "VOTE", "PEERS");
    for member in members {
        let name = if member.has_started() { member.name.as_str() } else { "(not started)" };
        let vote = if member.is_learner { "learner" } else { "voter" };
        let (peers, clients) = (member.peer_urls.join(","), member.client_urls.join(","));
        text += format!("{:<16}  {name:<16}  {vote:<8}  {peers:<28}  {clients}", format!("{:x}", member.id)).trim_end();
        text += "\n";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_see() {
        let member = |id, name: &str, ip: &str, clients: &[&str], is_learner| Member {
            id,
            name: name.into(),
            peer_urls: vec![format!("https://{ip}:2380")],
            client_urls: clients.iter().map(ToString::to_string).collect(),
            is_learner,
        };
        insta::assert_snapshot!(shown(&[
            member(0x8e9e_05c5_2164_6941, "master-01", "10.0.0.1", &["https://10.0.0.1:2379"], false),
            member(0x1f, "", "10.0.0.2", &[], true),
        ]));
    }
}
