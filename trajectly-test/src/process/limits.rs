//! What a child may use, by its spec's `limits`.

use std::process::Command;

use trajectly_engine::spec::Limits;

/// The limits that a spec sets, by their names in it.
pub(crate) fn set_in(limits: &Limits) -> impl Iterator<Item = (&'static str, u64)> {
    let all =
        [("memory_mb", limits.memory_mb), ("open_files", limits.open_files), ("output_bytes", limits.output_bytes)];
    all.into_iter().filter_map(|(name, limit)| Some((name, limit?)))
}

/// Has the system hold a command to its limits, but for the output's. Returns the names of those it cannot.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "only the child itself can be limited before it runs")]
pub(super) fn set(command: &mut Command, limits: &Limits) -> Vec<&'static str> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    use std::os::unix::process::CommandExt as _;

    let memory = limits.memory_mb.map(|mb| (Resource::As, mb.saturating_mul(1 << 20)));
    let files = limits.open_files.map(|files| (Resource::Nofile, files));
    let wanted: Vec<_> = memory
        .into_iter()
        .chain(files)
        .map(|(resource, limit)| {
            // A harness that is limited itself cannot give what it does not have.
            let limit = Some(getrlimit(resource).maximum.map_or(limit, |most| most.min(limit)));
            (resource, Rlimit { current: limit, maximum: limit })
        })
        .collect();
    // A command with a hook is started by a fork, which costs more than what is done without one.
    if !wanted.is_empty() {
        let limit = move || wanted.iter().try_for_each(|(resource, limit)| Ok(setrlimit(*resource, *limit)?));
        // SAFETY: between fork and exec the hook makes system calls and nothing else: it takes no lock and neither
        // allocates nor frees.
        unsafe { command.pre_exec(limit) };
    }
    Vec::new()
}

#[cfg(not(target_os = "linux"))]
pub(super) fn set(_: &mut Command, limits: &Limits) -> Vec<&'static str> {
    set_in(limits).map(|(name, _)| name).filter(|name| *name != "output_bytes").collect()
}
