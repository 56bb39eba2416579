//! The payload is what a machine config server serves: a `MachineConfig`, its images, the files that the node needs.

use checks::{Check, Checking, Finding, Part};
use explain::plain;

use super::{super::stored, found};
use crate::{
    codes::{BAD_PAYLOAD, IMAGES_DISAGREE, INCOMPLETE_PAYLOAD, NO_IMAGE, NOT_A_DIGEST, PAYLOAD_GONE, UNKNOWN_FIELD},
    drivers::Subject,
};

/// See [`super`].
pub(super) const CHECK: Check<Subject> = Check::new(
    "payload",
    "the payload is whole, and names its images by digest",
    &[BAD_PAYLOAD, IMAGES_DISAGREE, INCOMPLETE_PAYLOAD, NO_IMAGE, NOT_A_DIGEST, PAYLOAD_GONE, UNKNOWN_FIELD],
    check,
);

fn check(subject: &Subject) -> Checking<'_> {
    Box::pin(async move {
        let bytes = match stored::read(&*subject.host.disk, &subject.run) {
            Ok(bytes) => bytes,
            Err(error) => return Ok(vec![found(&error)]),
        };
        Ok(evaluate(&bytes))
    })
}

fn evaluate(bytes: &[u8]) -> Vec<Finding> {
    match stored::Target::parse(bytes) {
        Err(problems) => problems.iter().map(super::super::problem::Problem::finding).collect(),
        Ok(target) => {
            let unknown = target.config.unknown();
            let evidence = format!("unknown fields: {}", unknown.join(", "));
            let warning = Finding::warning(UNKNOWN_FIELD, Part::Machine, plain(&evidence));
            if unknown.is_empty() { Vec::new() } else { vec![warning] }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{
        super::{
            super::{samples::Sample, testing::Machine},
            reported,
        },
        *,
    };

    #[tokio::test]
    async fn all_that_is_wrong_at_once() {
        let machine = Machine::default();
        let mut text = format!("nothing fetched:\n{}", reported(&CHECK, &machine).await);
        let wrong = Sample {
            mco: "quay.io/mco:latest".into(),
            os: "quay.io/os:latest".into(),
            leave_out: vec!["/etc/kubernetes/kubeconfig".into()],
            ..Sample::default()
        };
        for (case, sample) in [
            ("whole", Sample::default()),
            ("fields of tomorrow", Sample { spec: json!({"osStream": "rhel-11"}), ..Sample::default() }),
            ("wrong", wrong),
        ] {
            machine.fetched(&sample.served());
            text += &format!("{case}:\n{}", reported(&CHECK, &machine).await);
        }
        insta::assert_snapshot!(text);
    }
}
