//! A record whose every text tries to leave its place, and whose numbers are no numbers.

use bitpath_measure::run::{Check, Document, Figure, RemedyOutcome, Step, Timeline};
use bitpath_measure::{Environment, Estimate, Labels, Pitfall, Run, Sample, Series, Unit};
use bitpath_report::{html, text};

use crate::fixture;

/// Markup, quotes, separators, line ends, a terminal's escape sequence, a change of direction.
pub(crate) const TEXT: &str =
    "</pre></style><script>alert('1')</script>\" ,;=\\&amp;\r\n\u{1b}[31m\u{202e}x";

/// Values that have no place on any axis, and some that have.
const ODD: [f64; 9] =
    [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0, 1e-320, f64::MAX, f64::MIN, 1.0];

/// The fixture's study, every text replaced and odd numbers everywhere.
pub(crate) fn run() -> Run {
    let mut run = fixture::study();
    run.id = TEXT.into();
    run.tool = TEXT.into();
    run.started = TEXT.into();
    run.version = TEXT.into();
    run.complete = false;
    run.duration_s = f64::NAN;
    run.documents = vec![Document { name: TEXT.into(), text: TEXT.into() }];
    run.steps = vec![Step { name: TEXT.into(), seconds: f64::INFINITY, ended: TEXT.into() }];
    run.pitfalls = vec![
        Pitfall::Interrupted { step: TEXT.into() },
        Pitfall::NotMeasured { what: TEXT.into(), reason: TEXT.into() },
    ];
    run.environment = Some(environment());
    run.series = vec![series()];
    run.figures = figures();
    run.timelines = timelines();
    run.checks = checks();
    answer(&mut run);
    run
}

fn labels(pairs: &[(&str, &str)]) -> Labels {
    pairs.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect()
}

fn environment() -> Environment {
    let mut environment = Environment::default();
    environment.system.kernel = TEXT.into();
    environment.cpu.model = TEXT.into();
    environment.clock.resolution_ns = f64::NAN;
    environment
}

fn series() -> Series {
    let mut series = Series::new(TEXT, labels(&[(TEXT, TEXT)]), Unit::Nanoseconds);
    let sample =
        |value| Sample { value, at_s: value, machine_speed: value, other_load_cores: value };
    series.samples = ODD.into_iter().map(sample).collect();
    series
}

fn figures() -> Vec<Figure> {
    let odd = |name: &str, key: &str, other: &str| {
        ODD.into_iter()
            .zip(["1", "0", "-5", "nan", "1e400", TEXT, "64", "65507", ""])
            .map(move |(value, size)| Figure {
                name: name.into(),
                labels: labels(&[(key, size), (other, TEXT), ("transport", TEXT)]),
                unit: Unit::Nanoseconds,
                estimate: Estimate { low: -value, high: value * 2.0, ..Estimate::single(value) },
            })
            .collect::<Vec<_>>()
    };
    [
        odd(TEXT, "x", "y"),
        odd("stack.cost", "message_bytes", "side"),
        odd("stack.fit.per_packet", "mtu_bytes", "side"),
        odd("copy.bandwidth", "working_set_bytes", "op"),
        odd("decode.frames", "frame", TEXT),
    ]
    .concat()
}

fn timelines() -> Vec<Timeline> {
    let timeline = |limit| Timeline {
        name: TEXT.into(),
        labels: labels(&[("scenario", TEXT), ("engine", TEXT)]),
        unit: Unit::Bytes,
        limit,
        points: ODD.into_iter().zip(ODD.into_iter().rev()).collect(),
    };
    vec![
        timeline(Some(f64::NAN)),
        timeline(Some(0.0)),
        timeline(None),
        Timeline { points: vec![], ..timeline(None) },
    ]
}

fn checks() -> Vec<Check> {
    let check = |value| Check {
        scenario: TEXT.into(),
        quantity: TEXT.into(),
        unit: Unit::BitsPerSecond,
        predicted: Estimate::single(value),
        measured: Estimate { low: value, high: f64::NAN, ..Estimate::single(1.0) },
        reference: value,
        tolerance: value,
        bound: true,
    };
    ODD.into_iter().map(check).collect()
}

fn answer(run: &mut Run) {
    let Some(answer) = &mut run.answer else {
        return;
    };
    answer.sentences = vec![TEXT.into()];
    answer.line_rate_bits_per_second = Estimate::single(f64::INFINITY);
    for job in &mut answer.jobs {
        job.scenario = TEXT.into();
        job.bottleneck = TEXT.into();
        job.bottleneck_in_words = TEXT.into();
        for remedy in &mut job.remedies {
            remedy.name = TEXT.into();
            remedy.outcome = RemedyOutcome::NotApplicable { reason: TEXT.into() };
        }
        for elasticity in &mut job.elasticities {
            elasticity.parameter = TEXT.into();
            elasticity.loss = Estimate::single(f64::NAN);
        }
    }
}

#[test]
fn no_markup_of_a_record_reaches_the_page() {
    let page = html::render(&run());
    assert!(!page.contains("<script"));
    assert_eq!(page.matches("</style>").count(), 1);
    assert!(!page.contains("=\"\" ,"), "a quote ended an attribute");
    assert_eq!(page.matches("<pre").count(), page.matches("</pre>").count());
}

#[test]
fn no_escape_sequence_of_a_record_reaches_the_terminal() {
    let run = run();
    for text in [text::render(&run, 80), text::line(&run)] {
        assert!(!text.chars().any(|letter| letter.is_control() && letter != '\n'));
        assert!(!text.contains('\u{202e}'));
    }
    assert_eq!(text::line(&run).lines().count(), 1);
}
