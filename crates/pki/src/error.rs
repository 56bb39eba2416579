//! What can be wrong with a PKI. Every problem names its file; all problems are reported at once.

use std::{error::Error, fmt, path::PathBuf};

use explain::{Code, Explain};
use jiff::Timestamp;

use crate::{codes, reason::Reason};

/// One problem.
#[derive(Debug, thiserror::Error)]
pub enum PkiError {
    /// Certificates made now would be wrong everywhere.
    #[error("the clock says {now}, but this program was built {built}")]
    Clock {
        /// What the clock says.
        now: Timestamp,
        /// When this program was built.
        built: Timestamp,
    },
    /// Not overwritten, because it may be all there is left of something.
    #[error("cannot use {path}: {why}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it; never its content.
        why: &'static str,
    },
    /// For a CA or the service account key; a leaf in this state is made again instead.
    #[error("the key {key} does not belong to {other}")]
    KeyMismatch {
        /// The private key.
        key: PathBuf,
        /// The certificate or public key beside it.
        other: PathBuf,
    },
    /// A CA marked with another cluster's name.
    #[error("{path} is the CA of cluster `{found}`, not of `{expected}`")]
    OtherCluster {
        /// The CA's certificate.
        path: PathBuf,
        /// The name it carries.
        found: String,
        /// The name of this cluster.
        expected: String,
    },
    /// Nothing can be signed with it.
    #[error("the CA {path} is valid only until {when}")]
    CaExpired {
        /// The CA's certificate.
        path: PathBuf,
        /// Its end.
        when: Timestamp,
    },
    /// Nothing it signs would be believed.
    #[error("the CA {path} is valid only from {when}")]
    CaNotYetValid {
        /// The CA's certificate.
        path: PathBuf,
        /// Its beginning.
        when: Timestamp,
    },
    /// A certificate without the right to sign.
    #[error("{path} is not a CA certificate")]
    NotACa {
        /// The certificate.
        path: PathBuf,
    },
    /// A certificate of another CA.
    #[error("{path} was not signed by {ca}; its issuer is `{issuer}`")]
    NotSigned {
        /// The certificate or kubeconfig.
        path: PathBuf,
        /// The CA's certificate.
        ca: PathBuf,
        /// What the certificate says of its issuer.
        issuer: String,
    },
    /// The CA's key is elsewhere, so this cannot be made here.
    #[error("{path} {reason}, and cannot be made here without {key}")]
    Bring {
        /// The certificate or kubeconfig.
        path: PathBuf,
        /// What is wrong with it.
        reason: Reason,
        /// The CA's key, which is not here.
        key: PathBuf,
    },
    /// Nothing can be signed for other machines here.
    #[error("the CA's key {key} is not here")]
    NoKey {
        /// Where it would be.
        key: PathBuf,
    },
    /// Shared by all masters, and this one may not make it.
    #[error("missing, and must not be made again here: {}", listed(missing))]
    MayNotMake {
        /// The files.
        missing: Vec<PathBuf>,
    },
    /// No row of the table has this name.
    #[error("there is no certificate `{name}`")]
    UnknownName {
        /// What was asked for.
        name: String,
        /// What was probably meant.
        meant: Option<&'static str>,
        /// All names.
        known: Vec<&'static str>,
    },
    /// A CA, or the service account key.
    #[error("`{name}` is shared by the whole cluster and cannot be renewed on one node")]
    NotRenewable {
        /// What was asked for.
        name: String,
    },
    /// The library refused.
    #[error("cannot make {path}")]
    Issue {
        /// The file that was to be made.
        path: PathBuf,
        /// The library's error.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// A certificate with a changed issuer would not be believed by anybody.
    #[error("the subject of {path} cannot be repeated exactly as an issuer")]
    IssuerName {
        /// The CA's certificate.
        path: PathBuf,
    },
}

impl Explain for PkiError {
    fn code(&self) -> Code {
        match self {
            Self::Clock { .. } => codes::CLOCK,
            Self::Unreadable { .. } => codes::UNREADABLE,
            Self::KeyMismatch { .. } => codes::KEY_MISMATCH,
            Self::OtherCluster { .. } => codes::OTHER_CLUSTER,
            Self::CaExpired { .. } => codes::CA_EXPIRED,
            Self::CaNotYetValid { .. } => codes::CA_NOT_YET_VALID,
            Self::NotACa { .. } => codes::NOT_A_CA,
            Self::NotSigned { .. } => codes::NOT_SIGNED,
            Self::Bring { .. } | Self::NoKey { .. } => codes::BRING,
            Self::MayNotMake { .. } => codes::MAY_NOT_MAKE,
            Self::UnknownName { .. } => codes::UNKNOWN_NAME,
            Self::NotRenewable { .. } => codes::NOT_RENEWABLE,
            Self::Issue { .. } => codes::ISSUE,
            Self::IssuerName { .. } => codes::ISSUER_NAME,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownName { meant: Some(meant), .. } => Some(format!("did you mean `{meant}`?")),
            Self::UnknownName { known, .. } => Some(format!("the names are: {}", known.join(", "))),
            Self::Bring { path, key, .. } => {
                Some(format!("bring a new {}, or {} to have it made here", path.display(), key.display()))
            }
            Self::MayNotMake { missing } => Some(format!("copy {} from a master that has it", listed(missing))),
            _ => None,
        }
    }
}

fn listed(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" and ")
}

/// All problems that were found, at least one.
#[derive(Debug)]
pub struct PkiErrors(Vec<PkiError>);

impl PkiErrors {
    /// `Err` with everything that was collected; `Ok` if that is nothing.
    pub(crate) fn unless_empty(problems: Vec<PkiError>) -> Result<(), Self> {
        if problems.is_empty() { Ok(()) } else { Err(Self(problems)) }
    }

    /// One by one, in the order of the table.
    pub fn iter(&self) -> std::slice::Iter<'_, PkiError> {
        self.0.iter()
    }
}

impl<'a> IntoIterator for &'a PkiErrors {
    type Item = &'a PkiError;
    type IntoIter = std::slice::Iter<'a, PkiError>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl From<PkiError> for PkiErrors {
    fn from(problem: PkiError) -> Self {
        Self(vec![problem])
    }
}

impl fmt::Display for PkiErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{}", explain::chain(problem))?;
        }
        Ok(())
    }
}

impl Error for PkiErrors {}

impl Explain for PkiErrors {
    /// That of the first problem; the others are in [`PkiErrors::iter`].
    fn code(&self) -> Code {
        self.0.first().map_or(codes::ISSUE, Explain::code)
    }

    fn hint(&self) -> Option<String> {
        self.0.first().and_then(Explain::hint)
    }
}
