//! The pipe: clang | opt | llvm-spirv.
//!
//! It runs inside of programs that may have set up anything: a preloaded library stays out of the tools, a tool that ends
//! early must not end the program (SIGPIPE), and children may be reaped by others (ECHILD).
use crate::{CompileError, Compiled, Request, Standard, Tools, flush, hints, thaw};
use nix::errno::Errno;
use nix::sys::signal::{SigSet, Signal};
use std::io::{Read, Write};
use std::path::{Component, Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Inlining and clean-up that the translator needs: it breaks on what the full optimiser makes.
const PASSES: &str = "-passes=always-inline,cgscc(inline),function(sroa,early-cse<memssa>,instsimplify,simplifycfg,gvn,dce,sroa),globaldce";
/// With optimisation off only what the translator cannot do without.
const PASSES_DISABLED: &str = "-passes=always-inline,globaldce";

/// The text that clang reads.
pub(crate) fn full_source(request: &Request<'_>) -> String {
    let name = request.name.replace('\\', "\\\\").replace('"', "\\\"").replace(['\n', '\r'], " ");
    format!("{}\n#line 1 \"{name}\"\n{}\n", request.prelude, request.source)
}

/// Writes headers given as text to a directory of their own.
pub(crate) fn write_headers(headers: &[(String, String)]) -> Result<Option<tempfile::TempDir>, CompileError> {
    if headers.is_empty() {
        return Ok(None);
    }
    let io = |what: &str, error| CompileError::Io { what: what.to_string(), error };
    let directory = tempfile::tempdir().map_err(|e| io("making a directory for headers", e))?;
    for (name, text) in headers {
        let relative = Path::new(name);
        if name.is_empty() || !relative.components().all(|c| matches!(c, Component::Normal(_))) {
            return Err(CompileError::HeaderName(name.clone()));
        }
        let path = directory.path().join(relative);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(|e| io("writing a header", e))?;
        }
        std::fs::write(&path, text).map_err(|e| io("writing a header", e))?;
    }
    Ok(Some(directory))
}

/// The arguments for clang.
pub(crate) fn clang_arguments(request: &Request<'_>, headers: Option<&Path>) -> Vec<String> {
    let options = request.options;
    let mut out: Vec<String> =
        ["-target", "spirv64", "-x", "cl", "-gline-tables-only", "-Wno-unused-command-line-argument"]
            .map(String::from)
            .to_vec();
    // The module must not depend on where the compiler happens to run.
    out.push("-fdebug-compilation-dir=.".into());
    if options.opt_disable {
        out.extend(["-O0", "-Xclang", "-disable-O0-optnone"].map(String::from));
    } else {
        out.extend(["-O2", "-Xclang", "-disable-llvm-passes"].map(String::from));
    }
    if request.contract || options.mad_enable {
        // The driver does not know this value; unlike plain `fast` it keeps `#pragma OPENCL FP_CONTRACT OFF`.
        out.extend(["-Xclang", "-ffp-contract=fast-honor-pragmas"].map(String::from));
    }
    if options.kernel_arg_info {
        out.push("-fno-discard-value-names".into());
    }
    if !request.extensions.is_empty() {
        out.push(format!("-Xclang=-cl-ext={}", request.extensions));
    }
    let version = match options.standard {
        Standard::Cl10 => 100,
        Standard::Cl11 => 110,
        Standard::Cl12 => 120,
        Standard::Cl20 | Standard::Cpp10 => 200,
        Standard::Cl30 | Standard::Cpp2021 => 300,
    };
    out.push(format!("-D__OPENCL_VERSION__={version}"));
    let include = |d: &Path| format!("-I{}", d.display());
    out.extend(headers.map(include));
    out.extend(request.include.iter().map(|d: &PathBuf| include(d)));
    out.extend(options.clang_arguments());
    out
}

/// What the preprocessor makes of the source; used to notice changed headers.
pub(crate) fn preprocess(
    tools: &Tools,
    name: &str,
    arguments: &[String],
    text: &str,
    timeout: Duration,
) -> Result<String, CompileError> {
    let clang = Command::new(&tools.clang);
    let arguments = arguments.iter().map(String::as_str).chain(["-E", "-", "-o", "-"]).collect();
    let out = pipe(vec![Stage { tool: "clang", command: clang, arguments }], name, text, timeout)?;
    Ok(String::from_utf8_lossy(&out.bytes).into_owned())
}

