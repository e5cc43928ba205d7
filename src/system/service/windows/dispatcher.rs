//! The process that the service controller started as the service.
//!
//! The controller sends its requests on a separate thread and gets an immediate answer. The work runs in the service's
//! main function. While the service starts or stops, a third thread sends a checkpoint every two seconds, so that the
//! controller waits for as long as the drain takes.

use std::ffi::OsString;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use windows_service::service::{
    ServiceControl, ServiceControlAccept, ServiceExitCode, ServiceState, ServiceStatus, ServiceType,
};
use windows_service::service_control_handler::{self, ServiceControlHandlerResult, ServiceStatusHandle};
use windows_service::{define_windows_service, service_dispatcher};

use super::super::Request;
use super::{NAME, ServiceError};

/// The interval of checkpoints during a start or stop, and the time in which the controller expects the next one.
const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(2);
const WAIT_HINT: Duration = Duration::from_secs(20);

/// The work of the service. Takes the controller's requests, and a function to call once it runs. Returns the exit
/// code.
pub type Job = Box<dyn FnOnce(UnboundedReceiver<Request>, Box<dyn FnMut() + Send>) -> u8 + Send>;

/// A static, because the controller passes no argument to the main function.
static JOB: Mutex<Option<Job>> = Mutex::new(None);

/// Runs the job as the service that the controller has just started. Returns once it has stopped.
///
/// # Errors
/// The process was not started by the service controller.
pub fn dispatch(job: Job) -> Result<(), ServiceError> {
    *locked(&JOB) = Some(job);
    define_windows_service!(service_entry, service_main);
    service_dispatcher::start(NAME, service_entry).map_err(|_| {
        ServiceError::new(
            "`run --service` is for the service controller only: use docsyncd service start, or docsyncd run in a console",
        )
    })
}

fn service_main(_: Vec<OsString>) {
    let Some(job) = locked(&JOB).take() else { return };
    let (sender, requests) = unbounded_channel();
    let told = Arc::new(Told::default());
    let for_handler = Arc::clone(&told);
    let handler = move |control| {
        let request = match ControlMeaning::by(&control) {
            ControlMeaning::NotOurs => return ServiceControlHandlerResult::NotImplemented,
            ControlMeaning::Nothing => return ServiceControlHandlerResult::NoError,
            ControlMeaning::For(request) => request,
        };
        if request == Request::Stop {
            for_handler.tell(Phase::Stopping);
        }
        // Fails only if the service is already ending.
        let _ = sender.send(request);
        ServiceControlHandlerResult::NoError
    };
    let Ok(handle) = service_control_handler::register(NAME, handler) else { return };
    told.begin(handle);
    let for_checkpoints = Arc::clone(&told);
    let checkpoints = thread::spawn(move || for_checkpoints.repeat());
    let for_job = Arc::clone(&told);
    let code = job(requests, Box::new(move || for_job.tell(Phase::Running)));
    told.tell(Phase::Stopped(code));
    let _ = checkpoints.join();
}

/// The meaning of a control for the daemon.
#[derive(Debug, PartialEq, Eq)]
enum ControlMeaning {
    For(Request),
    Nothing,
    NotOurs,
}

