//! A made-up study of a two-core virtual machine, in the size and shape of a real one.

use bitpath_measure::environment::{Cache, Clock, Cpu, Load, Nic, Queues, Setting, System};
use bitpath_measure::run::{
    Answer, Check, Document, Elasticity, Figure, JobAnswer, Remedy, RemedyOutcome, Step, Timeline,
};
use bitpath_measure::series::labels;
use bitpath_measure::{Environment, Estimate, Labels, Method, Pitfall, Run, Sample, Series, Unit};

/// Message sizes of the probe [B].
const SIZES: [u32; 8] = [1, 64, 256, 1024, 1472, 8192, 32_768, 65_507];

/// A whole study.
pub(crate) fn study() -> Run {
    let mut run = Run::begin("study", "2026-11-21-0915-study", "2026-11-21T09:15:02Z", 7);
    run.complete = true;
    run.duration_s = 118.4;
    run.environment = Some(environment());
    run.documents = documents();
    run.steps = steps();
    probe(&mut run);
    run.timelines = timelines();
    run.checks = checks();
    run.answer = Some(answer());
    run.pitfalls = pitfalls();
    run
}

/// The same study, cut short while the stack was probed.
pub(crate) fn interrupted() -> Run {
    let mut run = study();
    run.id = "2026-11-21-0931-study".into();
    run.complete = false;
    run.duration_s = 21.7;
    run.steps.truncate(2);
    run.timelines.clear();
    run.checks.clear();
    run.answer = None;
    run.figures
        .retain(|figure| figure.name.starts_with("copy") || figure.name.starts_with("clock"));
    run.series.retain(|series| series.name.starts_with("copy"));
    run.documents.clear();
    run.pitfalls = vec![Pitfall::Interrupted { step: "stack cost over UDP".into() }];
    run
}

/// A run that has only begun.
pub(crate) fn empty() -> Run {
    Run::begin("simulate", "2026-11-21-0940-simulate", "2026-11-21T09:40:00Z", 1)
}

/// A value with an interval of plus and minus a share of it.
pub(crate) fn about(value: f64, half_width: f64) -> Estimate {
    Estimate {
        value,
        low: value * (1.0 - half_width),
        high: value * (1.0 + half_width),
        confidence: 0.95,
        samples: 24,
        method: Method::MedianBlockBootstrap,
    }
}

fn figure(name: &str, labels: Labels, unit: Unit, estimate: Estimate) -> Figure {
    Figure { name: name.into(), labels, unit, estimate }
}

fn probe(run: &mut Run) {
    copy(run);
    stack(run);
    fits(run);
    decode(run);
    let paced_sleep = labels([("sleep_ns", "200000"), ("slack_ns", "50000")]);
    let stream = labels([("message_bytes", "1472"), ("gap_ns", "0")]);
    let single = [
        ("clock.cost", labels([("clock", "monotonic")]), Unit::Nanoseconds, about(24.6, 0.02)),
        ("clock.cost", labels([("clock", "tsc")]), Unit::Nanoseconds, about(9.1, 0.01)),
        ("timer.lateness", paced_sleep, Unit::Nanoseconds, about(58_400.0, 0.11)),
        ("syscall.cost", labels([]), Unit::Nanoseconds, about(112.0, 0.03)),
        ("context_switch.cost", labels([]), Unit::Nanoseconds, about(1840.0, 0.07)),
        ("wake_up.latency", labels([]), Unit::Nanoseconds, about(10_300.0, 0.14)),
        (
            "stack.packet_rate",
            labels([("transport", "udp")]),
            Unit::PacketsPerSecond,
            about(412_000.0, 0.04),
        ),
        ("stack.wake.slept", stream.clone(), Unit::Nanoseconds, about(1650.0, 0.02)),
        ("stack.wake.receiver", stream, Unit::Nanoseconds, about(2950.0, 0.09)),
        ("link.surprise", labels([("path", "veth")]), Unit::Count, Estimate::single(12_345.0)),
    ];
    for (name, labels, unit, estimate) in single {
        run.figures.push(figure(name, labels, unit, estimate));
    }
}

