//! The program that the tests of this crate start as their workers: what `bitpath worker` is.

fn main() -> Result<(), bitpath_platform::PlatformError> {
    bitpath_bench::worker::serve()
}
