//! How far an experiment is, for whoever shows it.

/// One report of progress.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress<'a> {
    /// The step, from 0.
    pub step: usize,
    /// Steps in all.
    pub steps: usize,
    /// What is being done.
    pub doing: &'a str,
    /// Share of the step that is done [ratio].
    pub done: f64,
}

/// Takes reports of progress. It is called between measurements, never during one.
pub type Watcher<'a> = &'a mut dyn FnMut(Progress<'_>);
