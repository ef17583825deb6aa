//! Evaluation of a program's constant pool for one launch.
use super::Row;
use crate::program::{ConstantRow, LaunchConstant, Program};

/// What the constant rows of a program may refer to.
#[derive(Copy, Clone, Debug)]
pub struct LaunchValues<'a> {
    /// The kernel's parameter block (missing bytes read as 0).
    pub parameters: &'a [u8],
    /// Address of each module-scope variable; of local ones the offset in local memory.
    pub globals: &'a [u64],
    /// For each kernel parameter the offset in local memory; only local pointers' are used.
    pub local_arguments: &'a [u32],
    /// 1, 2 or 3.
    pub work_dim: u32,
    /// Work-items in each dimension.
    pub global_size: [u64; 3],
    /// Global offset.
    pub global_offset: [u64; 3],
    /// Enqueued work-group size.
    pub local_size: [u32; 3],
}

impl LaunchValues<'_> {
    fn word(&self, offset: u32) -> u32 {
        let bytes = self.parameters.get(offset as usize..).unwrap_or(&[]);
        let mut word = [0; 4];
        for (to, from) in word.iter_mut().zip(bytes) {
            *to = *from;
        }
        u32::from_le_bytes(word)
    }

    fn launch(&self, constant: LaunchConstant, width: u32) -> u32 {
        let half = |v: u64, high: bool| if high { (v >> 32) as u32 } else { v as u32 };
        match constant {
            LaunchConstant::WorkDim => self.work_dim,
            LaunchConstant::GlobalSize { dim, high } => half(self.global_size[dim as usize % 3], high),
            LaunchConstant::GlobalOffset { dim, high } => half(self.global_offset[dim as usize % 3], high),
            LaunchConstant::EnqueuedLocalSize(dim) => self.local_size[dim as usize % 3],
            LaunchConstant::NumGroups(dim) => {
                let d = dim as usize % 3;
                self.global_size[d].div_ceil(self.local_size[d].max(1) as u64) as u32
            }
            LaunchConstant::EnqueuedNumSubGroups => {
                self.local_size.iter().map(|&n| n as u64).product::<u64>().div_ceil(width.max(1) as u64) as u32
            }
            LaunchConstant::MaxSubGroupSize => width,
            LaunchConstant::Zero => 0,
        }
    }
}

/// The rows of the program's constant pool, broadcast.
pub fn evaluate_constants<const W: usize>(program: &Program, values: &LaunchValues<'_>) -> Vec<Row<W>> {
    let half = |v: u64, word: u8| if word == 0 { v as u32 } else { (v >> 32) as u32 };
    let evaluate = |row: &ConstantRow| match *row {
        ConstantRow::Immediate(v) => v,
        ConstantRow::Parameter(offset) => values.word(offset),
        ConstantRow::GlobalAddress(n, word) => half(values.globals.get(n as usize).copied().unwrap_or(0), word),
        ConstantRow::LocalArgument(n) => values.local_arguments.get(n as usize).copied().unwrap_or(0),
        ConstantRow::Launch(constant) => values.launch(constant, program.width),
    };
    program.constants.iter().map(|row| Row([evaluate(row); W])).collect()
}