impl ControlMeaning {
    /// A system that shuts down sends only Preshutdown to a service that accepts both controls, and waits for the time
    /// that was set at installation.
    fn by(control: &ServiceControl) -> Self {
        match control {
            ServiceControl::Stop | ServiceControl::Shutdown | ServiceControl::Preshutdown => Self::For(Request::Stop),
            ServiceControl::ParamChange => Self::For(Request::Reload),
            ServiceControl::Interrogate => Self::Nothing,
            _ => Self::NotOurs,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Starting,
    Running,
    Stopping,
    Stopped(u8),
}

/// The state that the controller was last told.
struct Told {
    state: Mutex<ToldState>,
    changed: Condvar,
}

struct ToldState {
    handle: Option<ServiceStatusHandle>,
    phase: Phase,
    checkpoint: u32,
}

impl Default for Told {
    fn default() -> Self {
        let state = ToldState { handle: None, phase: Phase::Starting, checkpoint: 0 };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }
}

impl Told {
    fn begin(&self, handle: ServiceStatusHandle) {
        let mut state = locked(&self.state);
        state.handle = Some(handle);
        state.report();
    }

    /// Reports a new phase. Phases only go forward: a service that was told to stop while it started never becomes
    /// running.
    fn tell(&self, phase: Phase) {
        let mut state = locked(&self.state);
        let backwards = match state.phase {
            Phase::Starting => false,
            Phase::Running => phase == Phase::Starting,
            Phase::Stopping => !matches!(phase, Phase::Stopped(_)),
            Phase::Stopped(_) => true,
        };
        if !backwards && state.phase != phase {
            state.phase = phase;
            state.checkpoint = 0;
            state.report();
            self.changed.notify_all();
        }
    }

    /// Repeats the report during a start or stop, until the service has stopped.
    fn repeat(&self) {
        let mut state = locked(&self.state);
        while !matches!(state.phase, Phase::Stopped(_)) {
            state = if state.phase == Phase::Running {
                self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
            } else {
                let waited = self.changed.wait_timeout(state, CHECKPOINT_INTERVAL);
                let (mut state, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
                if timeout.timed_out() && matches!(state.phase, Phase::Starting | Phase::Stopping) {
                    state.report();
                }
                state
            };
        }
    }
}

impl ToldState {
    fn report(&mut self) {
        let pending = matches!(self.phase, Phase::Starting | Phase::Stopping);
        if pending {
            self.checkpoint = self.checkpoint.saturating_add(1);
        }
        let status = ServiceStatus {
            service_type: ServiceType::OWN_PROCESS,
            current_state: match self.phase {
                Phase::Starting => ServiceState::StartPending,
                Phase::Running => ServiceState::Running,
                Phase::Stopping => ServiceState::StopPending,
                Phase::Stopped(_) => ServiceState::Stopped,
            },
            controls_accepted: if self.phase == Phase::Running {
                ServiceControlAccept::STOP
                    | ServiceControlAccept::SHUTDOWN
                    | ServiceControlAccept::PRESHUTDOWN
                    | ServiceControlAccept::PARAM_CHANGE
            } else {
                ServiceControlAccept::empty()
            },
            exit_code: match self.phase {
                // ERROR_SERVICE_SPECIFIC_ERROR with our own number, which the recovery actions count as a failure.
                Phase::Stopped(code @ 1..) => ServiceExitCode::ServiceSpecific(u32::from(code)),
                _ => ServiceExitCode::Win32(0),
            },
            checkpoint: if pending { self.checkpoint } else { 0 },
            wait_hint: if pending { WAIT_HINT } else { Duration::ZERO },
            process_id: None,
        };
        if let Some(handle) = &self.handle {
            // Fails only for a wrong handle or number, and nobody else can be told.
            let _ = handle.set_service_status(status);
        }
    }
}

/// A thread that panicked leaves no inconsistent state here.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_is_drained_alike_and_new_parameters_are_a_reload() {
        for end in [ServiceControl::Stop, ServiceControl::Shutdown, ServiceControl::Preshutdown] {
            assert_eq!(ControlMeaning::by(&end), ControlMeaning::For(Request::Stop), "{end:?}");
        }
        assert_eq!(ControlMeaning::by(&ServiceControl::ParamChange), ControlMeaning::For(Request::Reload));
        assert_eq!(ControlMeaning::by(&ServiceControl::Interrogate), ControlMeaning::Nothing);
        assert_eq!(ControlMeaning::by(&ServiceControl::NetBindAdd), ControlMeaning::NotOurs);
    }

    #[test]
    fn a_service_that_was_told_to_stop_runs_no_more_whatever_the_start_says_later() {
        let told = Told::default();
        told.tell(Phase::Stopping);
        told.tell(Phase::Running);
        assert_eq!(locked(&told.state).phase, Phase::Stopping);
        told.tell(Phase::Stopped(2));
        told.tell(Phase::Stopping);
        assert_eq!(locked(&told.state).phase, Phase::Stopped(2));
    }
}
