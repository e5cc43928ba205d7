//! The service controller's side of the service: install, start, stop, query, remove.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use windows_service::service::{
    Service, ServiceAccess, ServiceAction, ServiceActionType, ServiceErrorControl, ServiceExitCode,
    ServiceFailureActions, ServiceFailureResetPeriod, ServiceInfo, ServiceSidType, ServiceStartType, ServiceState,
    ServiceStatus, ServiceType,
};
use windows_service::service_manager::{ServiceManager, ServiceManagerAccess};

use super::error::is_not_installed;
use super::{NAME, ServiceError, event_source};

/// The account that the system creates for this one service. It has only the rights that it is given.
const VIRTUAL_ACCOUNT: &str = r"NT SERVICE\docsyncd";

/// The pauses before the first, the second and every later restart after a failure; and the time without failure after
/// which they begin again.
pub(super) const RESTART_AFTER: [Duration; 3] =
    [Duration::from_secs(5), Duration::from_secs(60), Duration::from_secs(300)];
pub(super) const FORGET_FAILURES_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

/// How long a system that shuts down waits: for the drain (25 s) and a renewal of tokens in progress (75 s with the
/// default `api.timeout`).
pub(super) const SHUTDOWN_LIMIT: Duration = Duration::from_secs(120);

/// The exit code of a service that has not been started since the system was (ERROR_SERVICE_NEVER_STARTED).
const NEVER_STARTED: u32 = 1077;

/// The longest wait for a start or stop, and how often the state is checked.
const WAIT_LIMIT: Duration = Duration::from_secs(120);
const LOOK_INTERVAL: Duration = Duration::from_millis(200);

/// Installs the service, or updates the installed one but keeps its account, which somebody may have chosen. Returns
/// the optional settings that the system refused.
///
/// # Errors
/// The right to do that is missing, or the system refuses.
pub fn install(program: &Path, config: &Path) -> Result<Vec<String>, ServiceError> {
    let manager = manager(ServiceManagerAccess::CONNECT | ServiceManagerAccess::CREATE_SERVICE)?;
    let access = ServiceAccess::QUERY_CONFIG | ServiceAccess::CHANGE_CONFIG | ServiceAccess::START;
    let arguments = [OsStr::new("--config"), config.as_os_str(), OsStr::new("run"), OsStr::new("--service")];
    let mut info = ServiceInfo {
        name: NAME.into(),
        display_name: "docsyncd document synchronization".into(),
        service_type: ServiceType::OWN_PROCESS,
        start_type: ServiceStartType::AutoStart,
        error_control: ServiceErrorControl::Normal,
        executable_path: program.to_path_buf(),
        launch_arguments: arguments.map(OsString::from).to_vec(),
        dependencies: Vec::new(),
        account_name: None,
        account_password: None,
    };
    let service = match manager.open_service(NAME, access) {
        Ok(service) => {
            service.change_config(&info).map_err(|error| ServiceError::of("change the service", &error))?;
            service
        }
        Err(error) if is_not_installed(&error) => {
            info.account_name = Some(VIRTUAL_ACCOUNT.into());
            manager.create_service(&info, access).map_err(|error| ServiceError::of("install the service", &error))?
        }
        Err(error) => return Err(ServiceError::of("open the service", &error)),
    };
    event_source::register()?;
    Ok(complete(&service))
}

/// Applies the optional settings. Returns those that failed.
fn complete(service: &Service) -> Vec<String> {
    let description = "Files the documents of the dental cloud service into the practice's own systems.";
    let actions = RESTART_AFTER.map(|delay| ServiceAction { action_type: ServiceActionType::Restart, delay });
    let recovery = ServiceFailureActions {
        reset_period: ServiceFailureResetPeriod::After(FORGET_FAILURES_AFTER),
        reboot_msg: None,
        command: None,
        actions: Some(actions.to_vec()),
    };
    [
        ("a description", service.set_description(description)),
        ("the delayed start", service.set_delayed_auto_start(true)),
        ("the restarts after failures", service.update_failure_actions(recovery)),
        ("restarts after an exit code that says failure", service.set_failure_actions_on_non_crash_failures(true)),
        ("the time to finish before a shutdown", service.set_preshutdown_timeout(SHUTDOWN_LIMIT)),
        ("an identity of the service's own", service.set_config_service_sid_info(ServiceSidType::Unrestricted)),
    ]
    .into_iter()
    .filter_map(|(what, set)| set.err().map(|error| ServiceError::of(&format!("set {what}"), &error).to_string()))
    .collect()
}

/// Stops and removes the service, and its source in the Event Log. True if there was one.
///
/// # Errors
/// The right to do that is missing, or the service does not stop.
pub fn uninstall() -> Result<bool, ServiceError> {
    let access = ServiceAccess::QUERY_STATUS | ServiceAccess::STOP | ServiceAccess::DELETE;
    let service = match open(access) {
        Ok(service) => service,
        Err(Opening::NotInstalled) => {
            event_source::unregister();
            return Ok(false);
        }
        Err(Opening::Other(error)) => return Err(error),
    };
    stop_and_wait(&service)?;
    service.delete().map_err(|error| ServiceError::of("remove the service", &error))?;
    event_source::unregister();
    Ok(true)
}

/// The result of a start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Started {
    /// The service was stopped, and runs now.
    Now,
    /// The service was already running.
    Already,
}

