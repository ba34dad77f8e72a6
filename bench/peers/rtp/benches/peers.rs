//! The work of RTP and RTCP by bitpath and by other libraries, in one run: a group for each workload, a function for
//! each library. Before a library is timed, what it read or wrote is held against ours; where it differs a line
//! beginning with `note:` says so, for scripts/bench-rtp to put below its table.

use std::fmt::Debug;
use std::hint::black_box;

use bitpath_proto::rtcp::{Budget, Counts, Minimum, randomised_ns};
use bitpath_proto::rtp::reception::ReceptionReport;
use criterion::measurement::WallTime;
use criterion::{
    BatchSize, BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main,
};
use rtp_peers::{DISORDER, PACKETS, REPORTS, Seen, Stream, UNIT_BYTES, audio, blocks, compounds};

/// Does the same with each library, which the block names `library`; `NAME` is what it is called.
macro_rules! each {
    ([$($path:path as $name:literal),* $(,)?], $work:block) => {
        $({
            use $path as library;
            const NAME: &str = $name;
            $work
        })*
    };
}

/// What ours read or wrote, and whether others did the same.
struct Check<T> {
    workload: String,
    ours: Option<Vec<T>>,
}

impl<T: PartialEq + Debug> Check<T> {
    /// Takes the first as ours.
    fn compare(&mut self, library: &str, found: Vec<T>) {
        let Some(ours) = &self.ours else {
            self.ours = Some(found);
            return;
        };
        let workload = &self.workload;
        if found.len() != ours.len() {
            println!("note: {workload}, {library}: {} of {}", found.len(), ours.len());
        } else if let Some((right, other)) =
            ours.iter().zip(&found).find(|(right, other)| right != other)
        {
            let (right, other) = apart(&format!("{right:?}"), &format!("{other:?}"));
            println!("note: {workload}, {library}: {other}, ours {right}");
        }
    }
}

/// The field in which two texts differ first.
fn apart(right: &str, other: &str) -> (String, String) {
    let same = right.bytes().zip(other.bytes()).take_while(|(right, other)| right == other).count();
    let field = right[..same].rfind([',', '{', '(']).map_or(0, |at| at + 1);
    let part = |text: &str| text[field..].split(", ").next().unwrap_or_default().trim().to_owned();
    (part(right), part(other))
}

type Group<'c> = BenchmarkGroup<'c, WallTime>;

fn workload<'c, T>(
    criterion: &'c mut Criterion,
    name: &str,
    units: usize,
) -> (Group<'c>, Check<T>) {
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Elements(units as u64));
    (group, Check { workload: name.to_owned(), ours: None })
}

fn parse(criterion: &mut Criterion) {
    let stream = Stream::plain(1);
    let (mut group, mut check) = workload::<Seen>(criterion, "parse", PACKETS);
    each!(
        [
            rtp_peers::bitpath as "bitpath",
            rtp_peers::rtp_rs as "rtp-rs",
            rtp_peers::rtp_types as "rtp-types",
            rtp_peers::rtc as "rtc",
            rtp_peers::webrtc as "webrtc-rs",
            rtp_peers::str0m as "str0m",
        ],
        {
            let mut seen = Vec::with_capacity(PACKETS);
            library::parse(&stream, |fields| seen.push(fields.into()));
            check.compare(NAME, seen);
            group.bench_function(NAME, |bench| {
                bench.iter(|| library::parse(&stream, |fields| _ = black_box(fields)));
            });
        }
    );
}

fn elements(criterion: &mut Criterion) {
    let stream = Stream::extended();
    let (mut group, mut check) = workload(criterion, "parse, elements walked", PACKETS);
    each!(
        [
            rtp_peers::bitpath as "bitpath",
            rtp_peers::rtc as "rtc",
            rtp_peers::webrtc as "webrtc-rs",
        ],
        {
            let mut seen = Vec::with_capacity(2 * PACKETS);
            library::elements(&stream, |id, data| seen.push((id, data.to_vec())));
            check.compare(NAME, seen);
            group.bench_function(NAME, |bench| {
                bench.iter(|| library::elements(&stream, |id, data| _ = black_box((id, data))));
            });
        }
    );
}

fn build(criterion: &mut Criterion) {
    let (audio, mut output) = (audio(), vec![0; 10_000]);
    let (mut group, mut check) = workload(criterion, "build with copy", PACKETS);
    each!(
        [
            rtp_peers::bitpath as "bitpath",
            rtp_peers::rtp_rs as "rtp-rs",
            rtp_peers::rtp_types as "rtp-types",
            rtp_peers::rtc as "rtc",
            rtp_peers::webrtc as "webrtc-rs",
        ],
        {
            let mut seen = Vec::with_capacity(PACKETS);
            library::build(&audio, &mut output, |packet| seen.push(packet.to_vec()));
            check.compare(NAME, seen);
            group.bench_function(NAME, |bench| {
                bench.iter(|| library::build(&audio, &mut output, |packet| _ = black_box(packet)));
            });
        }
    );
}