/// Runs the whole pipe.
pub(crate) fn run(
    tools: &Tools,
    name: &str,
    arguments: &[String],
    text: &str,
    timeout: Duration,
) -> Result<Compiled, CompileError> {
    let disabled = arguments.iter().any(|a| a == "-O0");
    let passes = if disabled { PASSES_DISABLED } else { PASSES };
    // From 1.4 on a loop can say by how many trips it is to be unrolled (PartialCount); other programs stay at what
    // more consumers read.
    let unrolls = text.contains("unroll");
    let version = if unrolls { "--spirv-max-version=1.4" } else { "--spirv-max-version=1.3" };
    let mut translate = vec!["--spirv-ext=+all", version];
    if arguments.iter().any(|a| a == "-cl-kernel-arg-info") {
        translate.push("--preserve-ocl-kernel-arg-type-metadata-through-string");
    }
    translate.extend(["-o", "-", "-"]);
    // Assembly where it is read here as well; bitcode takes less time.
    let hinted = hints::may_have(text);
    let form = if hinted { "-S" } else { "-c" };
    let clang = || Stage {
        tool: "clang",
        command: Command::new(&tools.clang),
        arguments: arguments.iter().map(String::as_str).chain(["-emit-llvm", form, "-", "-o", "-"]).collect(),
    };
    let opt = |passes, form: &[&'static str]| Stage {
        tool: "opt",
        command: Command::new(&tools.opt),
        arguments: [&["-opaque-pointers=0", passes], form, &["-o", "-", "-"]].concat(),
    };
    let translator =
        || Stage { tool: "llvm-spirv", command: Command::new(&tools.llvm_spirv), arguments: translate.clone() };
    let out = match pipe(vec![clang(), opt(passes, &[]), translator()], name, text, timeout) {
        Err(CompileError::Tool { tool, log, .. }) if tool == "llvm-spirv" && thaw::is_about(&log) => {
            let before = pipe(vec![clang(), opt(passes, &["-S"])], name, text, timeout)?;
            let thawed = thaw::thaw(&String::from_utf8_lossy(&before.bytes));
            let after = pipe(vec![opt("-passes=function(instsimplify)", &[]), translator()], name, &thawed, timeout)?;
            Output { bytes: after.bytes, first: before.first, log: before.log + &after.log }
        }
        other => other?,
    };
    if out.bytes.len() < 20 || out.bytes.len() % 4 != 0 {
        let status = format!("{} bytes came out", out.bytes.len());
        return Err(CompileError::Tool { tool: "llvm-spirv".into(), name: name.into(), status, log: out.log });
    }
    let flushes = arguments.iter().any(|a| a == "-cl-denorms-are-zero");
    let spirv = if flushes { flush::mark(out.bytes) } else { out.bytes };
    let spirv = if hinted { hints::mark(spirv, &String::from_utf8_lossy(&out.first)) } else { spirv };
    Ok(Compiled { spirv, log: out.log, cached: false })
}

struct Stage<'a> {
    tool: &'static str,
    command: Command,
    arguments: Vec<&'a str>,
}

struct Output {
    bytes: Vec<u8>,
    /// What the first stage gave the second.
    first: Vec<u8>,
    log: String,
}

/// How a tool ended.
enum End {
    Status(ExitStatus),
    /// It did, but the program ignores its children or has reaped this one.
    Unknown,
    /// It had not when the time was over.
    Late,
}

struct Running {
    tool: &'static str,
    child: Child,
    log: JoinHandle<Vec<u8>>,
}

/// Kills and reaps what is left of a pipe.
struct Pipe(Vec<Running>);

impl Drop for Pipe {
    fn drop(&mut self) {
        for stage in &mut self.0 {
            // An error here means that the process has ended already.
            let _ = stage.child.kill();
            let _ = stage.child.wait();
        }
    }
}

/// What a stage reads.
enum Input {
    Text(String),
    Tool(ChildStdout),
}

