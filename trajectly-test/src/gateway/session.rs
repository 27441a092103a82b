//! One session's side of the gateway: who to tell, and which answers are still under way.

use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, RwLock};
use std::time::{Duration, Instant};

use super::types::{CallId, LlmCall, LlmDecision, LlmReturn};
use super::{Exchange, lock};

/// Guards an [`Exchange`]: a call that was forwarded is reported exactly once, and nothing once the session closed.
pub(super) struct Session {
    /// `None` once closed. Held for reading while the exchange is being called.
    exchange: RwLock<Option<Arc<dyn Exchange>>>,
    /// Forwarded calls that have not been reported.
    pending: Mutex<BTreeSet<CallId>>,
    settled: Condvar,
}

impl Session {
    pub(super) fn new(exchange: Arc<dyn Exchange>) -> Self {
        Self { exchange: RwLock::new(Some(exchange)), pending: Mutex::default(), settled: Condvar::new() }
    }

    /// Calls the exchange; `None` if the session is closed.
    pub(super) fn with<R>(&self, ask: impl FnOnce(&dyn Exchange) -> R) -> Option<R> {
        let exchange = self.exchange.read().unwrap_or_else(|poisoned| poisoned.into_inner());
        exchange.as_deref().map(ask)
    }

    /// Announces a model call; `None` if the session is closed.
    pub(super) fn llm_called(&self, call: LlmCall) -> Option<LlmDecision> {
        self.with(|exchange| {
            let decision = exchange.llm_called(call);
            if let LlmDecision::Forward { id, .. } = decision {
                lock(&self.pending).insert(id);
            }
            decision
        })
    }

    /// Reports what the upstream answered.
    pub(super) fn llm_returned(&self, id: CallId, answer: LlmReturn) {
        self.settle(id, |exchange| exchange.llm_returned(id, answer));
    }

    /// Reports that the upstream did not answer.
    pub(super) fn upstream_failed(&self, id: CallId, message: String) {
        self.settle(id, |exchange| exchange.upstream_failed(id, message));
    }

    fn settle(&self, id: CallId, report: impl FnOnce(&dyn Exchange)) {
        self.with(|exchange| {
            if lock(&self.pending).remove(&id) {
                report(exchange);
            }
        });
        self.settled.notify_all();
    }

    /// Ends the session. Answers under way get `grace` to arrive, since an agent may exit before the last byte of a
    /// stream; what is late then is reported as failed. Once this returns, the exchange is not called again.
    pub(super) fn close(&self, grace: Duration) {
        let deadline = Instant::now() + grace;
        let mut pending = lock(&self.pending);
        while !pending.is_empty() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            pending = match self.settled.wait_timeout(pending, left) {
                Ok((pending, _)) => pending,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
        drop(pending);

        let exchange = self.exchange.write().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
        let late = std::mem::take(&mut *lock(&self.pending));
        if let Some(exchange) = exchange {
            for id in late {
                exchange.upstream_failed(id, "the session ended before the upstream had answered".into());
            }
        }
    }
}
