//! An analysis as a record: figures of each stream, and doubts.

use bitpath_measure::run::Figure;
use bitpath_measure::series::labels;
use bitpath_measure::{Estimate, Labels, Pitfall, Run, Unit};
use bitpath_proto::rtp::payload::static_type;

use super::{Analysis, Stream};

/// Name of the tool in the record, and of the record: no clock and no machine changes what a capture holds.
const TOOL: &str = "rtp-analysis";

/// The record of an analysis.
#[must_use]
pub fn record(analysis: &Analysis) -> Run {
    let mut run = Run::begin(TOOL, TOOL, "", 0);
    let of_capture = [
        ("datagrams", analysis.datagrams),
        ("others", analysis.others),
        ("skipped", analysis.skipped),
    ];
    for (name, packets) in of_capture {
        let name = format!("rtp.capture.{name}");
        run.figures.push(figure(name, &Labels::new(), Unit::Packets, packets as f64));
    }
    for stream in &analysis.streams {
        let labels = names(stream);
        let values = values(stream).into_iter();
        run.figures.extend(values.filter_map(|(name, unit, value)| {
            Some(figure(format!("rtp.stream.{name}"), &labels, unit, value?))
        }));
        doubt_clock(stream, &labels, &mut run);
    }
    if analysis.left_out > 0 {
        let what = format!("{} datagrams that may be RTP", analysis.left_out);
        let reason = "the capture has more streams than are followed".into();
        run.doubt(Pitfall::NotMeasured { what, reason });
    }
    run.complete = true;
    run
}

/// What tells a stream's figures from those of others.
fn names(stream: &Stream) -> Labels {
    let name = |payload_type| {
        static_type(payload_type)
            .map_or_else(|| payload_type.to_string(), |encoding| encoding.name.to_owned())
    };
    let payloads: Vec<String> = stream.payload_types().map(name).collect();
    labels([
        ("ssrc", format!("0x{:08x}", stream.ssrc()).as_str()),
        ("source", &stream.source().to_string()),
        ("destination", &stream.destination().to_string()),
        ("payload", &payloads.join("+")),
    ])
}

/// Name, unit and value of every figure; no value where nothing tells it.
fn values(stream: &Stream) -> [(&'static str, Unit, Option<f64>); 12] {
    let counts = stream.counts();
    let packets = |packets: u64| Some(packets as f64);
    [
        ("packets", Unit::Packets, packets(counts.packets)),
        ("expected", Unit::Packets, packets(stream.expected())),
        ("lost", Unit::Packets, Some(stream.lost() as f64)),
        ("duplicates", Unit::Packets, packets(counts.duplicates)),
        ("out_of_order", Unit::Packets, packets(counts.out_of_order)),
        ("refused", Unit::Packets, packets(counts.refused)),
        ("sequence_errors", Unit::Count, packets(counts.sequence_errors)),
        ("restarts", Unit::Count, packets(counts.restarts)),
        ("jitter_mean", Unit::Nanoseconds, stream.jitter_mean_ns()),
        ("jitter_max", Unit::Nanoseconds, stream.jitter_max_ns()),
        ("duration", Unit::Seconds, Some(stream.duration_s())),
        ("bit_rate", Unit::BitsPerSecond, stream.bits_per_second()),
    ]
}

/// Says why a stream has no jitter.
fn doubt_clock(stream: &Stream, labels: &Labels, run: &mut Run) {
    if stream.jitter_mean_ns().is_some() {
        return;
    }
    let what = format!("jitter of {} from {}", labels["ssrc"], labels["source"]);
    let reason = format!("the clock rate of payload type {} is not known", labels["payload"]);
    run.doubt(Pitfall::NotMeasured { what, reason });
}

fn figure(name: String, labels: &Labels, unit: Unit, value: f64) -> Figure {
    Figure { name, labels: labels.clone(), unit, estimate: Estimate::single(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capture_without_streams_is_a_whole_record_that_says_so() {
        let run = record(&Analysis { datagrams: 3, others: 3, ..Analysis::default() });
        assert!(run.complete && run.pitfalls.is_empty());
        let shown: Vec<_> =
            run.figures.iter().map(|of| (of.name.as_str(), of.estimate.value)).collect();
        let expected = [
            ("rtp.capture.datagrams", 3.0),
            ("rtp.capture.others", 3.0),
            ("rtp.capture.skipped", 0.0),
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn what_was_left_out_is_a_doubt() {
        let run = record(&Analysis { left_out: 2, ..Analysis::default() });
        assert!(run.pitfalls[0].sentence().contains("2 datagrams that may be RTP"));
    }
}
