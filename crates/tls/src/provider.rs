//! The one provider of cryptography.

/// Makes aws-lc-rs the provider of the whole process; calling it again changes nothing.
pub fn install_provider() {
    // An error only says that a provider is there already, and there is no other one in the program.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
}

#[cfg(test)]
mod tests {
    #[test]
    fn can_be_installed_again() {
        super::install_provider();
        super::install_provider();
        assert!(rustls::crypto::CryptoProvider::get_default().is_some());
    }
}
