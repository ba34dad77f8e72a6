//! What the keys mean.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What the user wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// Stand still, or go on.
    PauseOrGo,
    /// Go on to the end of the tick and stand still.
    Step,
    /// The next speed up.
    Faster,
    /// The next speed down.
    Slower,
    /// Begin to write a change.
    Edit,
    /// A letter of the change.
    Letter(char),
    /// Take the last letter back.
    Erase,
    /// Make the change.
    Apply,
    /// Give the change up.
    Abandon,
    /// End here.
    Leave,
    /// End here, as SIGINT does.
    Interrupt,
}

/// The meaning of a key, which is another one while a change is written.
pub(crate) fn command(key: KeyEvent, editing: bool) -> Option<Command> {
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return (key.code == KeyCode::Char('c')).then_some(Command::Interrupt);
    }
    match (key.code, editing) {
        (KeyCode::Char(letter), true) => Some(Command::Letter(letter)),
        (KeyCode::Backspace, true) => Some(Command::Erase),
        (KeyCode::Enter, true) => Some(Command::Apply),
        (KeyCode::Esc, true) => Some(Command::Abandon),
        (KeyCode::Char(' '), false) => Some(Command::PauseOrGo),
        (KeyCode::Char('s'), false) => Some(Command::Step),
        // Without Shift, where + and - are on such keys.
        (KeyCode::Char('+' | '='), false) => Some(Command::Faster),
        (KeyCode::Char('-' | '_'), false) => Some(Command::Slower),
        (KeyCode::Char(':' | 'e'), false) => Some(Command::Edit),
        (KeyCode::Char('q') | KeyCode::Esc, false) => Some(Command::Leave),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_is_a_command_or_a_letter() {
        let q = KeyEvent::from(KeyCode::Char('q'));
        assert_eq!(command(q, false), Some(Command::Leave));
        assert_eq!(command(q, true), Some(Command::Letter('q')));
        let escape = KeyEvent::from(KeyCode::Esc);
        assert_eq!(command(escape, false), Some(Command::Leave));
        assert_eq!(command(escape, true), Some(Command::Abandon));
        assert_eq!(command(KeyEvent::from(KeyCode::Tab), false), None);
    }

    #[test]
    fn ctrl_c_ends_even_while_a_change_is_written() {
        for editing in [false, true] {
            let key = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
            assert_eq!(command(key, editing), Some(Command::Interrupt));
        }
    }
}
