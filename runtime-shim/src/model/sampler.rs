//! Samplers.
use super::{Context, Handle};
use crate::error::Result;
use std::sync::Arc;

/// A sampler.
pub struct Sampler {
    pub(crate) handle: Handle,
    /// Its context.
    pub context: Arc<Context>,
    /// Whether coordinates run from 0 to 1.
    pub normalised: bool,
    /// `CL_ADDRESS_…`.
    pub addressing: u32,
    /// `CL_FILTER_…`.
    pub filter: u32,
    /// The list given at its creation, terminator included; empty if none was given.
    pub property_list: Vec<u64>,
}

impl Sampler {
    /// A sampler.
    pub fn new(
        context: Arc<Context>,
        normalised: bool,
        addressing: u32,
        filter: u32,
        property_list: Vec<u64>,
    ) -> Result<Sampler> {
        Ok(Sampler { handle: Handle::reserve()?, context, normalised, addressing, filter, property_list })
    }
}
