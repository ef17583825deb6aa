#!/usr/bin/env python3
"""Makes a reference for an NVIDIA GPU: event times and the profiler's counters in the columns of docs/reference.md.

    tools/profile_ncu.py workloads/full.toml --out measured.csv

Needs Linux, NVIDIA's driver with OpenCL, ncu (Nsight Compute, with permission to read counters) and, to have the machine
code that OpenCL runs, ptxas (CUDA toolkit); without ptxas the driver compiles. ncu does not see OpenCL, so:

1. `warpscope measure --platform NVIDIA --ptx` takes event times and keeps the PTX that OpenCL made of each program;
2. ptxas turns the PTX into machine code;
3. ncu profiles `warpscope measure --cuda`, which runs that code with the same arguments: one launch a case, caches
   flushed and invalidated before every pass, clocks left alone;
4. counters and event times are joined by case. Rows without counters keep their event time.
"""
import argparse
import csv
import json
import os
import re
import shutil
import subprocess
import sys

STALL = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
STALLS = """barrier branch_resolving dispatch_stall drain imc_miss lg_throttle long_scoreboard math_pipe_throttle membar
    mio_throttle misc no_instruction not_selected selected short_scoreboard sleeping tex_throttle wait""".split()

# Column of the reference: metric of the profiler.
COLUMNS = {
    "cold_ns": "gpu__time_duration.sum",
    "cold_cycles_elapsed": "sm__cycles_elapsed.max",
    "cold_cycles_active_max": "sm__cycles_active.max",
    "cold_cycles_active_avg": "sm__cycles_active.avg",
    "warp_inst": "smsp__inst_executed.sum",
    "thread_inst": "smsp__thread_inst_executed.sum",
    "ipc_active": "sm__inst_executed.avg.per_cycle_active",
    "issue_active_pct": "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "occ_theoretical_pct": "sm__maximum_warps_per_active_cycle_pct",
    "occ_achieved_pct": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "inst_alu": "sm__inst_executed_pipe_alu.sum",
    "inst_fma": "sm__inst_executed_pipe_fma.sum",
    "inst_fp64": "sm__inst_executed_pipe_fp64.sum",
    "inst_xu": "sm__inst_executed_pipe_xu.sum",
    "inst_lsu": "sm__inst_executed_pipe_lsu.sum",
    "inst_uniform": "sm__inst_executed_pipe_uniform.sum",
    "ld_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "ld_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "st_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "st_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l2_read_sectors": "lts__t_sectors_op_read.sum",
    "l2_write_sectors": "lts__t_sectors_op_write.sum",
    "l2_hit_pct": "lts__t_sector_hit_rate.pct",
    "dram_read_bytes": "dram__bytes_read.sum",
    "dram_write_bytes": "dram__bytes_write.sum",
    "smem_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "smem_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
}
# Metrics from which columns are computed.
LOAD_HITS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum"
ATOMS = ["l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum"]
COMPUTED = ["ld_hit_pct", "atom_red_sectors", "top_stall", "top_stall_per_issue"]
# Columns that the program itself writes; the profiler's time takes the place of the event's.
FROM_EVENTS = ["case", "group", "class", "size", "kernel", "groups", "local"]
FROM_CUDA = ["regs", "smem_bytes", "private_bytes"]


def run(command, **kw):
    print("+", " ".join(command)[:300], flush=True)
    return subprocess.run(command, **kw)


def read(path):
    if not os.path.exists(path):
        return []
    with open(path, newline="") as f:
        return list(csv.DictReader(f))


def number(text):
    """A field of ncu's CSV; None where it is no number."""
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        return None
    return value if value == value else None


def profile_rows(text):
    """The launches in ncu's raw page: metric to field."""
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        return []
    rows = list(csv.reader(line for line in lines[start:] if line.startswith('"')))
    return [dict(zip(rows[0], row)) for row in rows[2:]]