#[expect(clippy::useless_conversion, reason = "one library needs an executor for its report")]
fn statistics(criterion: &mut Criterion) {
    for (order, disorder) in DISORDER {
        let stream = Stream::plain(disorder);
        let name = format!("statistics and jitter, {order}");
        let (mut group, mut check) = workload::<ReceptionReport>(criterion, &name, PACKETS);
        each!(
            [
                rtp_peers::bitpath as "bitpath",
                rtp_peers::rtc as "rtc",
                rtp_peers::webrtc as "webrtc-rs",
            ],
            {
                let mut arrivals = library::arrivals(&stream);
                check.compare(NAME, vec![library::count(&mut arrivals).into()]);
                group.bench_function(NAME, |bench| bench.iter(|| library::count(&mut arrivals)));
            }
        );
    }
}

fn jitter_buffer(criterion: &mut Criterion) {
    for (order, disorder) in DISORDER {
        let stream = Stream::plain(disorder);
        let name = format!("jitter buffer, {order}");
        let (mut group, mut check) = workload::<u16>(criterion, &name, PACKETS);
        each!(
            [
                rtp_peers::bitpath as "bitpath",
                rtp_peers::lists::sorted as "sorted list (Rust's library)",
                rtp_peers::lists::tree as "BTreeMap (Rust's library)",
                rtp_peers::rtc as "rtc",
            ],
            {
                let mut seen = Vec::with_capacity(PACKETS);
                library::play(&mut library::waiting(&stream), |sequence| seen.push(sequence));
                check.compare(NAME, seen);
                group.bench_function(NAME, |bench| {
                    bench.iter_batched_ref(
                        || library::waiting(&stream),
                        |packets| library::play(packets, |sequence| _ = black_box(sequence)),
                        BatchSize::PerIteration,
                    );
                });
            }
        );
    }
}

fn receiver(criterion: &mut Criterion) {
    for (order, disorder) in DISORDER {
        let stream = Stream::plain(disorder);
        let mut output = vec![0; PACKETS * UNIT_BYTES];
        let name = format!("whole receiver, {order}");
        let (mut group, mut check) = workload(criterion, &name, PACKETS);
        each!([rtp_peers::bitpath as "bitpath", rtp_peers::rtc as "rtc"], {
            output.fill(0);
            let found = library::receive(&stream, &mut output);
            check.compare(NAME, vec![(found, output == audio())]);
            group.bench_function(NAME, |bench| bench.iter(|| library::receive(&stream, &mut output)));
        });
    }
}

fn report(criterion: &mut Criterion) {
    let (blocks, mut output) = (blocks(), [0; 100]);
    let (mut group, mut check) = workload(criterion, "RR build", REPORTS);
    each!(
        [
            rtp_peers::bitpath as "bitpath",
            rtp_peers::rtcp_types as "rtcp-types",
            rtp_peers::rtc as "rtc",
            rtp_peers::webrtc as "webrtc-rs",
        ],
        {
            let mut seen = Vec::with_capacity(REPORTS);
            library::report(&blocks, &mut output, |report| seen.push(report.to_vec()));
            check.compare(NAME, seen);
            group.bench_function(NAME, |bench| {
                bench.iter(|| library::report(&blocks, &mut output, |report| _ = black_box(report)));
            });
        }
    );
}

fn compound(criterion: &mut Criterion) {
    let compounds = compounds();
    let (mut group, mut check) = workload(criterion, "compound parse", REPORTS);
    each!(
        [
            rtp_peers::bitpath as "bitpath",
            rtp_peers::rtcp_types as "rtcp-types",
            rtp_peers::rtc as "rtc",
            rtp_peers::webrtc as "webrtc-rs",
            rtp_peers::str0m as "str0m",
        ],
        {
            let mut seen = Vec::with_capacity(REPORTS);
            library::compound(&compounds, |fields| seen.push(fields.to_string()));
            check.compare(NAME, seen);
            group.bench_function(NAME, |bench| {
                bench.iter(|| library::compound(&compounds, |fields| _ = black_box(fields)));
            });
        }
    );
}

/// None of the libraries has it.
fn interval(criterion: &mut Criterion) {
    let (mut group, _) = workload::<u64>(criterion, "interval", REPORTS);
    let budget = Budget::new(64_000, Minimum::Fixed).expect("a bandwidth");
    group.bench_function("bitpath", |bench| {
        bench.iter(|| {
            for members in 1..=REPORTS as u32 {
                let counts =
                    Counts { members: black_box(members), senders: members / 8, we_sent: true };
                let interval_ns = budget.deterministic_interval_ns(counts, black_box(120.0), false);
                black_box(randomised_ns(interval_ns, black_box(0.25)));
            }
        });
    });
}

criterion_group!(
    benches,
    parse,
    elements,
    build,
    statistics,
    jitter_buffer,
    receiver,
    report,
    compound,
    interval
);
criterion_main!(benches);
