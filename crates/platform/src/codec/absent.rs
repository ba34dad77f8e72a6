//! What stands in for libavcodec in a build without it: every answer is `NotBuilt`.

use std::path::Path;

use bitpath_measure::ByteCount;

use super::{Clip, CodecError, CodecParameters, SynthSpec};

/// A decoder that cannot exist.
pub(super) enum Decoder {}

impl Decoder {
    pub(super) fn new(_: &CodecParameters) -> Result<Self, CodecError> {
        Err(CodecError::NotBuilt)
    }

    pub(super) fn on_threads(_: &CodecParameters, _: usize) -> Result<Self, CodecError> {
        Err(CodecError::NotBuilt)
    }

    pub(super) fn decode(&self, _: &[u8]) -> Result<usize, CodecError> {
        match *self {}
    }

    pub(super) fn damaged_pictures(&self) -> u64 {
        match *self {}
    }

    pub(super) fn flush(&self) -> Result<usize, CodecError> {
        match *self {}
    }
}

pub(super) fn open(_: &Path, _: ByteCount) -> Result<Clip, CodecError> {
    Err(CodecError::NotBuilt)
}

pub(super) fn synthesize(_: &Path, _: &SynthSpec) -> Result<(), CodecError> {
    Err(CodecError::NotBuilt)
}

pub(super) fn hardware_interfaces() -> Vec<String> {
    Vec::new()
}

pub(super) fn versions() -> Vec<(String, String)> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::codec::{self, Clip, CodecError, CodecParameters, Decoder, SynthSpec};

    #[test]
    fn every_entry_point_says_what_is_missing() {
        let path = Path::new("clip.mpg");
        let parameters = CodecParameters {
            codec: "mpeg1video".into(),
            tag: 0,
            extradata: Vec::new(),
            bits_per_coded_sample: 0,
            width: 352,
            height: 288,
        };
        let answers = [
            Clip::open(path).map(drop),
            Decoder::new(&parameters).map(drop),
            codec::synthesize(path, &SynthSpec::video1(1)),
        ];
        for answer in answers {
            let said =
                answer.map_err(|error| (matches!(error, CodecError::NotBuilt), error.to_string()));
            let names = |(not_built, text): (bool, String)| {
                not_built && text.contains("libavcodec-dev") && text.contains("`decode`")
            };
            assert!(said.is_err_and(names));
        }
        assert!(codec::decoder_versions().is_empty());
    }
}
