//! A lab's name, and the names of everything that is made for it.
//!
//! Every name begins with `bs-` or `blackstart` and carries the lab's name, so that what is left of a lab can be found
//! without any record of it. Interface names have at most fifteen characters: that is why a lab's name is short.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::LabError;

/// A lab's name: one to eight lower case letters and digits, the first a letter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LabName(String);

impl LabName {
    /// The bridge all machines are on.
    pub fn bridge(&self) -> String {
        format!("bs-{}", self.0)
    }

    /// The host's end of a machine's network link.
    pub fn link(&self, index: usize) -> String {
        format!("bs-{}-{index}", self.0)
    }

    /// The nft table that lets machines out.
    pub fn nat_table(&self) -> String {
        format!("blackstart_lab_{}", self.0)
    }

    /// The nft table that cuts machines off from each other.
    pub fn cut_table(&self) -> String {
        format!("blackstart_cut_{}", self.0)
    }

    /// The name itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for LabName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for LabName {
    type Err = LabError;

    fn from_str(text: &str) -> Result<Self, LabError> {
        let fits = (1..=8).contains(&text.len())
            && text.starts_with(|c: char| c.is_ascii_lowercase())
            && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        if fits { Ok(Self(text.to_owned())) } else { Err(LabError::Name(text.to_owned())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_fit_give_interface_names_that_fit() {
        for (text, fits) in [
            ("lab", true),
            ("a", true),
            ("ci42", true),
            ("abcdefgh", true),
            ("abcdefghi", false),
            ("", false),
            ("4x", false),
            ("Lab", false),
            ("a-b", false),
            ("a/b", false),
        ] {
            let name = text.parse::<LabName>();
            assert_eq!(name.is_ok(), fits, "{text}");
            if let Ok(name) = name {
                assert!(name.link(999).len() <= 15 && name.bridge().len() <= 15, "{text}");
            }
        }
    }
}