def columns(launch):
    """A launch of the profiler as columns of the reference."""
    value = {m: number(launch.get(m, "")) for m in launch}
    out = {c: value.get(m) for c, m in COLUMNS.items()}
    sectors, hits = out["ld_sectors"], value.get(LOAD_HITS)
    if sectors and hits is not None:
        out["ld_hit_pct"] = 100.0 * hits / sectors
    atoms = [value.get(m) for m in ATOMS]
    if None not in atoms:
        out["atom_red_sectors"] = sum(atoms)
    # What a warp that cannot issue waits for: neither being chosen nor waiting for its turn.
    stalls = {s: value.get(STALL.format(s)) or 0.0 for s in STALLS if s not in ("selected", "not_selected")}
    if any(stalls.values()):
        top = max(stalls, key=stalls.get)
        out["top_stall"], out["top_stall_per_issue"] = top, stalls[top]
    return out


def show(value):
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}" if value != int(value) else str(int(value))
    return str(value)


def assemble(o, folder):
    """Machine code of every program; gives those for which the driver has to do it."""
    ptxas = shutil.which(o.ptxas)
    programs = sorted(n for n in os.listdir(folder) if n.endswith(".ptx"))
    if not ptxas:
        print(f"{o.ptxas} is not there: the driver compiles {len(programs)} programs itself")
        return
    for name in programs:
        path = os.path.join(folder, name)
        cubin = path[:-4] + ".cubin"
        if os.path.exists(cubin) and os.path.getmtime(cubin) >= os.path.getmtime(path):
            continue
        arch = o.arch or re.search(r"^\.target\s+(sm_\w+)", open(path).read(), re.M).group(1)
        # What NVIDIA's OpenCL does: address 0 stays free, so that registers and local memory equal its own.
        done = subprocess.run([ptxas, f"-arch={arch}", "--reserve-null-pointer", "-o", cubin, path],
                              capture_output=True, text=True)
        if done.returncode:
            print(f"ptxas {name}: {done.stderr.strip()[:400]}; the driver compiles it itself")


def profile(o, names, folder):
    """Profiles `names`; gives case to columns. A launch that fails ends its run; the rest is tried in another."""
    metrics = sorted({*COLUMNS.values(), LOAD_HITS, *ATOMS, *(STALL.format(s) for s in STALLS)})
    known = known_metrics(o, metrics)
    out, notes = {}, []
    todo = [names[i:i + o.chunk] for i in range(0, len(names), o.chunk)]
    while todo:
        part = todo.pop(0)
        log, launched = os.path.join(o.work, "ncu.csv"), os.path.join(o.work, "launched.csv")
        for path in (log, launched):
            if os.path.exists(path):
                os.remove(path)
        command = [o.ncu, "--clock-control", "none", "--cache-control", "all", "--replay-mode", "kernel", "--csv", "--page",
                   "raw", "--print-units", "base", "--log-file", log, "--metrics", ",".join(known), o.warpscope,
                   "measure", o.suite, "--cuda", folder, "--device", str(o.device), "--samples", "0", "--warm",
                   "--out", launched]
        for name in part:
            command += ["--only", name]
        done = run(command, capture_output=True, text=True)
        launches = profile_rows(open(log).read()) if os.path.exists(log) else []
        rows = {r["case"]: r for r in read(launched)}
        # Launches are in the order of the cases; a case that was not measured may have been launched or not.
        place = 0
        for name in part:
            row = rows.get(name)
            if row is None:
                failure = re.search(rf"^\d+/\d+ {re.escape(name)}: FAILED: (.*)$", done.stderr, re.M)
                notes.append(f"{name}: {failure.group(1) if failure else 'not launched'}")
                # Only a check of outputs fails after the launch.
                if failure and failure.group(1).startswith("argument "):
                    place += 1
                continue
            if place >= len(launches) or not launches[place].get("Kernel Name", "").startswith(row["kernel"]):
                notes.append(f"{name}: the profiler's launches do not match from here on")
                break
            out[name] = {**columns(launches[place]), **{c: row[c] for c in FROM_CUDA}}
            place += int(row["launches"])
        print(f"  {sum(n in out for n in part)} of {len(part)} cases profiled", flush=True)
        if not launches:
            text = (open(log).read() if os.path.exists(log) else "") + done.stdout + done.stderr
            notes.append("no launch was profiled: " + " ".join(text.split())[-1200:])
            if not out:
                break
        missing = [n for n in part if n not in out and not any(x.startswith(f"{n}:") for x in notes)]
        if missing and len(missing) < len(part):
            todo.insert(0, missing)
    return out, notes


