//! Sources of packages as apt reads them, in both of its forms: one line each, or a paragraph each.

use super::super::super::os::Os;

/// One source, as a paragraph without its components.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Entry {
    suites: Vec<String>,
    components: Vec<String>,
    /// All other fields as they are, without those for sources of programs.
    fields: String,
}

impl Entry {
    pub(super) fn has(&self, component: &str) -> bool {
        self.components.iter().any(|known| known == component)
    }

    /// Whether this is the distribution itself, whose suites begin with its name: `bookworm-updates`.
    pub(super) fn is_of(&self, os: &Os) -> bool {
        !os.codename.is_empty() && self.suites.iter().all(|suite| suite.starts_with(&os.codename))
    }
}

/// `deb [signed-by=/k.gpg] http://mirror/debian bookworm main`.
pub(super) fn one_line(text: &str) -> Vec<Entry> {
    text.lines().filter_map(|line| entry_of_line(line.split('#').next().unwrap_or_default().trim())).collect()
}

fn entry_of_line(line: &str) -> Option<Entry> {
    let rest = line.strip_prefix("deb").filter(|rest| rest.starts_with([' ', '\t']))?.trim_start();
    let (options, rest) = match rest.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?,
        None => ("", rest),
    };
    let mut words = rest.split_whitespace();
    let (uri, suite) = (words.next()?, words.next()?);
    let mut fields = format!("Types: deb\nURIs: {uri}\nSuites: {suite}\n");
    for (name, value) in options.split_whitespace().filter_map(|option| option.split_once('=')) {
        fields += &format!("{}: {}\n", field_name(name), value.replace(',', " "));
    }
    Some(Entry { suites: vec![suite.to_owned()], components: words.map(str::to_owned).collect(), fields })
}

/// Options have other names in paragraphs: `signed-by` is `Signed-By`, and three are words of their own.
fn field_name(option: &str) -> String {
    match option {
        "arch" => "Architectures".to_owned(),
        "lang" => "Languages".to_owned(),
        "target" => "Targets".to_owned(),
        other => {
            let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
            other
                .split('-')
                .filter(|word| word.is_ascii() && !word.is_empty())
                .map(capital)
                .collect::<Vec<_>>()
                .join("-")
        }
    }
}

/// Paragraphs of fields; a line that begins with a space goes on with the field above it.
pub(super) fn paragraphs(text: &str) -> Vec<Entry> {
    let text: String =
        text.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{}\n", line.trim_end())).collect();
    text.split("\n\n").filter_map(entry_of_paragraph).collect()
}

fn entry_of_paragraph(paragraph: &str) -> Option<Entry> {
    let mut fields: Vec<(String, String)> = Vec::new();
    for line in paragraph.lines().filter(|line| !line.is_empty()) {
        match fields.last_mut() {
            Some((_, value)) if line.starts_with([' ', '\t']) => *value += &format!("\n{line}"),
            _ => {
                let (name, value) = line.split_once(':')?;
                fields.push((name.to_owned(), value.trim().to_owned()));
            }
        }
    }
    let take =
        |name: &str| fields.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str());
    let words = |name: &str| take(name).unwrap_or_default().split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let is_off = take("Enabled").is_some_and(|value| ["no", "false", "0"].contains(&value.to_lowercase().as_str()));
    if is_off || !words("Types").iter().any(|kind| kind == "deb") {
        return None;
    }
    let is_kept = |name: &str| !["types", "components", "enabled"].contains(&name.to_lowercase().as_str());
    let kept = fields.iter().filter(|(name, _)| is_kept(name)).map(|(name, value)| format!("{name}: {value}\n"));
    let text = format!("Types: deb\n{}", kept.collect::<String>());
    Some(Entry { suites: words("Suites"), components: words("Components"), fields: text })
}

/// The distribution's own sources once more, with other components; empty where there are none.
pub(super) fn with_components(entries: &[Entry], os: &Os, components: &[&str]) -> String {
    let mut paragraphs = Vec::new();
    for entry in entries.iter().filter(|entry| entry.is_of(os) && entry.has("main")) {
        let text = format!("{}Components: {}\n", entry.fields, components.join(" "));
        if !paragraphs.contains(&text) {
            paragraphs.push(text);
        }
    }
    if paragraphs.is_empty() {
        return String::new();
    }
    format!("# Drivers of Intel GPUs; `blackstart prep undo gpu` removes this file.\n\n{}", paragraphs.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_read_alike() {
        let line = one_line("deb [signed-by=/k.gpg] http://mirror/debian bookworm main contrib # mine\n");
        let paragraph = paragraphs(
            "# mine\nTypes: deb\nURIs: http://mirror/debian\nSuites: bookworm\nSigned-By: /k.gpg\nComponents: main contrib\n",
        );
        assert_eq!(line, paragraph);
        assert!(line[0].has("contrib") && !line[0].has("non-free"));
    }

    #[test]
    fn what_is_off_or_no_source_of_packages_is_left_out() {
        assert!(one_line("#deb http://x y main\ndeb-src http://x y main\ndebug x y\ndeb http://x\n").is_empty());
        let off =
            "Types: deb\nURIs: http://x\nSuites: y\nComponents: main\nEnabled: no\n\nTypes: deb-src\nURIs: http://x\n";
        assert!(paragraphs(off).is_empty());
    }

    #[test]
    fn a_key_within_a_paragraph_is_kept() {
        let text = "Types: deb\nURIs: http://x\nSuites: y\nSigned-By:\n -----BEGIN-----\n .\n abc\nComponents: main\n";
        let os = Os { codename: "y".into(), ..Os::default() };
        let made = with_components(&paragraphs(text), &os, &["non-free"]);
        assert!(made.contains("Signed-By: \n -----BEGIN-----\n .\n abc\nComponents: non-free\n"), "{made}");
    }
}
