//! Three bottlenecks, planted: each is named, and what the top remedy gains when it is really
//! applied is what was predicted.
//!
//! ```text
//! host profile of the study ─► scenario with a planted limit ─► bottleneck, remedies ─► predicted gain
//!                                        └─► the same job on the test bed, without and with ─► measured gain
//! ```

use std::path::Path;

use bitpath_bench::clip::{self, StudyClip};
use bitpath_bench::probe::decode;
use bitpath_bench::sampling::Bed;
use bitpath_bench::sampling::Sampler;
use bitpath_bench::study::try_remedy;
use bitpath_bench::testbed::Testbed;
use bitpath_measure::{BitRate, ByteCount, Picos};
use bitpath_platform::namespace::{can_limit_rate, can_make_namespaces};
use bitpath_platform::usage::LoadWatch;
use bitpath_sim::answer::remedy::{self, Remedy};
use bitpath_sim::answer::{Parameter, bottleneck};
use bitpath_sim::host::HostScenario;
use bitpath_sim::job::Work;
use tempfile::TempDir;

use crate::rights::skipped;
use crate::study::study;
use crate::turns::alone;

/// Tolerated difference of measured and predicted gain, as for a study's worst prediction [ratio].
const TOLERANCE: f64 = 0.25;

/// Pairs of runs, without and with the remedy; their median counts.
const PAIRS: usize = 3;

/// Work of others beside which a gain is not judged: a job that needs a whole core then loses part
/// of it, and one that does not loses nothing [cores].
const DISTURBING: f64 = 0.1;

/// Times that a gain is measured until it agrees.
const ATTEMPTS: usize = 3;

/// Whether a virtual cable with a limited rate can be laid; says why where it cannot.
fn cables(test: &str) -> bool {
    let possible = can_make_namespaces().and_then(|()| can_limit_rate());
    if let Err(error) = &possible {
        skipped(test, &error.to_string());
    }
    possible.is_ok()
}

/// What the measurements of one test need.
struct Bench {
    bed: Testbed,
    clip: StudyClip,
    _scratch: TempDir,
}

impl Bench {
    fn new() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        Self {
            bed: Testbed::open(Path::new(env!("CARGO_BIN_EXE_bitpath"))).unwrap(),
            clip: clip::prepare(None, scratch.path()).unwrap(),
            _scratch: scratch,
        }
    }

    /// Times the decoder again: the machine may be faster or slower than during the study.
    fn time_decoder(&mut self, scenario: &mut HostScenario) {
        let mut sampler = Sampler::begin();
        let mut both = || decode::passes(&mut self.bed, &mut sampler, &self.clip.path).unwrap();
        let passes = [both(), both(), both()];
        scenario.host.decode =
            vec![decode::fit(&self.clip.film.name, &passes, "this test").unwrap()];
    }

    /// What the remedy gains, and the work of others meanwhile [cores].
    fn measured(&mut self, scenario: &HostScenario, remedy: Remedy) -> (f64, f64) {
        let film = matches!(scenario.job.work, Work::Mpeg { .. });
        let film = film.then_some(self.clip.path.as_path());
        let watch = LoadWatch::begin(&self.bed.pids()).unwrap();
        let gain = try_remedy(&mut self.bed, scenario, remedy, film, PAIRS).unwrap().unwrap();
        (gain.value, watch.so_far().unwrap().other_cores())
    }

    /// The scenario is limited by this parameter, this remedy is the first of those that can be
    /// tried, and it gains what was predicted. Where other work disturbed every measurement of
    /// the gain, it must still be a gain, and the rest is said to be unknown.
    #[track_caller]
    fn relieved(&mut self, scenario: &HostScenario, limit: Parameter, relief: Remedy) {
        let name = &scenario.job.name;
        assert_eq!(bottleneck::find(scenario).parameter, limit, "{name}");
        let mut ranked = remedy::rank(scenario).into_iter();
        let (first, promise) = ranked.find(|(remedy, _)| remedy.can_be_tried()).unwrap();
        assert_eq!(first, relief, "{name}");
        let predicted = promise.predicted_gain.value;
        for _ in 0..ATTEMPTS {
            let (gain, others) = self.measured(scenario, relief);
            let error = predicted / gain - 1.0;
            println!(
                "{name}: {}, {relief:?} predicted to gain {predicted:.3}, measured {gain:.3}, \
                 error {:+.1} %, beside {others:.2} cores of others",
                limit.name(),
                error * 100.0
            );
            if error.abs() <= TOLERANCE {
                return;
            }
            assert!(gain > 1.0, "{name}: {relief:?} gained {gain}");
            assert!(others > DISTURBING, "{name}: predicted {predicted}, measured {gain}");
        }
        skipped(name, "other work disturbed every measurement of the gain");
    }
}

#[test]
fn a_small_receive_buffer_is_named_and_a_larger_one_gains_what_was_predicted() {
    if !cables("a_small_receive_buffer_is_named_and_a_larger_one_gains_what_was_predicted") {
        return;
    }
    let mut scenario = study().scenario("mpeg-hw");
    let Work::Mpeg { film, speed, playout_delay, .. } = &mut scenario.job.work else {
        panic!("no film");
    };
    // While the receiver sleeps until a frame is due, sixty more come; the buffer holds about ten
    // of them, and forty when it is four times as large.
    *speed = 20.0;
    *playout_delay = film.rate.due(60, *speed);
    scenario.job.receive_buffer = ByteCount(92 << 10);
    scenario.job.duration = Picos(2 * Picos::SECOND.0);
    let _turn = alone();
    Bench::new().relieved(&scenario, Parameter::KernelBuffer, Remedy::SocketBuffer);
}

#[test]
fn a_heavy_decode_is_named_and_a_device_that_decodes_gains_what_was_predicted() {
    if !cables("a_heavy_decode_is_named_and_a_device_that_decodes_gains_what_was_predicted") {
        return;
    }
    let mut scenario = study().scenario("mpeg-sw-fast");
    let _turn = alone();
    let mut bench = Bench::new();
    bench.time_decoder(&mut scenario);
    bench.relieved(&scenario, Parameter::Decode, Remedy::HardwareDecoder);
}

#[test]
fn a_limited_link_is_named_and_a_faster_one_gains_what_was_predicted() {
    if !cables("a_limited_link_is_named_and_a_faster_one_gains_what_was_predicted") {
        return;
    }
    let mut scenario = study().scenario("raw-udp");
    scenario.link.rate = Some(BitRate(100_000_000));
    let _turn = alone();
    Bench::new().relieved(&scenario, Parameter::LinkRate, Remedy::FasterLink);
}
