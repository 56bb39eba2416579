//! Asking every member, all at once.

use std::{collections::BTreeSet, error::Error, time::Duration};

use explain::chain;
use futures::{
    future::join_all,
    stream::{FuturesUnordered, StreamExt},
};
use tokio::time::{Instant, timeout_at};

use super::best_list;
use crate::{Access, Alarm, Etcd, EtcdError, Member, Status};

/// What came of asking one member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heard {
    /// The master's name; empty for a member that no configuration names.
    pub name: String,
    /// Where it was asked.
    pub url: String,
    /// What it answered, or why not.
    pub reported: Result<Reported, String>,
}

/// What a member answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reported {
    /// Of itself.
    pub status: Status,
    /// The members it knows.
    pub known: Vec<Member>,
    /// The members that a majority agrees on; `None` if there is no majority.
    pub agreed: Option<Vec<Member>>,
    /// All alarms it knows.
    pub alarms: Vec<Alarm>,
}

/// How long the others have once a majority has answered: a healthy member takes milliseconds.
const GRACE: Duration = Duration::from_millis(500);

/// Asks these masters, by name and client URL, and the other members that they name.
pub async fn ask(access: &Access, masters: impl IntoIterator<Item = (String, String)>) -> Vec<Heard> {
    let mut heard = join_all(masters.into_iter().map(|(name, url)| one(access, name, url))).await;
    let others = unasked(&heard);
    heard.extend(join_all(others.into_iter().map(|url| one(access, String::new(), url))).await);
    heard
}

/// As [`ask`], for what is asked often while members start: a member accepts connections long before it answers, and is not
/// waited for once another one has answered for the majority.
pub async fn ask_majority(access: &Access, masters: impl IntoIterator<Item = (String, String)>) -> Vec<Heard> {
    let mut heard = first(access, masters.into_iter().collect()).await;
    let others = unasked(&heard);
    heard.extend(first(access, others.into_iter().map(|url| (String::new(), url)).collect()).await);
    heard
}

async fn one(access: &Access, name: String, url: String) -> Heard {
    let reported = emit(&access.member(&url)).await.map_err(|error| why(&url, &error));
    Heard { name, url, reported }
}

/// In the order of the question, whoever answered first.
async fn first(access: &Access, masters: Vec<(String, String)>) -> Vec<Heard> {
    let asked = masters.iter().cloned().enumerate();
    let mut answers: FuturesUnordered<_> =
        asked.map(|(at, (name, url))| async move { (at, one(access, name, url).await) }).collect();
    let in_time = format!("no answer within {} ms of the first", GRACE.as_millis());
    let mut heard: Vec<Heard> =
        masters.into_iter().map(|(name, url)| Heard { name, url, reported: Err(in_time.clone()) }).collect();
    let mut until: Option<Instant> = None;
    loop {
        let next = match until {
            None => answers.next().await,
            Some(until) => timeout_at(until, answers.next()).await.unwrap_or_default(),
        };
        let Some((at, answer)) = next else { return heard };
        if answer.reported.as_ref().is_ok_and(|reported| reported.agreed.is_some()) {
            until.get_or_insert_with(|| Instant::now() + GRACE);
        }
        if let Some(slot) = heard.get_mut(at) {
            *slot = answer;
        }
    }
}

async fn emit(etcd: &Etcd) -> Result<Reported, EtcdError> {
    // Without a majority the second waits for its time limit, and is no answer.
    let (status, agreed, known, alarms) =
        tokio::join!(etcd.status(), etcd.members(), etcd.known_members(), etcd.alarms());
    // A learner answers for itself and for nothing else.
    let (known, alarms) = (known.unwrap_or_default(), alarms.unwrap_or_default());
    Ok(Reported { status: status?, known, agreed: agreed.ok(), alarms })
}

/// The last cause says it best: those above it repeat the URL.
fn why(url: &str, error: &EtcdError) -> String {
    let EtcdError::Unreachable { source, .. } = error else { return chain(error) };
    if let Some(distrust) = tls::distrust(error) {
        return format!("the certificate of {url} is not trusted ({distrust:?})");
    }
    if source.is_timeout() {
        return format!("no answer from {url} in time");
    }
    let mut last: &dyn Error = source;
    while let Some(cause) = last.source() {
        last = cause;
    }
    format!("no answer from {url}: {last}")
}

/// The URLs of members that were not asked yet.
fn unasked(heard: &[Heard]) -> BTreeSet<String> {
    let asked = |member: &Member| {
        heard.iter().any(|one| {
            let is_it = |reported: &Reported| reported.status.member_id() == member.id;
            one.name == member.name || member.client_urls.contains(&one.url) || one.reported.as_ref().is_ok_and(is_it)
        })
    };
    let members = best_list(heard).map(|(members, _)| members).unwrap_or_default();
    members.iter().filter(|member| !asked(member)).filter_map(|member| member.client_urls.first().cloned()).collect()
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpListener,
    };

    use super::*;
    use crate::survey::Agreed;

    /// A member that knows only itself, in plain HTTP.
    async fn answering() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move {
            while let Ok((mut connection, _)) = listener.accept().await {
                let body = r#"{"header":{"member_id":"1"},"version":"3.7.3","leader":"1",
                    "members":[{"ID":"1","name":"m1","clientURLs":["https://m1:2379"]}]}"#;
                let mut request = [0; 4096];
                let _ = connection.read(&mut request).await.unwrap();
                let head = format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
                connection.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
            }
        });
        url
    }

    /// It accepts connections and says nothing, as a member does until it has published where its clients reach it.
    async fn silent() -> (TcpListener, String) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        (listener, url)
    }

    #[tokio::test]
    async fn a_silent_member_is_not_waited_for_once_a_majority_has_answered() {
        let (_listener, silent) = silent().await;
        let masters = [("m2".to_owned(), silent), ("m1".to_owned(), answering().await)];
        let began = Instant::now();
        let heard = ask_majority(&Access::without_tls(), masters).await;
        assert!(began.elapsed() < crate::LIMIT, "{:?}", began.elapsed());
        assert_eq!(heard.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["m2", "m1"], "as they were asked");
        assert_eq!(heard[0].reported.as_ref().unwrap_err(), "no answer within 500 ms of the first");
        assert_eq!(Agreed::of(&heard).unwrap().healthy, [1]);
    }

    #[tokio::test]
    async fn without_a_majority_all_have_their_time() {
        let heard = ask_majority(&Access::without_tls(), [("m1".to_owned(), "http://127.0.0.1:1".to_owned())]).await;
        assert!(heard[0].reported.as_ref().unwrap_err().contains("127.0.0.1:1"), "{heard:?}");
    }
}
