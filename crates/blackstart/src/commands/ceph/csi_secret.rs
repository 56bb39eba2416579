//! `blackstart ceph csi-secret`: a key that can do nothing but use block devices, as ceph-csi wants it.

use ceph::{CephError, Client, Entity, Key, codes, paths};
use host::CommandError;
use serde::Deserialize;

use crate::{
    Failure,
    context::{Context, Ended, block_on},
};

/// What `ceph auth get-or-create` answers.
#[derive(Deserialize)]
struct Known {
    key: Key,
}

pub(super) fn run(context: &Context, pool: Option<&str>, namespace: &str, name: &str) -> Result<(), Ended> {
    let Some(fsid) = paths::own_fsid(&*context.host.disk)? else {
        return Err(Failure::new(codes::NOT_HERE, format!("{} is not there", paths::FSID)).into());
    };
    let key = block_on(key(context, pool))??;
    let entity = Entity::CsiRbd.to_string();
    let user = entity.strip_prefix("client.").unwrap_or(&entity);
    let secret = render::objects::csi_secret(namespace, name, fsid.as_str(), user, key.expose());
    if context.out.is_json() {
        return Ok(context.out.json(&secret)?);
    }
    Ok(context.out.text(&render::document(&secret))?)
}

async fn key(context: &Context, pool: Option<&str>) -> Result<Key, Ended> {
    let entity = Entity::CsiRbd.to_string();
    let caps = caps(pool);
    let mut words = vec!["auth", "get-or-create", entity.as_str()];
    words.extend(caps.iter().map(String::as_str));
    let known: Vec<Known> = Client::admin(&context.host).ask(&words).await.map_err(|error| explained(error, &caps))?;
    let unknown =
        || Failure::new(codes::GARBLED, format!("`ceph auth get-or-create {entity}` has answered with no key"));
    Ok(known.into_iter().next().ok_or_else(unknown)?.key)
}

/// What it may do is not changed silently: others may use the same key.
fn explained(error: CephError, caps: &[String]) -> Failure {
    let is_other =
        matches!(&error, CephError::Command(CommandError::Failed { output, .. }) if output.contains("does not match"));
    let failure = Failure::from(error);
    if !is_other {
        return failure;
    }
    let quoted: Vec<String> = caps.iter().map(|word| format!("'{word}'")).collect();
    let entity = Entity::CsiRbd;
    failure.with_hint(format!(
        "it may do something else now; to change that: `ceph auth caps {entity} {}`",
        quoted.join(" ")
    ))
}

/// What it may do, in the words of the command; with a pool, only there.
fn caps(pool: Option<&str>) -> Vec<String> {
    let words = |(service, may): &(&str, &str)| {
        let only = pool.filter(|_| *service != "mon").map(|pool| format!(" pool={pool}")).unwrap_or_default();
        [(*service).to_owned(), format!("{may}{only}")]
    };
    Entity::CsiRbd.caps().iter().flat_map(words).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_is_the_only_one() {
        assert_eq!(caps(None), ["mgr", "profile rbd", "mon", "profile rbd", "osd", "profile rbd"]);
        assert_eq!(caps(Some("p")), ["mgr", "profile rbd pool=p", "mon", "profile rbd", "osd", "profile rbd pool=p"]);
    }
}
