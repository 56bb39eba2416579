//! There is a user that can log in to the dashboard.
//!
//! The password goes into its file, then to Ceph: after a crash in between the next run goes on with the one of the file.
//! Once there is any user, none is made: people make their own, and remove this one.

use std::{path::PathBuf, time::Duration};

use ::ceph::{CephError, Client, paths, random_text};
use engine::{About, Act, Planned, Stays, Step, StepError, Verdict};
use host::{Change, Content, Host};

use super::{
    super::ids,
    super::{cached_probe::CachedProbe, client},
    CACHED_FOR,
};
use nodekit::Layout;

const NAME: &str = "admin";

/// The first user.
pub(crate) struct User {
    file: PathBuf,
    users: CachedProbe<Users>,
}

/// What the dashboard reports.
#[derive(Debug, Clone)]
enum Users {
    /// These may log in.
    Known(Vec<String>),
    /// Why it does not answer.
    Silent(String),
}

/// What was found.
pub(crate) struct Seen {
    /// `None` in an image, and before this node has its keys.
    users: Option<Users>,
    password: Option<Vec<u8>>,
}

impl User {
    pub(crate) fn new(layout: &Layout) -> Self {
        Self { file: password_file(layout), users: CachedProbe::new(CACHED_FOR) }
    }

    async fn users(&self, host: &Host) -> Result<Users, StepError> {
        match Client::admin(host).ask(&["dashboard", "ac-user-show"]).await {
            Ok(users) => Ok(Users::Known(users)),
            // The module has been switched on, and its manager has not begun to listen to it.
            Err(error @ (CephError::Silent { .. } | CephError::Command(host::CommandError::Failed { .. }))) => {
                Ok(Users::Silent(error.to_string()))
            }
            Err(error) => Err(client::failed(&error)),
        }
    }
}

/// Where the password of the first user is kept.
fn password_file(layout: &Layout) -> PathBuf {
    layout.state_dir.join("ceph-dashboard-password")
}

impl Step for User {
    type Seen = Seen;
    type Undo = Stays;
    const ONLY_LIVE: bool = true;

    fn about(&self) -> About {
        About::new(ids::DASHBOARD_USER, "Make a first user of the dashboard", "without one no login is possible")
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        if paths::own_fsid(&*host.disk)?.is_none() {
            return Ok(Seen { users: None, password: None });
        }
        let users = self.users.ask(async || self.users(host).await).await?;
        Ok(Seen { users: Some(users), password: host.disk.read_optional(&self.file)? })
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Planned>, StepError> {
        let Some(Users::Known(users)) = &seen.users else { return Ok(Vec::new()) };
        if !users.is_empty() {
            return Ok(Vec::new());
        }
        let mut changes = Vec::new();
        if seen.password.is_none() {
            let password = random_text().map_err(|error| StepError::from_explained(&error))?;
            let content = Content::Secret(format!("{password}\n").into_bytes());
            changes.push(Change::File { path: self.file.clone(), mode: 0o600, content }.into());
        }
        let what = format!("make the user {NAME} of Ceph's dashboard, with the password in {}", self.file.display());
        changes.push(Planned::act("user", what));
        Ok(changes)
    }

    fn verify(&self, seen: &Seen) -> Verdict {
        match &seen.users {
            Some(Users::Silent(why)) => {
                Verdict::Waiting { what: format!("Ceph's dashboard to list its users: {why}"), progress: String::new() }
            }
            _ => Verdict::Met,
        }
    }

    async fn act(&self, _act: &Act, host: &Host) -> Result<(), StepError> {
        self.users.forget().await;
        let password = host.disk.read(&self.file)?;
        let words = ["dashboard", "ac-user-create", NAME, "-i", "-", "administrator"];
        let output = Client::admin(host).send_with(&words, password.trim_ascii()).await;
        output.map(drop).map_err(|error| client::failed(&error))
    }

    fn deadline(&self) -> Duration {
        Duration::from_mins(3)
    }
}
