//! Several measurements of the same thing.

use std::fmt;

/// Seconds, or megabytes.
#[derive(Default)]
pub(crate) struct Figures(Vec<f64>);

impl Figures {
    pub(crate) fn add(&mut self, value: f64) {
        self.0.push(value);
        self.0.sort_by(f64::total_cmp);
    }

    /// The middle one; of an even number the mean of the two in the middle.
    pub(crate) fn median(&self) -> f64 {
        let last = self.0.len() - 1;
        f64::midpoint(self.0[last / 2], self.0[last.div_ceil(2)])
    }
}

impl fmt::Display for Figures {
    /// Smallest, median and largest, as columns.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (least, most) = (self.0[0], self.0[self.0.len() - 1]);
        write!(f, "{least:>8.2} {:>8.2} {most:>8.2}", self.median())
    }
}
