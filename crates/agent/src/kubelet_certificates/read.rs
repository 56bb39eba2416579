//! What a `CertificateSigningRequest` asks for, read and proved to come from the holder of the key.
//!
//! This is the only reader: who decides and who signs see the same [`Ask`].

use explain::Code;
use jiff::SignedDuration;
use k8s_openapi::api::certificates::v1::CertificateSigningRequest;
use pki::Request;

use crate::codes;

const CLIENT: &str = "kubernetes.io/kube-apiserver-client-kubelet";
const SERVING: &str = "kubernetes.io/kubelet-serving";
const GROUP: &str = "system:nodes";
const USER: &str = "system:node:";

/// What the certificate is to be good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The kubelet identifies itself to the API server.
    Client,
    /// The kubelet is identified by the API server.
    Serving,
}

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Requestor {
    /// The node of that name.
    Node(String),
    /// A client with the bootstrap token of that id.
    Token(String),
    /// Anybody else.
    Other(String),
}

/// A request for a kubelet's certificate whose form is right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ask {
    /// What was sent, of which only the key is used.
    pub(super) request: Request,
    pub(super) purpose: Purpose,
    /// The node it is for.
    pub(super) node: String,
    pub(super) requestor: Requestor,
    /// For how long the certificate is wanted, if that is given.
    pub(super) lasts: Option<SignedDuration>,
}

/// Why a request is denied, or fails: the code, and what was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Denial {
    pub(super) code: Code,
    pub(super) seen: String,
}

impl Denial {
    pub(super) fn new(code: Code, seen: impl Into<String>) -> Self {
        Self { code, seen: seen.into() }
    }

    /// For `kubectl describe csr`.
    pub(super) fn message(&self) -> String {
        format!("{}: {}; {}", self.code.meaning, self.seen, self.code.fix)
    }
}

impl Ask {
    /// `None` for signers that are not ours to evaluate.
    pub(super) fn read(csr: &CertificateSigningRequest) -> Result<Option<Self>, Denial> {
        let purpose = match csr.spec.signer_name.as_str() {
            CLIENT => Purpose::Client,
            SERVING => Purpose::Serving,
            _ => return Ok(None),
        };
        let request = Request::from_pem(&csr.spec.request.0)
            .map_err(|error| Denial::new(codes::UNREADABLE, error.to_string()))?;
        if !request.has_strong_key {
            return Err(Denial::new(codes::WEAK_KEY, "it is not ECDSA with P-256 or P-384"));
        }
        let node = subject(&request)?;
        check_usages(purpose, csr.spec.usages.as_deref().unwrap_or_default())?;
        check_names(purpose, &request)?;
        // Last, because whatever was found before says more. Nothing gets by.
        if !request.is_canonical {
            return Err(Denial::new(codes::FORM, "written again, what it says is not what was sent"));
        }
        let lasts = csr.spec.expiration_seconds.map(|seconds| SignedDuration::from_secs(seconds.into()));
        Ok(Some(Self { request, purpose, node, requestor: requestor(csr), lasts }))
    }
}

/// The node's name, from a subject that is exactly a node's.
fn subject(request: &Request) -> Result<String, Denial> {
    let whole = format!("CN={}, O={}", request.common_names.join("+"), request.organizations.join("+"));
    let node = match (&request.common_names[..], &request.organizations[..]) {
        ([user], [group]) if group == GROUP && !request.has_other_attributes => user.strip_prefix(USER),
        _ => None,
    };
    match node {
        Some(node) if !node.is_empty() => Ok(node.to_owned()),
        _ => Err(Denial::new(codes::SUBJECT, format!("its subject is `{whole}`"))),
    }
}

fn check_usages(purpose: Purpose, usages: &[String]) -> Result<(), Denial> {
    let auth = match purpose {
        Purpose::Client => "client auth",
        Purpose::Serving => "server auth",
    };
    let needed = ["digital signature", auth];
    let has = |usage: &str| usages.iter().any(|asked| asked == usage);
    let allowed = |usage: &String| needed.contains(&usage.as_str()) || usage == "key encipherment";
    if needed.iter().all(|usage| has(usage)) && usages.iter().all(allowed) {
        return Ok(());
    }
    Err(Denial::new(codes::USAGES, format!("it asks for `{}`", usages.join(", "))))
}

fn check_names(purpose: Purpose, request: &Request) -> Result<(), Denial> {
    if request.has_other_names {
        return Err(Denial::new(codes::NAMES, "it asks for mail addresses, URIs or the like"));
    }
    match (purpose, request.names.is_empty()) {
        (Purpose::Client, false) => Err(Denial::new(codes::NAMES, "a client certificate has no names or addresses")),
        (Purpose::Serving, true) => Err(Denial::new(codes::NAMES, "it asks for no name and no address")),
        _ => Ok(()),
    }
}

/// Who asks, as the API server itself wrote it into the request.
fn requestor(csr: &CertificateSigningRequest) -> Requestor {
    let user = csr.spec.username.clone().unwrap_or_default();
    let is_in = |group: &str| csr.spec.groups.iter().flatten().any(|seen| seen == group);
    match (user.strip_prefix(USER), user.strip_prefix("system:bootstrap:")) {
        (Some(node), _) if is_in(GROUP) => Requestor::Node(node.to_owned()),
        (_, Some(id)) if is_in("system:bootstrappers") => Requestor::Token(id.to_owned()),
        _ => Requestor::Other(user),
    }
}
