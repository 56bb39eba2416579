//! Nodes that are not in yet report how they are: each about itself, each report once, and nothing is granted by it.

use explain::Explain;
use join::{
    Applicant, Credential, Generation, JoinKey, Member,
    wire::{EarlyReport, Hello, KnownNode, Refused},
};
use secrecy::ExposeSecret;
use serde_json::{Value, json};

use crate::world::{WORKER_01, WORKER_02, World};

#[tokio::test]
async fn a_node_is_heard_before_it_has_joined() {
    let world = World::new().await;
    let worker = world.applicant("worker-01");
    assert_eq!(reported(&world).await, Value::Null);
    for steps in [3, 4] {
        world.client().report(&worker, &json!({ "steps": steps })).await.unwrap();
        assert_eq!(reported(&world).await, json!({ "early": true, "status": { "steps": steps } }));
    }
    assert_eq!(world.signed(), 0, "nothing is granted");

    let joined = world.client().join(&worker).await.unwrap();
    let identity = (joined.agent.cert_pem.as_str(), joined.agent.key_pem.expose_secret());
    let member = Member::new(vec![world.address], &world.ca_pem, identity).unwrap();
    world.come_from(WORKER_01);
    member.report(&json!({ "steps": 9 })).await.unwrap();
    assert_eq!(reported(&world).await, json!({ "early": false, "status": { "steps": 9 } }));
}

#[tokio::test]
async fn a_token_is_as_good() {
    let world = World::new().await;
    let credential = Credential::Token(world.new_token(None, None));
    let worker = Applicant { credential, ..world.applicant("worker-01") };
    world.client().report(&worker, &json!(1)).await.unwrap();
    assert_eq!(reported(&world).await, json!({ "early": true, "status": 1 }));
}

#[tokio::test]
async fn no_node_reports_for_another() {
    type Forge = fn(&World) -> Applicant;
    let cases: [(&str, &str, Forge); 7] = [
        ("another node's secret", "BS-JOIN-004", |world| Applicant {
            node: "worker-01".into(),
            ..world.applicant("worker-02")
        }),
        ("a secret of another cluster's key", "BS-JOIN-002", |world| Applicant {
            credential: Credential::NodeSecret(JoinKey::generate().unwrap().node_secret(
                "worker-01",
                Generation(9),
                None,
            )),
            ..world.applicant("worker-01")
        }),
        ("an expired token", "BS-JOIN-003", |world| Applicant {
            credential: Credential::Token(world.new_token(Some("2026-01-01T00:00:00Z".parse().unwrap()), None)),
            ..world.applicant("worker-01")
        }),
        ("another node's token", "BS-JOIN-004", |world| Applicant {
            credential: Credential::Token(world.new_token(None, Some("worker-02"))),
            ..world.applicant("worker-01")
        }),
        ("a name that is not in cluster.yaml", "BS-JOIN-005", |world| Applicant {
            node: "worker-99".into(),
            credential: Credential::Token(world.new_token(None, None)),
            ..world.applicant("worker-01")
        }),
        ("another cluster", "BS-JOIN-013", |world| Applicant {
            cluster: "away".into(),
            ..world.applicant("worker-01")
        }),
        ("another address", "BS-JOIN-007", |world| {
            world.come_from(WORKER_02);
            world.applicant("worker-01")
        }),
    ];
    for (what, code, forge) in cases {
        let world = World::new().await;
        let forged = forge(&world);
        let error = world.client().report(&forged, &json!({})).await.expect_err(what);
        assert_eq!(error.code().id, code, "{what}");
        assert_eq!(reported(&world).await, Value::Null, "{what}");
    }
}

#[tokio::test]
async fn a_recorded_report_is_of_no_use() {
    let world = World::new().await;
    let recorded = honest(&world, r#"{"steps":1}"#).await;
    assert_eq!(post(&world, &recorded).await, Ok(()));
    assert_eq!(post(&world, &recorded).await, Err("BS-JOIN-009".into()), "the same once more");

    let older = honest(&world, r#"{"steps":2}"#).await;
    let newer = honest(&world, r#"{"steps":3}"#).await;
    assert_eq!(post(&world, &newer).await, Ok(()));
    assert_eq!(post(&world, &older).await, Err("BS-JOIN-009".into()), "one that was overtaken");

    let mut changed = honest(&world, "{}").await;
    changed.status = r#"{"steps":4}"#.into();
    assert_eq!(post(&world, &changed).await, Err("BS-JOIN-002".into()), "one that was changed on the way");

    let late = honest(&world, "{}").await;
    world.shift_clock(61);
    assert_eq!(post(&world, &late).await, Err("BS-JOIN-009".into()), "one that was held back");
    assert!(world.journal().contains("BS-JOIN-009"));
    assert_eq!(reported(&world).await["status"], json!({ "steps": 3 }));
}

#[tokio::test]
async fn what_is_no_report_is_refused() {
    let world = World::new().await;
    assert_eq!(post(&world, &honest(&world, "not json").await).await, Err("BS-JOIN-015".into()));
    let long = format!("\"{}\"", "x".repeat(70_000));
    assert_eq!(post(&world, &honest(&world, &long).await).await, Err("BS-JOIN-011".into()));
    let mut strange = honest(&world, "{}").await;
    strange.node = "worker\n01".into();
    assert_eq!(post(&world, &strange).await, Err("BS-JOIN-015".into()));
}

/// A report of worker-01 with a fresh challenge and its proof.
async fn honest(world: &World, status: &str) -> EarlyReport {
    let (_, Hello { challenge, .. }) = world.client().hello(None).await.unwrap();
    // Challenges of the same millisecond have no order.
    tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    let mut report = EarlyReport {
        cluster: "home".into(),
        node: "worker-01".into(),
        credential: world.secret("worker-01").claimed(),
        challenge,
        status: status.into(),
        proof: String::new(),
    };
    report.prove(world.secret("worker-01").bytes().expose_secret());
    report
}

/// Sends a report as it is; the code, if it is refused.
async fn post(world: &World, report: &EarlyReport) -> Result<(), String> {
    let http = tls::client(&world.ca_pem, None).unwrap();
    let answer = http.post(format!("https://{}/v1/early-report", world.address)).json(report).send().await.unwrap();
    if answer.status().is_success() { Ok(()) } else { Err(answer.json::<Refused>().await.unwrap().diagnostic.code) }
}

/// What the master knows of worker-01, without the time.
async fn reported(world: &World) -> Value {
    let admin = (world.admin.0.as_str(), world.admin.1.as_str());
    let known = Member::new(vec![world.address], &world.ca_pem, admin).unwrap().nodes().await.unwrap();
    assert!(known.listening_since <= known.now);
    let KnownNode { report, .. } = known.nodes.into_iter().find(|node| node.node == "worker-01").unwrap();
    report.map_or(Value::Null, |report| json!({ "early": report.early, "status": report.status }))
}