fn copy(run: &mut Run) {
    let levels = [(32_768, 58.0), (524_288, 31.0), (8_388_608, 17.5), (268_435_456, 9.6)];
    for (op, factor) in [("copy", 1.0), ("read", 1.35), ("write", 0.82)] {
        for (working_set, gigabytes) in levels {
            let working_set = working_set.to_string();
            let labels = labels([("op", op), ("working_set_bytes", &working_set)]);
            let value = gigabytes * factor * 1e9;
            let estimate = about(value, 0.035);
            run.figures.push(figure(
                "copy.bandwidth",
                labels.clone(),
                Unit::BytesPerSecond,
                estimate,
            ));
            run.series.push(series("copy.bandwidth", labels, Unit::BytesPerSecond, value));
        }
    }
}

fn stack(run: &mut Run) {
    for (transport, side, base) in [
        ("udp", "send", 980.0),
        ("udp", "receive", 610.0),
        ("tcp", "send", 720.0),
        ("tcp", "receive", 540.0),
    ] {
        for (index, size) in SIZES.into_iter().enumerate() {
            let packets = if transport == "tcp" {
                (f64::from(size) / 1448.0).min(1.0)
            } else {
                (f64::from(size + 8) / 1480.0).ceil()
            };
            let wobble = 1.0 + 0.06 * (index as f64 * 2.1).sin();
            let value = ((base + 310.0 * packets + 0.11 * f64::from(size)) * wobble).round();
            let bytes = size.to_string();
            let labels =
                labels([("message_bytes", &bytes), ("side", side), ("transport", transport)]);
            let half_width = if index == 4 { 0.22 } else { 0.05 };
            run.figures.push(figure(
                "stack.cost",
                labels.clone(),
                Unit::Nanoseconds,
                about(value, half_width),
            ));
            run.series.push(series("stack.cost", labels, Unit::Nanoseconds, value));
        }
    }
}

fn fits(run: &mut Run) {
    for (transport, side, base) in [
        ("udp", "send", 980.0),
        ("udp", "receive", 610.0),
        ("tcp", "send", 720.0),
        ("tcp", "receive", 540.0),
    ] {
        let labels = labels([("side", side), ("transport", transport)]);
        let fit = |value, half_width| Estimate {
            method: Method::LeastSquares,
            ..about(value, half_width)
        };
        for bytes in [1_u32, 64, 512, 1472, 4096, 16_384, 65_507] {
            let mut labels = labels.clone();
            labels.insert("message_bytes".into(), bytes.to_string());
            let cost = base + 310.0 + 0.11 * f64::from(bytes);
            run.figures.push(figure(
                "stack.cost.fitted",
                labels,
                Unit::Nanoseconds,
                Estimate::single(cost),
            ));
        }
        for (name, unit, estimate) in [
            ("stack.fit.per_call", Unit::Nanoseconds, fit(base, 0.04)),
            ("stack.fit.per_packet", Unit::Nanoseconds, fit(310.0, 0.06)),
            ("stack.fit.per_split", Unit::Nanoseconds, fit(420.0, 0.2)),
            ("stack.fit.per_byte", Unit::NanosecondsPerByte, fit(0.11, 0.03)),
            ("stack.fit.residual", Unit::Ratio, Estimate::single(0.043)),
        ] {
            run.figures.push(figure(name, labels.clone(), unit, estimate));
        }
    }
}

