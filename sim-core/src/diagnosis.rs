//! From a fault to a sentence: kernel, source line, work-item.
use crate::grid::Grid;
use crate::{LaunchError, Place};
use warpscope_exec::exec::{Fault, Group, Warp};
use warpscope_exec::program::Program;

/// Where a warp is: at operation `pc`.
pub(crate) fn place<const W: usize>(
    program: &Program,
    grid: &Grid,
    group: &Group,
    warp: &Warp<W>,
    pc: u32,
    lane: Option<u32>,
) -> Box<Place> {
    let line = program.lines.get(pc as usize).copied().unwrap_or_default();
    Box::new(Place {
        global_id: lane.map(|l| grid.global_id(group, warp.sub_group * W as u32 + l)),
        group: group.id,
        sub_group: warp.sub_group,
        operation: (pc, program.ops.get(pc as usize).map_or("end of the program", |op| op.op.mnemonic())),
        file: program.files.get(line.file as usize).cloned().unwrap_or_default(),
        line: line.line,
    })
}

pub(crate) fn fault<const W: usize>(
    program: &Program,
    grid: &Grid,
    group: &Group,
    warp: &Warp<W>,
    pc: u32,
    fault: Fault,
) -> LaunchError {
    let lane = fault.lane();
    LaunchError::Fault { kernel: program.name.clone(), fault, place: place(program, grid, group, warp, pc, lane) }
}

/// A warp whose `pc` lies behind the last operation.
pub(crate) fn ran_off<const W: usize>(program: &Program, grid: &Grid, group: &Group, warp: &Warp<W>) -> LaunchError {
    let what = "the end of the program without an exit";
    fault(program, grid, group, warp, warp.pc, Fault::Trap { what })
}
