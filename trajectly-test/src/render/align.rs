//! Which step of the baseline stands beside which step of the candidate.

/// What is told apart when steps are matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A tool call; matched by name.
    Call,
    /// A model call; matched by order, whatever the model.
    Llm,
    /// A step that the agent reported; matched by name.
    Step,
    /// The end of the run.
    End,
}

/// A step, as far as matching looks at it.
pub(super) trait Key {
    fn kind(&self) -> Kind;
    fn name(&self) -> &str;
}

/// Positions in the two lists that share a row, in order; every position occurs once.
///
/// Tool calls are matched as refinement matches them, each with the earliest that is left for it. What is not matched
/// stands beside what is not matched between the same two neighbours.
pub(super) fn rows<T: Key>(left: &[T], right: &[T]) -> Vec<(Option<usize>, Option<usize>)> {
    let mut rows = Vec::new();
    let mut from = (0, 0);
    for (l, r) in calls(left, right) {
        between(left, right, from, (l, r), &mut rows);
        rows.push((Some(l), Some(r)));
        from = (l + 1, r + 1);
    }
    between(left, right, from, (left.len(), right.len()), &mut rows);
    rows
}

fn calls<T: Key>(left: &[T], right: &[T]) -> Vec<(usize, usize)> {
    let mut from = 0;
    let mut pairs = Vec::new();
    for (l, step) in left.iter().enumerate().filter(|(_, step)| step.kind() == Kind::Call) {
        let same = |other: &T| other.kind() == Kind::Call && other.name() == step.name();
        if let Some(found) = right[from..].iter().position(same) {
            pairs.push((l, from + found));
            from += found + 1;
        }
    }
    pairs
}

/// Rows of a stretch in which no tool calls are matched.
fn between<T: Key>(
    left: &[T],
    right: &[T],
    from: (usize, usize),
    to: (usize, usize),
    rows: &mut Vec<(Option<usize>, Option<usize>)>,
) {
    let (mut next_l, mut next_r) = from;
    for l in from.0..to.0 {
        let step = &left[l];
        let same = |other: &T| match step.kind() {
            Kind::Call => false,
            Kind::Step => other.kind() == Kind::Step && other.name() == step.name(),
            kind => other.kind() == kind,
        };
        if let Some(found) = right[next_r..to.1].iter().position(same) {
            side_by_side(left, right, next_l..l, next_r..next_r + found, rows);
            rows.push((Some(l), Some(next_r + found)));
            (next_l, next_r) = (l + 1, next_r + found + 1);
        }
    }
    side_by_side(left, right, next_l..to.0, next_r..to.1, rows);
}

/// Rows of steps without a counterpart: a call beside a call, all else alone.
fn side_by_side<T: Key>(
    left: &[T],
    right: &[T],
    ls: std::ops::Range<usize>,
    rs: std::ops::Range<usize>,
    rows: &mut Vec<(Option<usize>, Option<usize>)>,
) {
    let is_call = |steps: &[T], n: &usize| steps[*n].kind() == Kind::Call;
    let (mut ls, mut rs) = (ls.peekable(), rs.peekable());
    loop {
        let l = ls.peek().copied();
        let r = rs.peek().copied();
        rows.push(match (l, r) {
            (None, None) => return,
            (Some(l), Some(r)) if is_call(left, &l) && is_call(right, &r) => (ls.next(), rs.next()),
            (Some(l), Some(_)) if is_call(left, &l) => (None, rs.next()),
            (Some(_), _) => (ls.next(), None),
            (None, Some(_)) => (None, rs.next()),
        });
    }
}
