//! What was launched.
use super::{Section, grouped};
use crate::{Entry, work_size};
use warpscope_sim::{Convention, LaunchRecord, Mode};

pub(super) fn section(entry: &Entry, record: &LaunchRecord) -> Option<Section> {
    let mut s = Section::new("Launch");
    let work = &record.counters.work;
    s.row("Kernel", &record.kernel, "", "Name of the kernel.");
    s.row("Machine", &entry.configuration, "", "Machine description and overrides.");
    s.row("Configuration digest", &record.configuration, "", "Equal exactly where every parameter of the machine is.");
    let mode = match record.mode {
        Mode::Functional => "functional",
        Mode::Timing => "timing",
    };
    s.row("Mode", mode, "", "Whether time was simulated.");
    if record.mode == Mode::Timing {
        let caches = match record.convention {
            Convention::Cold => "cold",
            Convention::Warm => "warm",
        };
        s.row("Caches at the start", caches, "", "Cold: empty. Warm: as earlier launches and transfers left them.");
    }
    s.row("Work size", work_size(record), "work-items", "Global size, and work-group size behind the slash.");
    s.row("Work-groups", grouped(work.groups), "", "Work-groups run.");
    s.row("Warps", grouped(work.warps), "", "Warps (sub-groups) run.");
    s.row("Lanes", record.resources.width, "", "Work-items of a warp.");
    let program = &record.program;
    s.row("Registers", record.resources.registers, "per work-item", "Vector registers of a work-item.");
    if program.uniform_registers > 0 {
        s.row("Uniform registers", program.uniform_registers, "per warp", "Registers that hold one value for a warp.");
    }
    s.row(
        "Local memory",
        grouped(record.resources.local_bytes.into()),
        "B per group",
        "Static and dynamic local memory.",
    );
    if program.private_bytes > 0 {
        s.row("Private memory", program.private_bytes, "B per work-item", "Private arrays and spilled registers.");
    }
    if program.spill_bytes > 0 {
        s.row(
            "Spilled registers",
            program.spill_bytes,
            "B per work-item",
            "Private memory that holds spilled registers.",
        );
        s.notes.push(
            "Registers are spilled to private memory: a smaller work-item or more registers would avoid it.".into(),
        );
    }
    if record.mode == Mode::Timing {
        let time = &record.counters.time;
        s.row("Cycles", grouped(time.cycles_elapsed), "cycles", "From the start of the launch to its end.");
        s.row("Simulated time", format!("{:.3}", time.nanoseconds * 1e-3), "us", "Duration of the launch.");
        let overhead = time.head_cycles + time.tail_cycles;
        s.row(
            "Head and tail",
            grouped(overhead),
            "cycles",
            "Before the first work-group's dispatch and after the last one's end.",
        );
        if overhead * 2 > time.cycles_elapsed {
            s.notes.push(
                "The launch itself takes more than half of the time: more work a launch would use the machine better."
                    .into(),
            );
        }
    }
    Some(s)
}
