//! Models of single devices and drivers: what a transaction, a frame or a packet costs them.
//!
//! They are closed forms: the engines of [`crate::path`] and [`crate::pipeline`] take their costs
//! as numbers, and these modules say where such numbers come from.

pub mod driver;
pub mod pcie;
pub mod segmentation;
