//! A job as a list of operations, as it stands in a scenario file.
//!
//! ```toml
//! list = [ { read = "1460 B" }, { process = "20 us" }, { free = "1460 B" }, { sleep = "1 ms" } ]
//! ```

use bitpath_measure::{ByteCount, Picos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Program, Seen, Step};
use crate::bounds;

/// One operation (sysSIM section 3.2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// Wait for payload and take at most so much [B].
    Read(#[serde(deserialize_with = "bounds::message")] ByteCount),
    /// Send so much [B].
    Write(#[serde(deserialize_with = "bounds::message")] ByteCount),
    /// Work for so long [ps].
    Process(#[serde(deserialize_with = "bounds::wait")] Picos),
    /// Give back so much of the user's buffer [B].
    Free(ByteCount),
    /// Sleep for so long [ps].
    Sleep(#[serde(deserialize_with = "bounds::wait")] Picos),
}

/// A list that begins anew at its end, until the job's time is over.
#[derive(Clone, Debug)]
pub struct Operations {
    list: Vec<Operation>,
    position: usize,
}

impl Operations {
    /// A program of this list.
    #[must_use]
    pub fn new(list: Vec<Operation>) -> Self {
        Self { list, position: 0 }
    }
}

impl Program for Operations {
    fn next(&mut self, seen: &Seen) -> Step {
        if self.position == self.list.len() {
            self.position = 0;
        }
        let Some(operation) = self.list.get(self.position).copied() else { return Step::Stop };
        if self.position == 0 && seen.over && !matches!(operation, Operation::Read(_)) {
            return Step::Stop;
        }
        self.position += 1;
        match operation {
            Operation::Read(most) => Step::Read(most),
            Operation::Write(bytes) => Step::Write(bytes),
            Operation::Process(time) => Step::Process(time),
            Operation::Free(bytes) => Step::Free(bytes),
            Operation::Sleep(time) => Step::SleepUntil(Picos(seen.now.0.saturating_add(time.0))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_begins_anew_until_the_time_is_over() {
        let mut program =
            Operations::new(vec![Operation::Write(ByteCount(9)), Operation::Sleep(Picos(5))]);
        let mut seen = Seen { now: Picos(100), ..Seen::default() };
        assert_eq!(program.next(&seen), Step::Write(ByteCount(9)));
        assert_eq!(program.next(&seen), Step::SleepUntil(Picos(105)));
        assert_eq!(program.next(&seen), Step::Write(ByteCount(9)));
        seen.over = true;
        assert_eq!(program.next(&seen), Step::SleepUntil(Picos(105)));
        assert_eq!(program.next(&seen), Step::Stop);
    }
}
