//! The terminal while a machine is watched: raw, on its alternate screen, and restored whatever
//! happens.

use std::io;
use std::time::Duration;

use ratatui::crossterm::event::{self, Event, KeyEvent};
use ratatui::{DefaultTerminal, Frame};

/// The terminal, until this is dropped. A panic restores it before its message is shown.
#[derive(Debug)]
pub(crate) struct Terminal {
    terminal: DefaultTerminal,
}

impl Terminal {
    /// Takes the terminal.
    ///
    /// # Errors
    /// The terminal's. It is as it was then.
    pub(crate) fn open() -> io::Result<Self> {
        match ratatui::try_init() {
            Ok(terminal) => Ok(Self { terminal }),
            Err(error) => {
                restore();
                Err(error)
            }
        }
    }

    /// Shows a frame, as large as the terminal is now.
    ///
    /// # Errors
    /// The terminal's.
    pub(crate) fn draw(&mut self, frame: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(frame).map(|_| ())
    }

    /// The next key, or none within this time.
    ///
    /// # Errors
    /// The terminal's.
    pub(crate) fn key(&self, patience: Duration) -> io::Result<Option<KeyEvent>> {
        if !event::poll(patience)? {
            return Ok(None);
        }
        match event::read()? {
            Event::Key(key) if key.is_press() => Ok(Some(key)),
            _ => Ok(None),
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        restore();
    }
}

/// Where this fails, the terminal is gone and there is nothing to restore.
fn restore() {
    let _ = ratatui::try_restore();
}