/// Starts the service and waits until it runs.
///
/// # Errors
/// The service is not installed, the right is missing, or the service ended at once; the Event Log has the reason.
pub fn start() -> Result<Started, ServiceError> {
    let service = open(ServiceAccess::QUERY_STATUS | ServiceAccess::START)?;
    if asked(&service)?.current_state == ServiceState::Running {
        return Ok(Started::Already);
    }
    service.start::<&OsStr>(&[]).map_err(|error| ServiceError::of("start the service", &error))?;
    let status = wait(&service, |state| state != ServiceState::StartPending)?;
    match (status.current_state, status.exit_code) {
        (ServiceState::Running, _) => Ok(Started::Now),
        (_, code) => {
            let code = match code {
                ServiceExitCode::Win32(code) | ServiceExitCode::ServiceSpecific(code) => code,
            };
            Err(ServiceError::new(format!(
                "the service ended as soon as it was started (exit code {code}). The Event Log has the reason (log \
                 Application, source {NAME}); docsyncd check shows what is wrong"
            )))
        }
    }
}

/// The result of a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// The service was running, and has ended.
    Now,
    /// The service was not running.
    Already,
}

/// Stops the service and waits until it has ended.
///
/// # Errors
/// The service is not installed, the right is missing, or the service does not end.
pub fn stop() -> Result<Stopped, ServiceError> {
    stop_and_wait(&open(ServiceAccess::QUERY_STATUS | ServiceAccess::STOP)?)
}

/// Whether the service runs, and its status as text. `None` if it is not installed.
///
/// # Errors
/// The controller does not answer.
pub fn status() -> Result<Option<(bool, String)>, ServiceError> {
    let service = match open(ServiceAccess::QUERY_STATUS | ServiceAccess::QUERY_CONFIG) {
        Ok(service) => service,
        Err(Opening::NotInstalled) => return Ok(None),
        Err(Opening::Other(error)) => return Err(error),
    };
    let status = asked(&service)?;
    let config = service.query_config().map_err(|error| ServiceError::of("ask about the service", &error))?;
    let state = match status.current_state {
        ServiceState::Running => match status.process_id {
            Some(id) => format!("running, process {id}"),
            None => "running".to_owned(),
        },
        ServiceState::StartPending => "starting".to_owned(),
        ServiceState::StopPending => "stopping".to_owned(),
        ServiceState::Stopped => match status.exit_code {
            ServiceExitCode::Win32(0 | NEVER_STARTED) => "NOT RUNNING".to_owned(),
            ServiceExitCode::Win32(code) | ServiceExitCode::ServiceSpecific(code) => {
                format!("NOT RUNNING: it ended with {code}; the Event Log has the reason (Application, {NAME})")
            }
        },
        other => format!("{other:?}").to_lowercase(),
    };
    let starts = match config.start_type {
        ServiceStartType::AutoStart => "with the system",
        ServiceStartType::OnDemand => "by hand",
        ServiceStartType::Disabled => "never (disabled)",
        _ => "as a driver",
    };
    let account = config.account_name.unwrap_or_else(|| "LocalSystem".into());
    let text = format!(
        "service       {state}\nstarts        {starts}\naccount       {}\nprogram       {}\n",
        account.display(),
        config.executable_path.display()
    );
    Ok(Some((status.current_state == ServiceState::Running, text)))
}

/// The account of the installed service.
pub(super) fn account() -> Option<String> {
    let service = open(ServiceAccess::QUERY_CONFIG).ok()?;
    Some(service.query_config().ok()?.account_name?.to_string_lossy().into_owned())
}

fn manager(access: ServiceManagerAccess) -> Result<ServiceManager, ServiceError> {
    ServiceManager::local_computer(None::<&str>, access)
        .map_err(|error| ServiceError::of("talk to the service controller", &error))
}

enum Opening {
    NotInstalled,
    Other(ServiceError),
}

impl From<Opening> for ServiceError {
    fn from(error: Opening) -> Self {
        match error {
            Opening::NotInstalled => Self::new("the service is not installed: docsyncd service install"),
            Opening::Other(error) => error,
        }
    }
}

fn open(access: ServiceAccess) -> Result<Service, Opening> {
    let manager = manager(ServiceManagerAccess::CONNECT).map_err(Opening::Other)?;
    manager.open_service(NAME, access).map_err(|error| {
        if is_not_installed(&error) {
            Opening::NotInstalled
        } else {
            Opening::Other(ServiceError::of("open the service", &error))
        }
    })
}

fn asked(service: &Service) -> Result<ServiceStatus, ServiceError> {
    service.query_status().map_err(|error| ServiceError::of("ask about the service", &error))
}

fn stop_and_wait(service: &Service) -> Result<Stopped, ServiceError> {
    match asked(service)?.current_state {
        ServiceState::Stopped => return Ok(Stopped::Already),
        ServiceState::StopPending => {}
        ServiceState::StartPending => {
            wait(service, |state| state != ServiceState::StartPending)?;
            return stop_running(service);
        }
        _ => return stop_running(service),
    }
    wait(service, |state| state == ServiceState::Stopped).map(|_| Stopped::Now)
}

fn stop_running(service: &Service) -> Result<Stopped, ServiceError> {
    // The service may just have ended by itself.
    if let Err(error) = service.stop()
        && asked(service)?.current_state != ServiceState::Stopped
    {
        return Err(ServiceError::of("stop the service", &error));
    }
    wait(service, |state| state == ServiceState::Stopped).map(|_| Stopped::Now)
}

fn wait(service: &Service, reached: impl Fn(ServiceState) -> bool) -> Result<ServiceStatus, ServiceError> {
    let began = Instant::now();
    loop {
        let status = asked(service)?;
        if reached(status.current_state) {
            return Ok(status);
        }
        if began.elapsed() > WAIT_LIMIT {
            let seconds = WAIT_LIMIT.as_secs();
            return Err(ServiceError::new(format!(
                "the service is still not where it should be after {seconds} s: docsyncd service status"
            )));
        }
        thread::sleep(LOOK_INTERVAL);
    }
}
