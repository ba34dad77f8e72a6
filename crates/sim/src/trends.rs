//! Forty years of components, and which of them kept the bits from the user (sysSIM sections 1.2
//! and 5, figures 3, 4 and 20).
//!
//! ```text
//! data/trends/*.csv ──► series: value [SI] by year ──┬──► growth [ratio a year], with its interval
//!                                                    └──► best so far, then extrapolated [SI]
//!                                                                      │
//! hosts of 2004: cycles a byte ───────────────────────► limits of a year [b/s] ──► bottleneck ──► verdict
//! ```
//!
//! The second curve takes the growth that the 2004 study assumed from the hosts that it measured:
//! what it forecast can then be held against what came.

mod forecast;
mod growth;
mod host;
mod limits;
mod record;
mod series;

pub use crate::table::TableError;
pub use forecast::{Assumed, Period, STUDY_2004, holds, periods};
pub use growth::Growth;
pub use host::{MeasuredHost, year_of};
pub use limits::{COMPONENTS, Component, Curves, Expected, ExpectedError, Extent, Limits};
pub use record::{FROM, Wanted, record};
pub use series::{Point, SHIPPED, Series, TrendError, Trends};
