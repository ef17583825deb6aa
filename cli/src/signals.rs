//! Signals while a program runs on our behalf: what is meant for it reaches it, and we are still there to report.
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
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
    let program = Program::default();
    // Caught before the program can be seen; it starts with the default actions all the same, as exec resets handlers.
    let mut signals = Signals::new([SIGINT, SIGQUIT, SIGTERM, SIGHUP])?;
    let mut child = {
        // A signal that comes meanwhile is passed on once the program is there.
        let mut started = program.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = program.clone();
        std::thread::spawn(move || {
            for signal in signals.forever() {
                let program = seen.lock().unwrap_or_else(PoisonError::into_inner);
                if let (SIGTERM | SIGHUP, Some(pid)) = (signal, *program) {
                    // It may have ended by itself meanwhile.
                    let _ = kill(pid, Signal::try_from(signal).ok());
                }
            }
        });
        let child = command.spawn()?;
        *started = Some(Pid::from_raw(child.id() as i32));
        child
    };
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
