//! The one place that touches libtest-mimic.

use std::process::ExitCode;

use libtest_mimic::{Arguments, ColorSetting, Failed, FormatSetting, Trial};

use super::args::Args;
use super::panics::quietly;
use super::suite::{Case, Suite};
use crate::env::{Env, paint_for};
use crate::render::Paint;
use crate::runner::Runner;

pub(super) fn run(args: &Args, mut cases: Vec<Case>, suite: Suite, env: Env) -> Result<ExitCode, String> {
    let argv = std::iter::once("test").chain(args.rest.iter().map(String::as_str));
    let mut arguments = Arguments::from_iter(argv);
    // Names are matched here, as libtest does and libtest-mimic does not: several filters at once. What is left out
    // is skipped by its whole name, so that it is still counted as filtered out.
    arguments.exact = true;
    arguments.skip = cases.iter().map(|case| case.name.clone()).filter(|name| !args.selects(name)).collect();
    let runner = Runner::new(suite, env, paint(&arguments));
    if !arguments.list {
        let wanted = |case: &Case| {
            args.selects(&case.name) && (arguments.include_ignored || case.ignored() == arguments.ignored)
        };
        let count = cases.iter().filter(|case| wanted(case)).count();
        if env.in_process && count != 1 {
            return Err(format!("error: TRAJECTLY_ISOLATION=off runs one test, and {count} are selected"));
        }
        runner.prepare(&mut cases, wanted)?;
    }
    let nocapture = args.nocapture;
    let trials = cases
        .into_iter()
        .map(|case| {
            let runner = runner.clone();
            let ignored = case.ignored();
            Trial::test(case.name.clone(), move || match quietly(|| runner.run(&case)) {
                Ok(Ok(shown)) => {
                    if nocapture && !shown.is_empty() {
                        eprintln!("{}", shown.trim_end());
                    }
                    Ok(())
                }
                Ok(Err(failure)) => Err(Failed::from(failure)),
                Err(panic) => Err(Failed::from(format!("the harness itself panicked: {panic}"))),
            })
            .with_ignored_flag(ignored)
        })
        .collect();
    Ok(libtest_mimic::run(&arguments, trials).exit_code())
}

/// Failures are printed to stdout; JSON and log files are read by programs.
fn paint(arguments: &Arguments) -> Paint {
    match (arguments.format, arguments.color) {
        (Some(FormatSetting::Json), _) | (_, Some(ColorSetting::Never)) => Paint::plain(),
        (_, Some(ColorSetting::Always)) => Paint::coloured(),
        _ => paint_for(&std::io::stdout()),
    }
}
