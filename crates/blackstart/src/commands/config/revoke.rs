//! `blackstart config revoke`: what a node was given so far is worthless for the join service.
//!
//! The certificates of its kubelet and of kube-proxy are for the API, which knows no list of revoked ones: they are good
//! until they end or the CA is rotated. The output says so, with what to type.

use jiff::Timestamp;
use join::Admission;
use kubeapi::{
    Client,
    k8s_openapi::api::core::v1::{Node as ApiNode, Secret},
    kube::{
        Api, ResourceExt,
        api::{DeleteParams, ListParams},
    },
};
use nodekit::identity;
use playbooks::admissions;
use serde_json::json;
use spec::{Role, ValidatedCluster};

use crate::{
    Failure,
    cli::RevokeOptions,
    codes,
    commands::token::{self, KIND, NODE, refused},
    context::{Context, Ended, block_on},
    output::{confirm, note},
};

/// What was done.
struct Revoked {
    admission: Admission,
    tokens: usize,
}

pub(in crate::commands) fn revoke(context: &Context, options: &RevokeOptions) -> Result<(), Ended> {
    let name = options.node.as_str();
    // An administrator's computer has no description of the cluster, and the cluster itself knows its nodes.
    let cluster = options.kubeconfig.is_none().then(|| context.cluster(None)).transpose()?;
    if let Some(cluster) = &cluster {
        identity::by_name(cluster, name)?;
    }
    if !options.yes {
        note(&question(name, options.secrets_only));
    }
    confirm(options.yes, "Go on?")?;
    let revoked = block_on(async {
        let client = client(context, options).await?;
        if cluster.is_none() {
            known(&client, name).await?;
        }
        let (now, cut_off) = (context.host.clock.now(), !options.secrets_only);
        let admission = admissions::change(&client, name, |admission| admission.revoked(now, cut_off)).await?;
        Ok::<_, Ended>(Revoked { admission, tokens: revoke_tokens(&client, name).await? })
    })??;
    if context.out.is_json() {
        let Revoked { admission, tokens } = &revoked;
        let result = json!({ "revoked": name, "minimum_generation": admission.minimum.0, "tokens_deleted": tokens,
                             "certificates_refused": !options.secrets_only });
        return Ok(context.out.json(&result)?);
    }
    let is_master = cluster.as_deref().is_none_or(|cluster| is_master(cluster, name));
    Ok(context.out.text(&reported(name, &revoked, options.secrets_only, is_master))?)
}

async fn client(context: &Context, options: &RevokeOptions) -> Result<Client, Ended> {
    let Some(path) = &options.kubeconfig else { return token::client(context).await };
    let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
    let text = ::host::Host::real().disk.read(&path)?;
    tls::install_provider();
    Ok(kubeapi::connect(&String::from_utf8_lossy(&text)).await?)
}

/// A name that the cluster has never heard was mistyped.
async fn known(client: &Client, name: &str) -> Result<(), Ended> {
    let node = Api::<ApiNode>::all(client.clone()).get_opt(name).await;
    let is_node = node.map_err(|error| refused("see the node", &error))?.is_some();
    if is_node || admissions::read(client).await?.of(name) != Admission::default() {
        return Ok(());
    }
    Err(Failure::usage(codes::UNKNOWN_NODE, format!("the cluster knows no node `{name}`")).into())
}

async fn revoke_tokens(client: &Client, name: &str) -> Result<usize, Ended> {
    let secrets: Api<Secret> = Api::namespaced(client.clone(), "kube-system");
    let tokens = secrets.list(&ListParams::default().fields(KIND)).await;
    let tokens = tokens.map_err(|error| refused("list the tokens", &error))?;
    let bound = tokens.iter().filter(|token| token.annotations().get(NODE).is_some_and(|node| node == name));
    let names: Vec<String> = bound.map(ResourceExt::name_any).collect();
    for token in &names {
        let gone = secrets.delete(token, &DeleteParams::default()).await;
        gone.map_err(|error| refused("delete a token", &error))?;
    }
    Ok(names.len())
}

fn is_master(cluster: &ValidatedCluster, name: &str) -> bool {
    cluster.node(name).is_some_and(|node| node.roles.contains(&Role::Master))
}

fn question(name: &str, secrets_only: bool) -> String {
    let certificates = if secrets_only { "" } else { ", and its agent is no longer heard" };
    format!("No copy of {name}'s sealed directory that was made so far will join any more{certificates}.\n")
}

fn reported(name: &str, revoked: &Revoked, secrets_only: bool, is_master: bool) -> String {
    let Revoked { admission, tokens } = revoked;
    let since = Timestamp::from_second(admission.minimum.0.into()).unwrap_or_default();
    let mut text = format!("every secret of {name} from before {since} is worthless\n");
    if *tokens > 0 {
        text += &format!("deleted what could be used besides: {} bound to it\n", explain::counted(*tokens, "token"));
    }
    if !secrets_only {
        text += "the join service refuses its agent's certificates: no reports, no renewal\n";
        text += "\nThe certificates of its kubelet and kube-proxy are good for the API until they end. To keep the machine out:\n";
        let rotate = if is_master {
            ("blackstart pki rotate --all", "it is a master, and has the cluster's keys")
        } else {
            ("blackstart pki rotate ca", "if its files are in other hands")
        };
        let remove = format!("blackstart node remove {name}");
        let remove = (remove.as_str(), "and take it out of cluster.yaml: its kubelet gets no more certificates");
        for (command, why) in [remove, rotate] {
            text += &format!("  {command:<36} {why}\n");
        }
    }
    text += &format!(
        "\nTo let it join again: blackstart config seal DIR --out OUT --renew {name}, and bring the new directory to it{}\n",
        if secrets_only { "; as long as it lives it gets a new secret by itself before the old one ends" } else { "" }
    );
    text
}

#[cfg(test)]
mod tests {
    use join::Generation;

    use super::*;

    #[test]
    fn what_was_done_and_what_was_not() {
        let admission = Admission { minimum: Generation(1_800_000_000), ..Admission::default() };
        let revoked = Revoked { admission, tokens: 1 };
        insta::assert_snapshot!(reported("worker-01", &revoked, false, false));
        insta::assert_snapshot!(reported("worker-01", &revoked, true, false));
        insta::assert_snapshot!(reported("master-02", &Revoked { tokens: 0, ..revoked }, false, true));
        insta::assert_snapshot!(question("worker-01", false), @"No copy of worker-01's sealed directory that was made so far will join any more, and its agent is no longer heard.");
    }
}
