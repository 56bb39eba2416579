//! A first token and the line by which a machine joins, for people and scripts. Made once: an administrator who
//! revokes the token, or lets it end, does not want it back.
//!
//! The token goes into its file, then into the API, then into the command, whose file shows that all is done. After a crash
//! in between the next run goes on with the token of the file: there is never one in the API that is in no file.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use engine::{About, Act, Planned, Stays, Step, StepError};
use host::{Change, Content, Host};
use jiff::{SignedDuration, Timestamp, Unit};
use secrecy::ExposeSecret;
use spec::{Token, UnlistedNodes, ValidatedCluster};

use super::{ids, services::api_url};
use crate::{
    access::{self, Access},
    codes,
};
use nodekit::Layout;

/// How long the first tokens are good.
const LIFETIME: SignedDuration = SignedDuration::from_hours(24);

/// `bootstrap-token` and `worker-join-command` in the state directory, and the token of cluster.yaml in the API.
pub(super) struct JoinInfo {
    cluster: ValidatedCluster,
    token_file: PathBuf,
    command_file: PathBuf,
    ca: PathBuf,
    access: Arc<Access>,
    /// What was planned, for the change that puts it into the API.
    planned: Mutex<Option<(Token, Timestamp)>>,
}

/// What was found.
pub(super) struct Seen {
    /// The token of a run before; what is in the file and is no token is replaced.
    token: Option<Token>,
    has_command: bool,
    now: Timestamp,
    ca: Vec<u8>,
}

impl JoinInfo {
    /// On the first master.
    pub(super) fn new(cluster: &ValidatedCluster, layout: &Layout, access: &Arc<Access>) -> Self {
        Self {
            cluster: cluster.clone(),
            token_file: layout.state_dir.join("bootstrap-token"),
            command_file: layout.state_dir.join("worker-join-command"),
            ca: layout.kubernetes_dir.join("pki/ca.crt"),
            access: access.clone(),
            planned: Mutex::new(None),
        }
    }
}

/// The line by which a machine joins that this program does not run on.
pub fn join_command(cluster: &ValidatedCluster, ca_pem: &[u8], token: &Token) -> Result<String, StepError> {
    let first = cluster.masters().next().map(|master| api_url(cluster, master)).unwrap_or_default();
    let endpoint = first.trim_start_matches("https://");
    let pin = pki::spki_pin(ca_pem)
        .map_err(|error| StepError::new(pki::codes::UNREADABLE, "ca.crt has no pin").with_source(error))?;
    let token = join::token::text(token);
    Ok(format!("kubeadm join {endpoint} --token {} --discovery-token-ca-cert-hash {pin}", token.expose_secret()))
}

impl Step for JoinInfo {
    type Seen = Seen;
    type Undo = Stays;