def known_metrics(o, metrics):
    """Leaves out what this GPU's profiler does not have."""
    done = subprocess.run([o.ncu, "--query-metrics"], capture_output=True, text=True)
    names = set(re.findall(r"^\s*([a-z0-9_]+__\w+)", done.stdout, re.M))
    if len(names) < 100:
        return metrics
    # Ratios of the stalls and limits of the launch are computed by the profiler and not listed.
    dropped = [m for m in metrics if m.split(".")[0] not in names and "__average" not in m and not m.endswith("_pct")]
    if dropped:
        print("not known to this profiler:", ", ".join(dropped))
    return [m for m in metrics if m not in dropped]


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("suite")
    ap.add_argument("--out", required=True, help="the reference file")
    ap.add_argument("--only", action="append", default=[], help="cases, as `warpscope measure --only` takes them")
    ap.add_argument("--platform", default="NVIDIA")
    ap.add_argument("--device", type=int, default=0)
    ap.add_argument("--samples", type=int, default=15)
    ap.add_argument("--work", default="profile-work", help="folder for intermediate files")
    ap.add_argument("--warpscope", default="target/release/warpscope")
    ap.add_argument("--ncu", default="ncu")
    ap.add_argument("--ptxas", default="ptxas")
    ap.add_argument("--arch", help="architecture for ptxas; as the PTX says if left out (H200: sm_90a)")
    ap.add_argument("--chunk", type=int, default=30, help="cases in one run of the profiler")
    o = ap.parse_args()
    if not shutil.which(o.ncu):
        sys.exit(f"{o.ncu} is not there: install Nsight Compute or name it with --ncu")
    os.makedirs(o.work, exist_ok=True)
    events, ptx = os.path.join(o.work, "events.csv"), os.path.join(o.work, "ptx")
    command = [o.warpscope, "measure", o.suite, "--platform", o.platform, "--device", str(o.device), "--samples",
               str(o.samples), "--ptx", ptx, "--out", events]
    for name in o.only:
        command += ["--only", name]
    # Cases that cannot run here are named by the program; the others are of use.
    run(command)
    rows = read(events)
    if not rows:
        sys.exit("no case was measured")
    assemble(o, ptx)
    counters, notes = profile(o, [r["case"] for r in rows], ptx)
    header = FROM_EVENTS + ["event_cold_ns", "event_min_ns", "event_max_ns", "event_samples", *COLUMNS, *COMPUTED, *FROM_CUDA]
    with open(o.out, "w", newline="") as f:
        out = csv.DictWriter(f, header, restval="", lineterminator="\n")
        out.writeheader()
        for row in rows:
            line = {c: row[c] for c in FROM_EVENTS + ["event_min_ns", "event_max_ns", "event_samples"]}
            line["event_cold_ns"] = row["cold_ns"]
            line.update({c: show(v) for c, v in counters.get(row["case"], {}).items()})
            out.writerow(line)
    about = os.path.splitext(o.out)[0] + ".toml"
    shutil.copyfile(os.path.splitext(events)[0] + ".toml", about)
    version = subprocess.run([o.ncu, "--version"], capture_output=True, text=True).stdout
    version = re.search(r"Version (\S+)", version)
    with open(about, "a") as f:
        f.write(f"profiler = {json.dumps('ncu ' + (version.group(1) if version else ''))}\n")
        f.write(f"not_profiled = {json.dumps(notes)}\n")
    print(f"{o.out}: {len(rows)} cases, {len(counters)} with counters")
    for note in notes:
        print("  " + note)


if __name__ == "__main__":
    main()
