//! Why a certificate is made again.

use std::fmt;

/// Why a certificate is made again. Reads behind its path: "`apiserver.crt` has expired".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// There is none.
    Missing,
    /// A crash between the two writes, or a swapped file.
    KeyMismatch,
    /// Another user, group or node than the table says.
    Subject,
    /// Not good for serving, or not for being a client.
    Usage,
    /// Names or addresses do not fit the cluster any more.
    Names,
    /// The kubeconfig names another server or trusts another CA.
    Connection,
    /// Its time has not come, so the clock was wrong when it was made.
    NotYetValid,
    /// Nine tenths of its lifetime are spent.
    EndsSoon,
    /// Its lifetime is over.
    Expired,
    /// The CA that is being replaced has signed it.
    Replaced,
    /// It was asked for.
    Asked,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "is missing",
            Self::KeyMismatch => "has no key that belongs to it",
            Self::Subject => "has another subject than it must have",
            Self::Usage => "is not good for its use",
            Self::Names => "does not carry the names it must carry",
            Self::Connection => "has the wrong server or CA",
            Self::NotYetValid => "is not valid yet",
            Self::EndsSoon => "ends soon",
            Self::Expired => "has expired",
            Self::Replaced => "is signed by the CA that is being replaced",
            Self::Asked => "is to be renewed",
        })
    }
}
