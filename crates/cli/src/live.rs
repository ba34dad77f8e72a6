//! The live view: a machine runs at a pace that eyes can follow, and is changed while it runs
//! (sysSIM section 3: "interesting oscillations that are easier to comprehend in real time").
//!
//! ```text
//!             look [ps, B, packets]                    frame, at most 30/s
//! machine ────────────────────────► course ──┬──► screen (or lines) ──► terminal
//!    ▲                                       │                             │ keys
//!    └── until [ps] ◄── pace [sim s/s] ◄─────┴──── commands ◄──────────────┘
//!    └── change ◄────── steering: key=value
//! ```

mod course;
mod keys;
mod lines;
mod pace;
mod record;
mod screen;
mod steering;
mod terminal;

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use bitpath_measure::{Picos, Run};
use bitpath_platform::interrupt;
use bitpath_sim::engine::EngineError;
use bitpath_sim::machine::{self, Look, Machine, MachineScenario, Next};
use bitpath_sim::scenario::{Scenario, SettingError, Subject};
use ratatui::crossterm::event::KeyEvent;

use crate::failure::Failure;
use course::{Course, Limits};
use keys::Command;
use pace::Pace;
use record::Seen;
use screen::{Footer, View};
use steering::Steering;
use terminal::Terminal;

/// Runs a machine under the eyes of the user, and returns its record and how the process ends.
///
/// # Errors
/// For a scenario without a machine, for a terminal that cannot be used, and those of the engine.
pub(crate) fn watch(
    scenario: &Scenario,
    text: &str,
    json: bool,
) -> Result<(Run, ExitCode), Failure> {
    let watched = match &scenario.subject {
        Subject::Machine(machine) => machine,
        Subject::Pipeline(_) => return Err(Failure::NotWatchable { subject: "[pipeline]" }),
        Subject::Host(_) => return Err(Failure::NotWatchable { subject: "[host]" }),
    };
    interrupt::install()?;
    let steering = Steering::new(scenario, text).map_err(SettingError::File);
    let steering = steering.map_err(Failure::Setting)?;
    let face = Face::open(json)
        .map_err(|source| Failure::Start { action: "prepare the terminal", source })?;
    let mut watcher = Watcher::new(&scenario.title, watched, steering, face);
    let MachineScenario { machine, interval, .. } = &**watched;
    let outcome = machine::watch(machine, *interval, scenario.seed, &mut |look| watcher.see(look));
    let Watcher { course, steering, ending, failure, .. } = watcher;
    let outcome = outcome.map_err(EngineError::from)?;
    if let Some(failure) = failure {
        return Err(failure.into());
    }
    let ended = course.look().ended;
    let seen = Seen { outcome: &outcome, changes: steering.changes(), ended };
    let run = record::record(scenario, text, machine, seen)?;
    let interrupted = !ended && ending == Some(Ending::Interrupted);
    let code = if interrupted { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS };
    Ok((run, code))
}

/// Where the view goes.
#[derive(Debug)]
enum Face {
    Screen(Terminal),
    /// Standard output, or standard error where a record in JSON will follow.
    Lines {
        json: bool,
    },
}

/// Why the view ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Left,
    Interrupted,
}

/// Who looks at the machine.
#[derive(Debug)]
struct Watcher<'a> {
    title: &'a str,
    /// As long and as large as it is by now.
    duration: Picos,
    limits: Limits,
    face: Face,
    course: Course,
    pace: Pace,
    steering: Steering,
    /// The change that is being written.
    entry: Option<String>,
    /// What became of the last one.
    said: Option<String>,
    /// The machine as it shall go on.
    changed: Option<Box<Machine>>,
    ending: Option<Ending>,
    failure: Option<io::Error>,
    last_frame: Instant,
    slice_began: Instant,
}

impl Face {
    fn open(json: bool) -> io::Result<Self> {
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        if io::stdout().is_terminal() && !is_dumb {
            Terminal::open().map(Self::Screen)
        } else {
            Ok(Self::Lines { json })
        }
    }

    /// Wall time between two frames.
    fn period(&self) -> Duration {
        match self {
            Self::Screen(_) => FRAME,
            Self::Lines { .. } => LINE,
        }
    }

    fn show(&mut self, view: &View<'_>) -> io::Result<()> {
        match self {
            Self::Screen(terminal) => terminal.draw(|frame| screen::draw(frame, view)),
            Self::Lines { json: false } => writeln!(io::stdout(), "{}", lines::line(view.course)),
            Self::Lines { json: true } => writeln!(io::stderr(), "{}", lines::line(view.course)),
        }
    }

    /// The next key within this time; lines have none.
    fn key(&self, patience: Duration) -> io::Result<Option<KeyEvent>> {
        match self {
            Self::Screen(terminal) => terminal.key(patience),
            Self::Lines { .. } => Ok(None),
        }
    }
}