fn decode(run: &mut Run) {
    for (frame, cycles, frames) in
        [("I", 41.2, 20.0), ("P", 58.9, 80.0), ("B", 72.4, 200.0), ("all", 55.3, 300.0)]
    {
        let labels = labels([("frame", frame)]);
        let cost = about(cycles, 0.02);
        run.figures.push(figure(
            "decode.cycles_per_byte",
            labels.clone(),
            Unit::TscCyclesPerByte,
            cost,
        ));
        run.figures.push(figure("decode.frames", labels, Unit::Frames, Estimate::single(frames)));
    }
    let labels = labels([("frame", "all")]);
    run.figures.push(figure(
        "decode.frame_rate",
        labels,
        Unit::FramesPerSecond,
        about(1240.0, 0.03),
    ));
}

fn series(name: &str, labels: Labels, unit: Unit, value: f64) -> Series {
    let mut series = Series::new(name, labels, unit);
    series.samples = (0..4)
        .map(|index| {
            let index = f64::from(index);
            Sample {
                value: (value * (1.0 + 0.02 * (index - 1.5))).round(),
                at_s: 3.0 + index * 0.25,
                machine_speed: 1.0 - 0.01 * index,
                other_load_cores: 0.02,
            }
        })
        .collect();
    series
}

/// MPEG_sw: the kernel buffer fills while an I-frame is decoded and drains after it.
fn timelines() -> Vec<Timeline> {
    let course = |name: &str, unit, limit, value: &dyn Fn(f64) -> f64| Timeline {
        name: name.into(),
        labels: labels([("scenario", "mpeg-sw")]),
        unit,
        limit,
        points: (0..480)
            .map(|step| f64::from(step) / 40.0)
            .map(|at| (at, value(at).round_to(1e-4)))
            .collect(),
    };
    let gop = |at: f64| (at / 0.6).fract();
    let kernel = move |at: f64| {
        let swell = 1.0 + 0.25 * (at * 0.7).sin();
        (212_992.0 * swell * (1.0 - gop(at)).powi(2) * 0.95).min(212_992.0)
    };
    let dropped = move |at: f64| if kernel(at) >= 212_992.0 { 14.0 } else { 0.0 };
    vec![
        course("receiver.load", Unit::Ratio, Some(1.0), &|at| {
            if gop(at) < 0.55 { 0.98 } else { 0.34 }
        }),
        course("kernel_buffer.used", Unit::Bytes, Some(212_992.0), &kernel),
        course("user_buffer.used", Unit::Bytes, Some(4_194_304.0), &|at| 98_304.0 * gop(at)),
        course("packets.dropped", Unit::Packets, None, &dropped),
    ]
}

/// Rounding that keeps snapshots the same on machines whose sine differs in the last bit.
trait RoundTo {
    fn round_to(self, step: f64) -> f64;
}

impl RoundTo for f64 {
    fn round_to(self, step: f64) -> f64 {
        (self / step).round() * step
    }
}

fn checks() -> Vec<Check> {
    let check = |scenario: &str, quantity: &str, unit, predicted: f64, measured: f64, bound| {
        let share = unit == Unit::Ratio;
        Check {
            scenario: scenario.into(),
            quantity: quantity.into(),
            unit,
            predicted: Estimate { method: Method::Simulated, ..about(predicted, 0.01) },
            measured: about(measured, 0.04),
            reference: if share { 1.0 } else { measured },
            tolerance: 0.25,
            bound,
        }
    };
    vec![
        check("raw-udp", "throughput", Unit::BitsPerSecond, 3.62e9, 3.41e9, true),
        check("raw-udp", "packets lost", Unit::Ratio, 0.118, 0.152, true),
        check("raw-tcp", "throughput", Unit::BitsPerSecond, 5.10e9, 5.48e9, true),
        check("raw-tcp", "receiver load", Unit::Ratio, 0.97, 0.99, true),
        check("mpeg-hw", "throughput", Unit::BitsPerSecond, 3.8e6, 3.8e6, false),
        check("mpeg-hw", "frames on time", Unit::Ratio, 1.0, 0.997, false),
        check("mpeg-sw", "receiver load", Unit::Ratio, 0.71, 0.66, true),
        check("mpeg-sw-fast", "throughput", Unit::BitsPerSecond, 402e6, 301e6, true),
    ]
}

