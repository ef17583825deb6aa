//! The log of commands: each finished command is one line of JSON, appended in one write, so that whatever happens to
//! the process at most the command in flight is lost.
use super::command::Done;
use super::event::Times;
use crate::cl::command_name;
use crate::error::ClError;
use crate::sync::Mutex;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

/// Version of the lines' format.
const VERSION: u32 = 1;

/// Where lines go; nowhere without `WARPSCOPE_OUT`.
pub struct Recorder {
    file: Option<Mutex<Log>>,
    /// Number of the context within the process.
    context: u32,
}

struct Log {
    file: File,
    /// The last line could not be written whole.
    broken: bool,
}

/// A finished command.
pub struct CommandLine<'a> {
    /// Number in the context's order of arrival.
    pub sequence: u64,
    /// Command type.
    pub command: u32,
    /// Its times.
    pub times: Times,
    /// What it did.
    pub done: &'a Done,
}

impl Recorder {
    /// Appends to `$WARPSCOPE_OUT/<pid>.jsonl`.
    pub fn from_environment() -> Recorder {
        static CONTEXTS: AtomicU32 = AtomicU32::new(0);
        let context = CONTEXTS.fetch_add(1, Ordering::Relaxed);
        let Some(directory) = std::env::var_os("WARPSCOPE_OUT").filter(|d| !d.is_empty()) else {
            return Recorder { file: None, context };
        };
        let path = Path::new(&directory).join(format!("{}.jsonl", std::process::id()));
        let opened =
            std::fs::create_dir_all(&directory).and_then(|()| File::options().create(true).append(true).open(&path));
        let kept = opened.inspect_err(|e| eprintln!("warpscope: no record is kept: {}: {e}", path.display()));
        let log = kept.ok().map(|file| Mutex::new(Log { file, broken: false }));
        Recorder { file: log, context }
    }

    /// Appends a finished command.
    pub fn append(&self, line: &CommandLine<'_>) {
        if self.file.is_none() {
            return;
        }
        let CommandLine { sequence, command, times, done } = line;
        let mut text = format!(
            "{{\"version\":{VERSION},\"context\":{},\"sequence\":{sequence},\"command\":\"{}\",\"queued_ps\":{},\"submit_ps\":{},\
             \"start_ps\":{},\"end_ps\":{},\"bytes\":{}",
            self.context,
            command_name(*command),
            times.queued,
            times.submit,
            times.start,
            times.end,
            done.bytes
        );
        if let Some(launch) = done.launch.as_ref().and_then(|l| serde_json::to_string(l).ok()) {
            text.push_str(",\"launch\":");
            text.push_str(&launch);
        }
        text.push_str("}\n");
        self.write(&text);
    }

    /// Appends a command that failed.
    pub fn append_failure(&self, sequence: u64, command: u32, error: &ClError) {
        let why = serde_json::Value::from(error.why.as_ref());
        self.write(&format!(
            "{{\"version\":{VERSION},\"context\":{},\"sequence\":{sequence},\"command\":\"{}\",\"status\":{},\"error\":{why}}}\n",
            self.context,
            command_name(command),
            error.code
        ));
    }

    fn write(&self, text: &str) {
        let Some(log) = &self.file else { return };
        let mut log = log.lock();
        // What was cut short must not spoil the next line.
        let line = if log.broken { format!("\n{text}") } else { text.to_string() };
        let written = log.file.write_all(line.as_bytes());
        if let Err(e) = &written
            && !log.broken
        {
            // A full disk must not stop the program.
            eprintln!("warpscope: the record of commands has gaps: it cannot be written: {e}");
        }
        log.broken = written.is_err();
    }
}
