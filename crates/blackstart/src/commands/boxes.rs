//! The thirteen boxes of a bootstrap in colour, for `bootstrap status`, `watch` and `node timeline`.

use nodekit::{
    boxes::{self, Row},
    milestones::Progress,
};

use super::line::Line;
use crate::Style;

pub(super) fn lines(progress: &[Progress]) -> Vec<Line> {
    let line = |Row { is_reached, title, at }: Row| {
        let (mark, style) = if is_reached { ("x", Style::Good) } else { (" ", Style::Warning) };
        Line::default().text("[").styled(style, mark).text(format!("] {title}  {at}"))
    };
    boxes::rows(progress).into_iter().map(line).collect()
}

pub(super) fn text(progress: &[Progress], color: bool) -> String {
    lines(progress).iter().map(|line| line.print(None, color) + "\n").collect()
}
