//! What becomes of a request, written into the API: approval, certificate, denial, failure, and an Event that says so.
//!
//! Everything is written to exactly the version that was decided on. Where that is no longer the newest one, another master
//! was faster, or the request was changed: the watch brings it again.

use jiff::Timestamp;
use k8s_openapi::{
    ByteString,
    api::certificates::v1::{CertificateSigningRequest, CertificateSigningRequestCondition},
};
use kube::{
    Api, Client, ResourceExt,
    api::PostParams,
    core::{ApiResource, DynamicObject, GroupVersionKind},
};
use serde_json::{Value, json};

use super::read::Denial;
use crate::AgentError;

/// Writes for one master.
pub(super) struct Writer {
    client: Client,
    /// This master, for Events.
    node: String,
}

impl Writer {
    pub(super) fn new(client: &Client, node: &str) -> Self {
        Self { client: client.clone(), node: node.to_owned() }
    }

    /// Approves; gives the request back as it is then, or nothing if another master was faster.
    pub(super) async fn approve(
        &self,
        mut csr: CertificateSigningRequest,
    ) -> Result<Option<CertificateSigningRequest>, AgentError> {
        add(&mut csr, condition("Approved", "FitsClusterYaml", "it fits cluster.yaml"));
        let approved = self.replace("approval", &csr).await?;
        if approved.is_some() {
            tracing::info!(request = csr.name_any(), requestor = requestor(&csr), "approved");
        }
        Ok(approved)
    }

    /// Hands out the certificate.
    pub(super) async fn issue(
        &self,
        mut csr: CertificateSigningRequest,
        certificate: String,
    ) -> Result<(), AgentError> {
        csr.status.get_or_insert_default().certificate = Some(ByteString(certificate.into_bytes()));
        if self.replace("status", &csr).await?.is_some() {
            tracing::info!(request = csr.name_any(), requestor = requestor(&csr), "issued");
        }
        Ok(())
    }

    /// Denies what is not approved.
    pub(super) async fn deny(
        &self,
        mut csr: CertificateSigningRequest,
        denial: &Denial,
        now: Timestamp,
    ) -> Result<(), AgentError> {
        add(&mut csr, condition("Denied", denial.code.id, &denial.message()));
        let written = self.replace("approval", &csr).await?;
        self.emit(written, "denied", denial, now).await;
        Ok(())
    }

    /// Refuses to sign what was approved by hand.
    pub(super) async fn fail(
        &self,
        mut csr: CertificateSigningRequest,
        denial: &Denial,
        now: Timestamp,
    ) -> Result<(), AgentError> {
        add(&mut csr, condition("Failed", denial.code.id, &denial.message()));
        let written = self.replace("status", &csr).await?;
        self.emit(written, "approved by another user and not signed", denial, now).await;
        Ok(())
    }

    /// `None` if what was decided on is no longer there, or not like that.
    async fn replace(
        &self,
        part: &str,
        csr: &CertificateSigningRequest,
    ) -> Result<Option<CertificateSigningRequest>, AgentError> {
        let requests: Api<CertificateSigningRequest> = Api::all(self.client.clone());
        match requests.replace_subresource(part, &csr.name_any(), &PostParams::default(), csr).await {
            Ok(written) => Ok(Some(written)),
            Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => Ok(None),
            Err(error) => Err(AgentError::api("write to a certificate request")(error)),
        }
    }

    /// In the journal and as an Event, by the one master that wrote it.
    async fn emit(&self, written: Option<CertificateSigningRequest>, what: &str, denial: &Denial, now: Timestamp) {
        let Some(csr) = written else { return };
        let (name, requestor, message) = (csr.name_any(), requestor(&csr), denial.message());
        tracing::warn!(request = name, requestor, code = denial.code.id, "{what}: {message}");
        // Events are for people who look for them. One that is lost changes nothing.
        let event = event(&csr, &self.node, denial, now);
        let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "Event"));
        let events: Api<DynamicObject> = Api::namespaced_with(self.client.clone(), "default", &kind);
        let event = serde_json::from_value::<DynamicObject>(event).map_err(kube::Error::SerdeError);
        let created = match event {
            Ok(event) => events.create(&PostParams::default(), &event).await,
            Err(error) => Err(error),
        };
        if let Err(error) = created {
            tracing::warn!(request = name, why = crate::error::why(&error), "cannot write an Event");
        }
    }
}

fn add(csr: &mut CertificateSigningRequest, condition: CertificateSigningRequestCondition) {
    csr.status.get_or_insert_default().conditions.get_or_insert_default().push(condition);
}

fn condition(kind: &str, reason: &str, message: &str) -> CertificateSigningRequestCondition {
    CertificateSigningRequestCondition {
        type_: kind.to_owned(),
        status: "True".to_owned(),
        reason: Some(reason.to_owned()),
        message: Some(message.to_owned()),
        ..CertificateSigningRequestCondition::default()
    }
}

fn requestor(csr: &CertificateSigningRequest) -> String {
    csr.spec.username.clone().unwrap_or_default()
}

/// An Event on the request. What has no namespace has its Events in `default`.
fn event(csr: &CertificateSigningRequest, node: &str, denial: &Denial, now: Timestamp) -> Value {
    let time = now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    json!({
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": { "namespace": "default", "name": format!("{}.{:x}", csr.name_any(), now.as_nanosecond()) },
        "involvedObject": {
            "apiVersion": "certificates.k8s.io/v1",
            "kind": "CertificateSigningRequest",
            "name": csr.name_any(),
            "uid": csr.uid(),
            "resourceVersion": csr.resource_version(),
        },
        "type": "Warning",
        "reason": denial.code.id,
        "message": shortened(&denial.message()),
        "source": { "component": COMPONENT, "host": node },
        "reportingComponent": COMPONENT,
        "reportingInstance": node,
        "firstTimestamp": time,
        "lastTimestamp": time,
        "count": 1,
    })
}

const COMPONENT: &str = "blackstart-agent";

/// The API server takes 1,024 bytes; what a request asks for can be longer.
fn shortened(message: &str) -> &str {
    &message[..message.floor_char_boundary(1000)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes;

    #[test]
    fn an_event_says_what_the_condition_says() {
        let csr: CertificateSigningRequest = serde_json::from_value(json!({
            "metadata": { "name": "csr-1", "uid": "u-1", "resourceVersion": "7" },
            "spec": { "request": "", "signerName": "kubernetes.io/kubelet-serving" },
        }))
        .unwrap();
        let denial = Denial::new(codes::FORM, "it is a test");
        insta::assert_json_snapshot!(event(&csr, "master-01", &denial, "2026-11-17T12:00:00Z".parse().unwrap()));
        let long = Denial::new(codes::NAMES, "ä".repeat(2000));
        let reported = event(&csr, "master-01", &long, Timestamp::UNIX_EPOCH);
        assert!(reported["message"].as_str().unwrap().len() <= 1024);
    }
}