/// Hands a stage its input, on a thread of its own; gives it back.
fn feed(input: Input, stdin: Option<ChildStdin>) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut broken_pipe = SigSet::empty();
        broken_pipe.add(Signal::SIGPIPE);
        let mut bytes = Vec::new();
        if broken_pipe.thread_block().is_err() {
            return bytes;
        }
        match input {
            Input::Text(text) => bytes = text.into_bytes(),
            // What was read before an error is still of use: the exit status decides.
            Input::Tool(mut stdout) => _ = stdout.read_to_end(&mut bytes),
        }
        // A tool that stops reading has said why on its own error stream.
        let _ = stdin.map(|mut s| s.write_all(&bytes));
        bytes
    })
}

/// Runs the stages with each one's output as the next one's input; the first that fails is the one reported.
fn pipe(stages: Vec<Stage<'_>>, name: &str, text: &str, timeout: Duration) -> Result<Output, CompileError> {
    let deadline = Instant::now() + timeout;
    let mut pipe = Pipe(Vec::new());
    let mut feeds = Vec::new();
    let mut input = Some(Input::Text(text.to_string()));
    for mut stage in stages {
        stage.command.env_remove("LD_PRELOAD").args(&stage.arguments);
        stage.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let program = stage.command.get_program().to_string_lossy().into_owned();
        let mut child =
            stage.command.spawn().map_err(|error| CompileError::Io { what: format!("starting {program}"), error })?;
        feeds.extend(input.take().map(|input| feed(input, child.stdin.take())));
        input = child.stdout.take().map(Input::Tool);
        let log = read_all(child.stderr.take());
        pipe.0.push(Running { tool: stage.tool, child, log });
    }
    let last = match input {
        Some(Input::Tool(stdout)) => Some(stdout),
        _ => None,
    };
    let result = read_all(last);
    let mut failure = None;
    let mut logs = Vec::new();
    for mut stage in std::mem::take(&mut pipe.0) {
        let end = wait(&mut stage.child, deadline);
        let end = end.map_err(|error| CompileError::Io { what: format!("waiting for {}", stage.tool), error })?;
        if matches!(end, End::Late) {
            pipe.0.push(stage);
            failure = Some(CompileError::Timeout { name: name.into(), limit: timeout });
            continue;
        }
        let log = String::from_utf8_lossy(&stage.log.join().unwrap_or_default()).into_owned();
        if let (End::Status(status), None) = (&end, &failure)
            && !status.success()
        {
            failure = Some(failed(stage.tool, name, *status, log.clone()));
        }
        logs.push((stage.tool, log));
    }
    drop(pipe);
    let bytes = result.join().unwrap_or_default();
    let mut fed: Vec<Vec<u8>> = feeds.into_iter().map(|f| f.join().unwrap_or_default()).collect();
    if let Some(failure) = failure {
        return Err(failure);
    }
    // Also where nobody knows how it ended, a tool that gave the next one nothing has failed: `opt` takes that for a module.
    if let Some((_, (tool, log))) = fed[1..].iter().zip(&logs).find(|(bytes, _)| bytes.is_empty()) {
        return Err(match (*tool, log.is_empty()) {
            ("clang", false) => CompileError::Source { name: name.into(), log: log.clone() },
            _ => CompileError::Tool {
                tool: (*tool).into(),
                name: name.into(),
                status: "nothing came out".into(),
                log: log.clone(),
            },
        });
    }
    let first = if fed.len() > 1 { fed.swap_remove(1) } else { Vec::new() };
    Ok(Output { bytes, first, log: logs.into_iter().map(|l| l.1).collect() })
}

fn failed(tool: &str, name: &str, status: ExitStatus, log: String) -> CompileError {
    // Exit code 1 is what clang ends with when the source is wrong; anything else is a fault of the tool.
    if tool == "clang" && status.code() == Some(1) {
        return CompileError::Source { name: name.into(), log };
    }
    CompileError::Tool { tool: tool.into(), name: name.into(), status: status.to_string(), log }
}

fn wait(child: &mut Child, deadline: Instant) -> std::io::Result<End> {
    let mut pause = Duration::from_micros(200);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(End::Status(status)),
            Ok(None) => {}
            Err(e) if e.raw_os_error() == Some(Errno::ECHILD as i32) => return Ok(End::Unknown),
            Err(e) => return Err(e),
        }
        if Instant::now() >= deadline {
            return Ok(End::Late);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(5));
    }
}

fn read_all(stream: Option<impl Read + Send + 'static>) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read before an error is still of use: the exit status decides.
        let _ = stream.map(|mut s| s.read_to_end(&mut bytes));
        bytes
    })
}
