//! Ctrl-C and the polite request to end: the first sets a flag, so that what was measured can
//! still be written; the second ends the process at once.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Once};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag::{register, register_conditional_default};

use crate::PlatformError;

static REQUESTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// From now on SIGINT and SIGTERM set the flag of [`requested`]; a second one ends the process as
/// if nothing had been installed.
///
/// # Errors
/// The kernel's.
pub fn install() -> Result<(), PlatformError> {
    static INSTALLED: Once = Once::new();
    let mut outcome = Ok(());
    INSTALLED.call_once(|| outcome = handle_both());
    outcome.map_err(|error| PlatformError::system("handle SIGINT and SIGTERM", error))
}

/// Whether the user or the system asked this process to end.
#[must_use]
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

fn handle_both() -> io::Result<()> {
    for signal in [SIGINT, SIGTERM] {
        // In this order: the first signal finds the flag unset and only sets it.
        register_conditional_default(signal, Arc::clone(&REQUESTED))?;
        register(signal, Arc::clone(&REQUESTED))?;
    }
    Ok(())
}