    fn about(&self) -> About {
        About::new(ids::JOIN_INFO, "Make a first join token", "machines that hold no secret of their own join with it")
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        let token = host.disk.read_optional(&self.token_file)?;
        Ok(Seen {
            token: token.and_then(|text| join::token::parse(&String::from_utf8_lossy(&text)).ok()),
            has_command: host.disk.exists(&self.command_file)?,
            now: host.clock.now(),
            ca: host.disk.read_optional(&self.ca)?.unwrap_or_default(),
        })
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Planned>, StepError> {
        let (token, is_new) = match (&seen.token, seen.has_command) {
            (Some(_), true) => return Ok(Vec::new()),
            (Some(token), false) => (token.clone(), false),
            (None, _) => {
                let no_random = |error| StepError::new(codes::NO_RANDOM, "cannot make a token").with_source(error);
                (join::token::generate().map_err(no_random)?, true)
            }
        };
        let end = seen.now + LIFETIME;
        let end = end.round(Unit::Second).unwrap_or(end);
        let secret = |path: &PathBuf, text: String| -> Planned {
            let content = Content::Secret(text.into_bytes());
            Change::File { path: path.clone(), mode: 0o600, content }.into()
        };
        // A dry run comes before there is a CA.
        let command = if seen.ca.is_empty() { String::new() } else { join_command(&self.cluster, &seen.ca, &token)? };
        let rule = match self.cluster.bootstrap().unlisted_nodes {
            UnlistedNodes::Deny => {
                "# Refused as long as cluster.yaml does not say `cluster.bootstrap.unlisted_nodes: allow`.\n"
            }
            UnlistedNodes::Allow => "",
        };
        let text = format!(
            "# Joins a machine that is not in cluster.yaml as a worker. The token ends at {end};\n\
             # `blackstart token create --print-join-command` makes another one.\n{rule}{command}\n"
        );
        let token_text = format!("{}\n", join::token::text(&token).expose_secret());
        *self.planned.lock().unwrap_or_else(PoisonError::into_inner) = Some((token, end));
        let mut changes: Vec<Planned> = is_new.then(|| secret(&self.token_file, token_text)).into_iter().collect();
        changes.extend([
            Planned::act("create", format!("create a join token that ends at {end}")),
            secret(&self.command_file, text),
        ]);
        Ok(changes)
    }

    async fn act(&self, _act: &Act, host: &Host) -> Result<(), StepError> {
        let planned = self.planned.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some((token, end)) = planned else { return Ok(()) };
        let client = self.access.required(host).await?;
        let given = self.cluster.bootstrap().token.iter().map(|token| (token, "given in cluster.yaml"));
        for (token, description) in given.chain([(&token, "made by blackstart at first start")]) {
            let secret = token.secret.expose_secret();
            let object = render::objects::token(&token.id, secret, Some(&end.to_string()), None, description);
            kubeapi::apply(&client, &object).await.map_err(|error| access::failed(&error))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step() -> JoinInfo {
        let text = "cluster: { name: home, networking: { node_cidr: 192.168.1.0/24, gateway: 192.168.1.1 } }\n\
                    nodes: [{ name: m, ip: 192.168.1.10, roles: [master] }]";
        let cluster = spec::check_text(text).cluster.unwrap();
        JoinInfo::new(&cluster, &Layout::default(), &Arc::new(Access::new("/etc/kubernetes/super-admin.conf")))
    }

    /// The planned changes, and the token they are about.
    fn planned(step: &JoinInfo, token: Option<&str>, has_command: bool) -> (Vec<String>, Option<String>) {
        let token = token.map(|text| join::token::parse(text).unwrap());
        let now = "2026-01-01T00:00:00Z".parse().unwrap();
        let changes = step.plan(&Seen { token, has_command, now, ca: Vec::new() }).unwrap();
        let text = |(token, _): &(Token, Timestamp)| join::token::text(token).expose_secret().to_owned();
        let about = step.planned.lock().unwrap().as_ref().map(text);
        (
            changes
                .iter()
                .map(|change| change.to_string().split([' ', '(']).take(2).collect::<Vec<_>>().join(" "))
                .collect(),
            about,
        )
    }

    #[test]
    fn a_token_that_a_crash_left_is_taken_up_again() {
        let (token, command) =
            ("write /var/lib/cluster-state/bootstrap-token", "write /var/lib/cluster-state/worker-join-command");
        let (changes, _) = planned(&step(), None, false);
        assert_eq!(changes, [token, "create a", command]);
        let (changes, about) = planned(&step(), Some("abcdef.0123456789abcdef"), false);
        assert_eq!(
            (changes.as_slice(), about.as_deref()),
            (&["create a".to_owned(), command.to_owned()][..], Some("abcdef.0123456789abcdef"))
        );
        let (changes, _) = planned(&step(), Some("abcdef.0123456789abcdef"), true);
        assert_eq!(changes, Vec::<String>::new());
        let (changes, _) = planned(&step(), None, true);
        assert_eq!(changes, [token, "create a", command], "a token that was removed is replaced");
    }
}