fn answer() -> Answer {
    Answer {
        sentences: vec![
            "On this host the bits of RAW over UDP get stuck in the receiver's processor: the cost of each packet in the stack.".into(),
            "A tenth less cost per packet would give about 8 % more throughput; a tenth more copy bandwidth only 1 %.".into(),
            "Receiving several packets in one call helps most: 1.42 times as much, and 1.39 times when it was really done.".into(),
            "One receiving core would serve a line of 3.4 Gb/s with full frames.".into(),
        ],
        jobs: vec![raw_udp(), raw_tcp(), mpeg_sw()],
        line_rate_bits_per_second: about(3.41e9, 0.04),
    }
}

fn elasticity(parameter: &str, throughput: f64, loss: f64) -> Elasticity {
    Elasticity {
        parameter: parameter.into(),
        throughput: Estimate {
            low: throughput - 0.03,
            high: throughput + 0.03,
            ..about(throughput, 0.0)
        },
        loss: Estimate { low: loss - 0.05, high: loss + 0.05, ..about(loss, 0.0) },
    }
}

fn remedy(name: &str, change: &str, gain: f64, outcome: RemedyOutcome) -> Remedy {
    let predicted_gain = Estimate { method: Method::Simulated, ..about(gain, 0.03) };
    Remedy { name: name.into(), change: change.into(), predicted_gain, outcome }
}

fn raw_udp() -> JobAnswer {
    JobAnswer {
        scenario: "raw-udp".into(),
        bottleneck: "stack.udp.receive.per_packet".into(),
        bottleneck_in_words: "the receiver's processor, for the cost of each packet in the stack"
            .into(),
        elasticities: vec![
            elasticity("stack.udp.receive.per_packet", 0.81, -0.93),
            elasticity("stack.udp.receive.per_call", 0.12, -0.14),
            elasticity("copy.bandwidth", 0.06, -0.05),
            elasticity("kernel_buffer.size", 0.0, -0.02),
        ],
        remedies: vec![
            remedy(
                "TCP offload / network processor",
                "half the cost per packet, by receiving several packets in one call",
                1.42,
                RemedyOutcome::Measured { gain: about(1.39, 0.05) },
            ),
            remedy(
                "multiple processors (SMP)",
                "softirq work on a core of its own",
                1.18,
                RemedyOutcome::NotApplicable { reason: "both cores already take part".into() },
            ),
            remedy("zero-copy", "no copy to the user's buffer", 1.06, RemedyOutcome::NotTried),
        ],
    }
}

fn raw_tcp() -> JobAnswer {
    JobAnswer {
        scenario: "raw-tcp".into(),
        bottleneck: "copy.bandwidth".into(),
        bottleneck_in_words: "the copy from the kernel's to the user's buffer".into(),
        elasticities: vec![
            elasticity("copy.bandwidth", 0.55, 0.0),
            elasticity("stack.tcp.receive.per_packet", 0.38, 0.0),
        ],
        remedies: vec![remedy(
            "zero-copy",
            "no copy to the user's buffer",
            1.73,
            RemedyOutcome::NotTried,
        )],
    }
}

fn mpeg_sw() -> JobAnswer {
    JobAnswer {
        scenario: "mpeg-sw".into(),
        bottleneck: "decode.cycles_per_byte".into(),
        bottleneck_in_words: "decoding".into(),
        elasticities: vec![elasticity("decode.cycles_per_byte", 0.97, -0.99)],
        remedies: Vec::new(),
    }
}

fn pitfalls() -> Vec<Pitfall> {
    vec![
        Pitfall::Virtualised { hypervisor: "KVM".into() },
        Pitfall::TscCycles { tsc_hz: 2.7e9 },
        Pitfall::OtherLoad { cores: 0.12, disturbed_samples: 9 },
        Pitfall::UnsteadySpeed { slowest: 0.78, fastest: 1.06 },
        Pitfall::SoftirqOnSender,
        Pitfall::BudgetEnded {
            what: "stack.cost of 1472 B".into(),
            half_width: 0.22,
            wanted: 0.05,
        },
        Pitfall::SyntheticClip { clip: "MPEG-1, 352x288, 25 frames/s, I:P:B 1:4:10".into() },
    ]
}

