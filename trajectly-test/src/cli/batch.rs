//! Many cases at once: lines in, lines out, in the order in which they came, judged in parallel.

use std::io::{BufRead, BufWriter, Write};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::{io, thread};

use trajectly_engine::batch::answer;

use super::workers;

/// Lines that are read ahead of the first whose answer has not been written, by worker. It bounds the memory in use.
const AHEAD: usize = 32;

/// What a batch came to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) cases: usize,
    /// Those among them that have no answer.
    pub(super) refused: usize,
}

/// Why a batch stopped.
#[derive(Debug)]
pub(super) enum Stop {
    Starting(io::Error),
    Reading(io::Error),
    Writing(io::Error),
}

/// A line, its number from 1, and where its answer goes.
struct Task {
    line: Vec<u8>,
    number: usize,
    give: SyncSender<Answered>,
}

struct Answered {
    line: String,
    refused: bool,
}

/// Answers every line of `input`, blank ones apart, on as many threads as `jobs` says and can be had.
pub(super) fn run(input: impl BufRead + Send, output: impl Write, jobs: usize) -> Result<Count, Stop> {
    let jobs = jobs.min(workers::MOST);
    let (tasks, queue) = sync_channel::<Task>(jobs);
    let (order, pending) = sync_channel::<Receiver<Answered>>(jobs * AHEAD);
    let queue = Mutex::new(queue);
    thread::scope(|scope| {
        workers::start(scope, jobs, || work(&queue)).map_err(Stop::Starting)?;
        let reader = thread::Builder::new().spawn_scoped(scope, move || read(input, &tasks, &order));
        let reader = reader.map_err(Stop::Starting)?;
        let count = write(output, &pending);
        // With nobody left to write, the reader stops at its next line.
        drop(pending);
        let read = reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let count = count.map_err(Stop::Writing)?;
        read.map_err(Stop::Reading)?;
        Ok(count)
    })
}

fn read(mut input: impl BufRead, tasks: &SyncSender<Task>, order: &SyncSender<Receiver<Answered>>) -> io::Result<()> {
    for number in 1.. {
        let mut line = Vec::new();
        if input.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        // An error at the end of the line is in the line, not in the next.
        line.truncate(line.trim_ascii_end().len());
        if line.is_empty() {
            continue;
        }
        let (give, answered) = sync_channel(1);
        if order.send(answered).is_err() || tasks.send(Task { line, number, give }).is_err() {
            break;
        }
    }
    Ok(())
}

fn work(queue: &Mutex<Receiver<Task>>) {
    loop {
        let task = queue.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).recv();
        let Ok(task) = task else { return };
        let mut answer = answer(&task.line);
        if let Err(refusal) = &mut answer.result {
            refusal.details.insert("line", task.number);
        }
        // Whoever has stopped listening wants no answer.
        let _ = task.give.send(Answered { line: answer.to_string(), refused: answer.result.is_err() });
    }
}

fn write(output: impl Write, pending: &Receiver<Receiver<Answered>>) -> io::Result<Count> {
    let mut output = BufWriter::new(output);
    let mut count = Count::default();
    loop {
        // Whoever waits for an answer before sending the next case gets it.
        let next = match pending.try_recv() {
            Ok(next) => next,
            Err(_) => {
                output.flush()?;
                let Ok(next) = pending.recv() else { return Ok(count) };
                next
            }
        };
        let answered = match next.try_recv() {
            Ok(answered) => Ok(answered),
            Err(_) => {
                output.flush()?;
                next.recv()
            }
        };
        let answered = answered.map_err(|_| io::Error::other("the thread that judged a line is gone"))?;
        output.write_all(answered.line.as_bytes())?;
        output.write_all(b"\n")?;
        count.cases += 1;
        count.refused += usize::from(answered.refused);
    }
}
