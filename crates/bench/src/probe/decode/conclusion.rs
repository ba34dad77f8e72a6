//! What the passes over a clip say together: what more threads gain, and how far the decoder is from
//! keeping up.

use bitpath_measure::run::Figure;
use bitpath_measure::{Run, Unit};

use super::{FRAME_RATE, TIME};

/// Adds to the record's figures, for each pass of a clip: `decode.speed_up` [ratio], its time on one
/// thread over that on more; `decode.headroom` [ratio], the frames that it decodes in a second over
/// those that the clip plays.
pub fn conclude(run: &mut Run) {
    let passes = run.figures.iter().filter(|figure| figure.name == TIME);
    let mut found: Vec<Figure> = passes.filter_map(|figure| speed_up(run, figure)).collect();
    let rates = run.figures.iter().filter(|figure| figure.name == FRAME_RATE);
    found.extend(rates.filter_map(|figure| headroom(run, figure)));
    run.figures.extend(found);
}

fn speed_up(run: &Run, figure: &Figure) -> Option<Figure> {
    let mut of = figure.labels.clone();
    of.insert("threads".into(), "1".into());
    let alone = run.figure(TIME, &of)?.estimate.value;
    // The shorter the time the larger the gain: the ends of the interval change places.
    let (time, labels) = (figure.estimate, figure.labels.clone());
    let mut estimate = time.mapped(|seconds| alone / seconds);
    (estimate.low, estimate.high) = (estimate.high, estimate.low);
    let more = figure.labels.get("threads").is_some_and(|threads| threads != "1");
    more.then(|| Figure { name: "decode.speed_up".into(), labels, unit: Unit::Ratio, estimate })
}

fn headroom(run: &Run, figure: &Figure) -> Option<Figure> {
    let mut of = figure.labels.clone();
    of.remove("threads");
    let played = run.figure("decode.clip.frame_rate", &of)?.estimate.value;
    figure.labels.contains_key("clip").then(|| Figure {
        name: "decode.headroom".into(),
        labels: figure.labels.clone(),
        unit: Unit::Ratio,
        estimate: figure.estimate.scaled(1.0 / played),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use bitpath_measure::Estimate;
    use bitpath_measure::series::labels;

    #[test]
    fn threads_gain_and_clips_have_headroom() {
        let clip = [("clip", "a.mpg"), ("codec", "mpeg1video")];
        let on = |threads| labels([clip[0], clip[1], ("threads", threads)]);
        let figure = |name: &str, labels, unit, value, half| {
            let estimate =
                Estimate { low: value - half, high: value + half, ..Estimate::single(value) };
            Figure { name: name.into(), labels, unit, estimate }
        };
        let mut run = Run::begin("probe", "a", "2026-01-01T00:00:00Z", 0);
        run.figures = vec![
            figure(TIME, on("1"), Unit::Seconds, 4.0, 0.0),
            figure(TIME, on("2"), Unit::Seconds, 2.5, 0.5),
            figure(FRAME_RATE, on("2"), Unit::FramesPerSecond, 100.0, 0.0),
            figure("decode.clip.frame_rate", labels(clip), Unit::FramesPerSecond, 25.0, 0.0),
        ];
        conclude(&mut run);
        assert_eq!(run.figures.len(), 6, "one thread gains nothing over itself");
        let gain = run.figure("decode.speed_up", &on("2")).unwrap().estimate;
        assert_eq!((gain.low, gain.value, gain.high), (4.0 / 3.0, 1.6, 2.0));
        assert_eq!(run.figure("decode.headroom", &on("2")).unwrap().estimate.value, 4.0);
    }
}
