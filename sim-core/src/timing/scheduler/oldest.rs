//! Always the oldest.
use super::by_age;

#[derive(Clone, Debug, Default)]
pub(crate) struct Oldest;

impl Oldest {
    #[inline]
    pub fn pick(&mut self, ready: u64, ages: &[u64]) -> usize {
        by_age::<true>(ready, ages)
    }
}
