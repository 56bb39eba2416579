//! A token in a file is a secret that many people and machines can read.

use crate::{
    codes,
    draft::Draft,
    problems::{Finding, Problems},
    values::is_example_token,
};

pub(super) fn is_not_in_the_file(draft: &Draft<'_>, problems: &mut Problems<'_>) {
    let Some(token) = draft.cluster.bootstrap.as_ref().and_then(|section| section.token.as_ref()) else { return };
    let finding = if is_example_token(token) {
        Finding::warning(
            codes::EXAMPLE_TOKEN,
            token.location,
            "this is the token from the documentation, so it is public",
        )
    } else {
        let message = format!("the bootstrap token `{}` is written in this file, which is less secure", token.id);
        Finding::warning(codes::TOKEN_IN_FILE, token.location, message)
    };
    problems.push(finding.secret(true));
}

#[cfg(test)]
mod tests {
    use super::super::{codes_of, some_nodes};

    #[test]
    fn tokens() {
        for (token, expected) in [
            ("'k2m8xq.7h3nd0s5jw9r4t1c'", vec!["BS-SPEC-057"]),
            ("'abcdef.0123456789abcdef'", vec!["BS-SPEC-058"]),
            ("'abcdef'", vec!["BS-SPEC-024"]),
        ] {
            assert_eq!(codes_of(&format!("  bootstrap: {{token: {token}}}\n"), &some_nodes(0)), expected, "{token}");
        }
    }
}
