//! Parts that the L1 and the L2 slices are made of: tags with replacement, and miss registers.

mod mshr;
mod replacement;
mod tags;

pub use mshr::{MshrId, Mshrs};
pub use tags::{Entry, SetIndex, Tags, TagsSpec};