impl<'a> Watcher<'a> {
    fn new(title: &'a str, watched: &MachineScenario, steering: Steering, face: Face) -> Self {
        let machine = &watched.machine;
        let course = Course::new(watched);
        let pace = match face {
            Face::Screen(_) => Pace::watchable(machine.duration, course.tick()),
            Face::Lines { .. } => Pace::unlimited(course.tick()),
        };
        Self {
            title,
            duration: machine.duration,
            limits: Limits::of(machine),
            face,
            course,
            pace,
            steering,
            entry: None,
            said: None,
            changed: None,
            ending: None,
            failure: None,
            last_frame: Instant::now(),
            slice_began: Instant::now(),
        }
    }

    /// Takes a look and says what is next. A terminal that fails ends the run.
    fn see(&mut self, look: &Look) -> Next {
        let length = Picos(look.now.0.saturating_sub(self.course.look().now.0));
        self.pace.took(length, self.slice_began.elapsed());
        self.course.see(look);
        self.go_on().unwrap_or_else(|failure| {
            self.failure = Some(failure);
            Next::Stop
        })
    }

    /// Shows frames and obeys keys until the machine shall run on, change or stop.
    fn go_on(&mut self) -> io::Result<Next> {
        let now = self.course.look().now;
        loop {
            if self.last_frame.elapsed() >= self.face.period() {
                self.frame()?;
            }
            if interrupt::requested() {
                self.ending = Some(Ending::Interrupted);
            }
            if let Some(machine) = self.changed.take() {
                return Ok(Next::Change(machine));
            }
            if self.ending.is_some() {
                return Ok(Next::Stop);
            }
            if self.course.look().ended {
                if matches!(self.face, Face::Lines { .. }) {
                    self.frame()?;
                    return Ok(Next::Stop);
                }
            } else if let Some(until) = self.pace.next(now) {
                self.slice_began = Instant::now();
                return Ok(Next::Until(until));
            }
            self.listen(self.face.period().saturating_sub(self.last_frame.elapsed()))?;
        }
    }

    /// Shows what is, takes the keys that wait, and grants the time until the next frame.
    fn frame(&mut self) -> io::Result<()> {
        let wall = self.last_frame.elapsed();
        self.last_frame = Instant::now();
        self.course.frame();
        if !self.course.look().ended {
            self.pace.grant(self.course.look().now, wall);
        }
        let footer = match (&self.entry, &self.said) {
            (Some(entry), _) => Footer::Entry(entry),
            (None, Some(said)) => Footer::Said(said),
            (None, None) => Footer::Keys,
        };
        let view = View {
            title: self.title,
            duration: self.duration,
            limits: self.limits,
            course: &self.course,
            pace: &self.pace,
            footer,
        };
        self.face.show(&view)?;
        self.listen(Duration::ZERO)
    }

    /// Obeys the keys that come within this time, at least those that are there.
    fn listen(&mut self, patience: Duration) -> io::Result<()> {
        let mut patience = patience;
        while let Some(key) = self.face.key(patience)? {
            patience = Duration::ZERO;
            match keys::command(key, self.entry.is_some()) {
                Some(command) => self.obey(command),
                None if self.is_over() => self.ending = Some(Ending::Left),
                None => {}
            }
        }
        Ok(())
    }

    /// Whether any key ends the view.
    fn is_over(&self) -> bool {
        self.course.look().ended && self.entry.is_none()
    }

    fn obey(&mut self, command: Command) {
        let now = self.course.look().now;
        let over = self.is_over();
        self.said = None;
        match command {
            Command::Interrupt => self.ending = Some(Ending::Interrupted),
            Command::Leave => self.ending = Some(Ending::Left),
            _ if over => self.ending = Some(Ending::Left),
            Command::PauseOrGo => self.pace.pause_or_go(now),
            Command::Step => self.pace.step(now),
            Command::Faster => self.pace.faster(),
            Command::Slower => self.pace.slower(),
            Command::Edit => self.entry = Some(String::new()),
            Command::Letter(letter) => self.entry.get_or_insert_default().push(letter),
            Command::Erase => {
                self.entry.get_or_insert_default().pop();
            }
            Command::Abandon => self.entry = None,
            Command::Apply => self.apply(now),
        }
    }

    /// Makes the change that was written, or says why not.
    fn apply(&mut self, now: Picos) {
        let written = self.entry.take().unwrap_or_default();
        if written.trim().is_empty() {
            return;
        }
        let said = match self.steering.change(now, &written) {
            Ok(machine) => {
                (self.limits, self.duration) = (Limits::of(&machine), machine.duration);
                self.changed = Some(Box::new(machine));
                format!("since {:.6} s: {}", now.as_secs_f64(), written.trim())
            }
            Err(error) => error.to_string(),
        };
        self.said = Some(said);
    }
}

/// Wall time between two frames of the screen: at most 30 a second.
const FRAME: Duration = Duration::from_millis(34);

/// Wall time between two lines: a log stays readable.
const LINE: Duration = Duration::from_millis(500);

/// Exit code of an interrupted run, as shells have it for SIGINT.
const INTERRUPTED: u8 = 130;
