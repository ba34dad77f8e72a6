//! What the command prints, as transcripts in `tests/cmd`: help texts and the report of a scenario.

use std::time::Duration;

use crate::turns::beside_others;

/// Longest that one command of a transcript may take.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn transcripts_are_as_recorded() {
    let _turn = beside_others();
    trycmd::TestCases::new()
        .timeout(PATIENCE)
        .env("NO_COLOR", "1")
        .env("LC_ALL", "C")
        .case("tests/cmd/*.trycmd");
}
