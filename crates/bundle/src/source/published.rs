//! Understands the checksum files of publishers.

use crate::Sum;

/// The sum of a file, from a text with lines of `SUM  NAME`, or with nothing but one sum.
pub(super) fn sum_of(text: &str, file: &str) -> Option<Sum> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty()).peekable();
    let first = lines.peek()?;
    if !first.contains(char::is_whitespace) {
        return Sum::try_from((*first).to_owned()).ok();
    }
    lines.find_map(|line| {
        let (sum, name) = line.split_once(char::is_whitespace)?;
        // A star marks binary mode; some publishers name the file with the directory it was built in.
        let name = name.trim_start().trim_start_matches('*');
        let name = name.rsplit_once('/').map_or(name, |(_, name)| name);
        if name == file { Sum::try_from(sum.to_owned()).ok() } else { None }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_common_spellings_are_understood() {
        let (sum, other) = (Sum::of(b"right"), Sum::of(b"wrong"));
        for text in [
            format!("{sum}"),
            format!("{sum}\n"),
            format!("{sum}  runc.amd64\n"),
            format!("{other}  runc.arm64\n{sum} *runc.amd64\n"),
            format!("\n{other}  runc.amd64.asc\r\n{sum}  ./release/runc.amd64\r\n"),
        ] {
            assert_eq!(sum_of(&text, "runc.amd64"), Some(sum.clone()), "{text}");
        }
        for text in [String::new(), "<html>not found</html>".to_owned(), format!("{other}  runc.arm64\n")] {
            assert_eq!(sum_of(&text, "runc.amd64"), None, "{text}");
        }
    }
}
