//! Delta debugging: the least part of a whole for which something still holds.

/// What [`ddmin`] left of a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Minimum {
    /// The positions that are kept, ascending.
    pub kept: Vec<usize>,
    /// How many parts were tried.
    pub iterations: usize,
    /// Whether `go_on` put an end to it. What is kept may then depend on when that was.
    pub interrupted: bool,
}

/// Leaves out of `len` items what can be left out, so that `fails` stays true of the rest.
///
/// `fails` gets the positions that are left, ascending, and never none of them; of all items it is taken to be true. At most
/// `max_iterations` parts are tried, and `go_on` is asked before each. If neither limit was met, no single item more can be
/// left out.
///
/// ```
/// use trajectly_engine::shrink::ddmin;
///
/// let needs_both = |kept: &[usize]| kept.contains(&3) && kept.contains(&8);
/// assert_eq!(ddmin(10, 200, || true, needs_both).kept, [3, 8]);
/// ```
pub fn ddmin(
    len: usize,
    max_iterations: usize,
    mut go_on: impl FnMut() -> bool,
    mut fails: impl FnMut(&[usize]) -> bool,
) -> Minimum {
    let mut kept: Vec<usize> = (0..len).collect();
    let mut iterations = 0;
    let mut granularity = 2;
    'reduced: while kept.len() >= 2 {
        let chunk = kept.len().div_ceil(granularity);
        for start in (0..kept.len()).step_by(chunk) {
            if iterations == max_iterations {
                break 'reduced;
            }
            if !go_on() {
                return Minimum { kept, iterations, interrupted: true };
            }
            iterations += 1;
            let end = kept.len().min(start + chunk);
            let rest = [&kept[..start], &kept[end..]].concat();
            if fails(&rest) {
                kept = rest;
                granularity = 2.max(granularity - 1);
                continue 'reduced;
            }
        }
        if granularity >= kept.len() {
            break;
        }
        granularity = kept.len().min(2 * granularity);
    }
    Minimum { kept, iterations, interrupted: false }
}
