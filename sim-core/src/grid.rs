//! Work-groups of a launch, in dispatch order: x runs fastest.
use warpscope_exec::exec::Group;

use crate::Geometry;

/// The grid of work-groups.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Grid {
    geometry: Geometry,
    count: u64,
}

impl Grid {
    pub fn new(geometry: Geometry) -> Grid {
        // Cannot overflow: checked before the launch.
        Grid { geometry, count: geometry.groups.iter().product() }
    }

    /// Work-groups in all.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Id of work-group number `index`.
    pub fn id(&self, index: u64) -> [u32; 3] {
        let [x, y, _] = self.geometry.groups;
        [(index % x) as u32, (index / x % y) as u32, (index / (x * y)) as u32]
    }

    /// Size of a work-group: what is left of the global size in the last one of a dimension.
    pub fn size(&self, id: [u32; 3]) -> [u32; 3] {
        std::array::from_fn(|d| {
            let local = self.geometry.local[d];
            let left = self.geometry.global[d] - u64::from(id[d]) * u64::from(local);
            left.min(u64::from(local)) as u32
        })
    }

    /// Makes `group` the work-group `index`, with zeroed local memory. Returns its number of sub-groups.
    pub fn begin(&self, group: &mut Group, index: u64, width: u32) -> u32 {
        group.id = self.id(index);
        group.size = self.size(group.id);
        group.sub_groups = items(group.size).div_ceil(width);
        group.local.fill(0);
        group.sub_groups
    }

    /// Global id of work-item `linear` of a group.
    pub fn global_id(&self, group: &Group, linear: u32) -> [u64; 3] {
        let [x, y, _] = group.size.map(|s| s.max(1));
        let local = [linear % x, linear / x % y, linear / (x * y)];
        std::array::from_fn(|d| {
            let base = u64::from(group.id[d]) * u64::from(self.geometry.local[d]);
            self.geometry.offset[d] + base + u64::from(local[d])
        })
    }
}

/// Work-items of a group.
pub(crate) fn items(size: [u32; 3]) -> u32 {
    size.iter().product()
}

/// A group without a place in the grid yet, with `local_bytes` of local memory.
pub(crate) fn empty_group(local_bytes: u32, reserved: u32) -> Group {
    Group { id: [0; 3], size: [1; 3], sub_groups: 0, local: vec![0; local_bytes as usize], reserved }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remainder_groups_are_smaller_and_ids_include_the_offset() {
        let grid = Grid::new(Geometry {
            work_dim: 2,
            offset: [100, 7, 0],
            global: [10, 5, 1],
            local: [4, 2, 1],
            groups: [3, 3, 1],
        });
        assert_eq!(grid.count(), 9);
        let mut group = empty_group(0, 0);
        assert_eq!(grid.begin(&mut group, 8, 8), 1);
        assert_eq!((group.id, group.size), ([2, 2, 0], [2, 1, 1]));
        assert_eq!(grid.global_id(&group, 1), [100 + 8 + 1, 7 + 4, 0]);
        grid.begin(&mut group, 3, 8);
        assert_eq!((group.id, group.size), ([0, 1, 0], [4, 2, 1]));
        assert_eq!(grid.global_id(&group, 6), [102, 7 + 3, 0]);
    }
}