fn steps() -> Vec<Step> {
    let step =
        |name: &str, seconds, ended: &str| Step { name: name.into(), seconds, ended: ended.into() };
    vec![
        step("facts", 0.21, "done"),
        step("copy bandwidth", 14.2, "interval narrow enough"),
        step("stack cost", 48.0, "budget spent"),
        step("decode", 8.4, "interval narrow enough"),
        step("predict", 0.6, "done"),
        step("run", 41.0, "done"),
    ]
}

fn documents() -> Vec<Document> {
    let profile = "# Measured on this host.\n[cpu]\ncores = 2\nclock = \"2.7 GHz\"\n\n[stack.udp.receive]\nper_call = \"610 ns\"\nper_packet = \"310 ns\"\nper_byte = \"0.11 ns\"\n";
    let scenario =
        "job = \"raw\"\ntransport = \"udp\"\nmessage = \"1200 B\"\nrate = \"unlimited\"\n";
    vec![
        Document { name: "host.toml".into(), text: profile.into() },
        Document { name: "raw-udp.toml".into(), text: scenario.into() },
    ]
}

fn environment() -> Environment {
    let setting = |name: &str, value: &str| Setting { name: name.into(), value: value.into() };
    Environment {
        topology: None,
        system: System {
            kernel: "6.18.0".into(),
            distribution: "Debian GNU/Linux 12 (bookworm)".into(),
            architecture: "x86_64".into(),
            hypervisor: Some("KVM".into()),
        },
        cpu: cpu(),
        memory_bytes: 8_323_596_288,
        memory_available_bytes: 7_100_000_000,
        nics: vec![
            nic(
                "eth0",
                Some("virtio_net"),
                Some(10_000_000_000),
                &["tx-checksum-ip-generic", "tcp-segmentation-offload", "generic-receive-offload"],
            ),
            nic("lo", None, None, &[]),
        ],
        clock: Clock {
            source: "tsc".into(),
            resolution_ns: 1.0,
            observed_step_ns: 21.0,
            tsc_hz: Some(2.7e9),
            tick_hz: Some(250.0),
        },
        settings: vec![
            setting("net.core.rmem_max", "4194304"),
            setting("net.ipv4.tcp_congestion_control", "bbr"),
        ],
        load: Load { one_minute: 0.18, runnable: 1 },
        root: true,
        versions: vec![setting("libavcodec", "59.37.100"), setting("iproute2", "6.1.0")],
    }
}

fn cpu() -> Cpu {
    let cache = |level, kind: &str, size_bytes, shared_by| Cache {
        level,
        kind: kind.into(),
        size_bytes,
        shared_by,
    };
    Cpu {
        model: "Example CPU @ 2.70GHz".into(),
        logical: 2,
        cores: 1,
        allowed: vec![0, 1],
        caches: vec![
            cache(1, "Data", 49_152, 2),
            cache(2, "Unified", 2_097_152, 2),
            cache(3, "Unified", 503_316_480, 2),
        ],
        governor: None,
        frequency_hz: Some(2.7e9),
        features: ["sse2", "avx", "avx2", "avx512f", "erms"].map(String::from).to_vec(),
    }
}

fn nic(name: &str, driver: Option<&str>, speed: Option<u64>, offloads: &[&str]) -> Nic {
    Nic {
        name: name.into(),
        driver: driver.map(String::from),
        speed_bits_per_second: speed,
        mtu_bytes: if name == "lo" { 65_536 } else { 1500 },
        queues: Queues { receive: 2, transmit: 2 },
        offloads: offloads.iter().map(|offload| (*offload).into()).collect(),
        up: true,
    }
}
