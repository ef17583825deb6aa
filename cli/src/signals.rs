//! Signals while a program runs on our behalf: what is meant for it reaches it, and we are still there to report.
use nix::sys::signal::{SigSet, Signal, kill};
use nix::unistd::Pid;
use std::io;
use std::process::{Command, ExitStatus};
use std::sync::{Arc, Mutex, PoisonError};

/// The program, until it has been waited for.
type Program = Arc<Mutex<Option<Pid>>>;

/// Runs a program to its end, whatever signals come meanwhile.
///
/// Ctrl-C goes to all processes of the terminal's foreground, so the program has it already. A request to end (`kill`, a
/// batch system) comes to us alone and is passed on.
pub fn outlived(command: &mut Command) -> io::Result<ExitStatus> {
    let ours = SigSet::from_iter([Signal::SIGINT, Signal::SIGQUIT, Signal::SIGTERM, Signal::SIGHUP]);
    // The program inherits what is blocked, so it starts first. Blocked, signals wait for the thread that takes them.
    let mut child = command.spawn()?;
    ours.thread_block()?;
    let program: Program = Arc::new(Mutex::new(Some(Pid::from_raw(child.id() as i32))));
    let seen = program.clone();
    std::thread::spawn(move || {
        while let Ok(signal) = ours.wait() {
            let program = seen.lock().unwrap_or_else(PoisonError::into_inner);
            if let (Signal::SIGTERM | Signal::SIGHUP, Some(pid)) = (signal, *program) {
                // It may have ended by itself meanwhile.
                let _ = kill(pid, signal);
            }
        }
    });
    wait(&mut child, &program)
}

/// Waits without giving the process id free while a signal may be sent to it.
fn wait(child: &mut std::process::Child, program: &Program) -> io::Result<ExitStatus> {
    use nix::sys::wait::{Id, WaitPidFlag, waitid};
    let pid = Pid::from_raw(child.id() as i32);
    waitid(Id::Pid(pid), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT)?;
    *program.lock().unwrap_or_else(PoisonError::into_inner) = None;
    child.wait()
}
