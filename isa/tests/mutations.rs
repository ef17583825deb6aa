//! Damaged modules end in an error or in a program: never in a panic, an endless loop or a huge allocation.
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use warpscope_isa::compile;
use warpscope_isa::frontend::decode;

/// Time for the whole test; each seed takes as many modules as fit.
const BUDGET: Duration = Duration::from_secs(12);
/// No damaged module may take longer than this.
const LIMIT: Duration = Duration::from_secs(20);

fn modules(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).expect("the workloads are in the repository") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            modules(&path, out);
        } else if path.extension().is_some_and(|e| e == "spv") {
            out.push(path);
        }
    }
}

/// Splitmix64.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// A few random changes: bits, words, exchanged words, words taken from elsewhere, missing ends and middles.
fn damage(words: &mut Vec<u32>, rng: &mut Rng) {
    for _ in 0..1 + rng.below(3) {
        let n = words.len();
        if n < 8 {
            return;
        }
        // Mostly behind the header.
        let (a, b) = (5 + rng.below(n - 5), 5 + rng.below(n - 5));
        match rng.below(9) {
            0 => words[a] ^= 1 << rng.below(32),
            1 => words[a] ^= 1 << rng.below(6),
            2 => words.swap(a, b),
            3 => words[a] = words[b],
            4 => words[a] = [0, 1, 3, 64, 0xffff, 0x1_0000, u32::MAX, 0x7fff_ffff][rng.below(8)],
            5 => words[a] = words[a].wrapping_add(1),
            6 if rng.below(4) == 0 => words.truncate(a),
            7 if rng.below(4) == 0 => {
                words.drain(a.min(b)..a.max(b).min(a.min(b) + 40));
            }
            _ => {
                // Another instruction's opcode with the same number of words.
                words[a] = words[a] & 0xffff_0000 | words[b] & 0xffff;
            }
        }
    }
}

fn attempt(name: &str, words: &[u32], seed: u64, machine: &warpscope_configs::MachineSpec) -> bool {
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let begin = Instant::now();
    let result = std::panic::catch_unwind(|| {
        let Ok(module) = decode(&bytes) else { return false };
        (0..module.kernels.len()).filter(|&k| compile(&module, k, machine, 32).is_ok()).count() > 0
    });
    assert!(begin.elapsed() < LIMIT, "{name}, seed {seed}: {:?}", begin.elapsed());
    match result {
        Ok(compiled) => compiled,
        Err(_) => panic!("{name}, seed {seed}: a panic (see above)"),
    }
}

#[test]
fn damaged_modules_do_no_harm() {
    let machine = warpscope_configs::load("nvidia-h200", &[] as &[&str]).expect("a preset").spec;
    let mut list = Vec::new();
    modules(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../workloads"), &mut list);
    list.sort();
    // `WARPSCOPE_RANDOM=first..last` runs other seeds, without the time limit.
    let wanted = std::env::var("WARPSCOPE_RANDOM").ok();
    let (first, last) = match wanted.as_deref().and_then(|t| t.split_once("..")) {
        Some((a, b)) => (a.parse().expect("a seed"), b.parse().expect("a seed")),
        None => (0, 1_000_000),
    };
    let begin = Instant::now();
    let (mut tried, mut compiled) = (0, 0);
    for seed in first..last {
        let path = &list[(seed as usize * 7919) % list.len()];
        let bytes = std::fs::read(path).expect("readable");
        let mut words: Vec<u32> = bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect();
        damage(&mut words, &mut Rng(seed));
        tried += 1;
        compiled += usize::from(attempt(&path.display().to_string(), &words, seed, &machine));
        if wanted.is_none() && begin.elapsed() > BUDGET {
            break;
        }
    }
    // The damage must not be so great that nothing gets past the front end.
    assert!(wanted.is_some() || tried >= 20 && compiled * 20 >= tried, "{compiled} of {tried} compiled");
}
