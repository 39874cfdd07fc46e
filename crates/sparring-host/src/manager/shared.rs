//! The one manager that all of a process share, which tests can replace.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Manager;

static SHARED: Mutex<Option<Manager>> = Mutex::new(None);

impl Manager {
    /// The manager that everybody shares: the same each time. The first to ask
    /// makes it, without servers; so does the first after the runtime that it
    /// was made in has ended.
    ///
    /// # Panics
    /// Outside of a tokio runtime, if it has to be made.
    pub fn shared() -> Manager {
        let mut shared = shared();
        match &*shared {
            Some(manager) if !manager.0.wishes.is_closed() => manager.clone(),
            _ => shared.insert(Manager::new([])).clone(),
        }
    }

    /// Shares this one from now on, and gives back the one before.
    pub fn share(manager: Manager) -> Option<Manager> {
        shared().replace(manager)
    }

    /// Whether two handles are of one manager.
    pub fn is_same(&self, other: &Manager) -> bool {
        std::sync::Arc::ptr_eq(&self.0, &other.0)
    }
}

fn shared() -> MutexGuard<'static, Option<Manager>> {
    SHARED.lock().unwrap_or_else(PoisonError::into_inner)
}
