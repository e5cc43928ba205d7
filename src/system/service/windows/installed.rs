//! Tests of the installed and running service. They are part of the installer's test (`.ci/windows-installer`), which
//! installs the service and says when each of them runs.

use std::mem::size_of_val;
use std::time::Duration;

use windows_service::service::{
    Service, ServiceAccess, ServiceActionType, ServiceControlAccept, ServiceFailureResetPeriod, ServiceSidType,
    ServiceStartType,
};
use windows_service::service_manager::{ServiceManager, ServiceManagerAccess};
use windows_sys::Win32::System::Services::{
    ControlService, QueryServiceConfig2W, SERVICE_CONFIG_DELAYED_AUTO_START_INFO, SERVICE_CONFIG_PRESHUTDOWN_INFO,
    SERVICE_CONTROL_PARAMCHANGE, SERVICE_STATUS,
};

use super::NAME;
use super::controller::{FORGET_FAILURES_AFTER, RESTART_AFTER, SHUTDOWN_LIMIT};

fn service() -> Service {
    let manager = ServiceManager::local_computer(None::<&str>, ServiceManagerAccess::CONNECT).unwrap();
    let access = ServiceAccess::QUERY_CONFIG | ServiceAccess::QUERY_STATUS | ServiceAccess::PAUSE_CONTINUE;
    manager.open_service(NAME, access).unwrap()
}

/// One number from the service's optional configuration.
fn number(service: &Service, level: u32) -> Option<u32> {
    let (mut buffer, mut needed) = ([0_u32; 64], 0);
    let length = u32::try_from(size_of_val(&buffer)).unwrap();
    // SAFETY: the buffer has the given length and the alignment of the structures of both levels, which begin with a
    // number.
    let got =
        unsafe { QueryServiceConfig2W(service.raw_handle(), level, buffer.as_mut_ptr().cast(), length, &mut needed) };
    (got != 0).then_some(buffer[0])
}

#[test]
#[ignore = "of the running service: .ci/windows-installer runs it"]
fn the_running_service_accepts_stop_shutdown_pre_shutdown_and_a_change_of_parameters() {
    let accepted = service().query_status().unwrap().controls_accepted;
    println!("accepts {accepted:?}");
    let wanted = ServiceControlAccept::STOP
        | ServiceControlAccept::SHUTDOWN
        | ServiceControlAccept::PRESHUTDOWN
        | ServiceControlAccept::PARAM_CHANGE;
    assert_eq!(accepted, wanted);
}

#[test]
#[ignore = "of the installed service: .ci/windows-installer runs it"]
fn the_installed_service_starts_with_the_system_and_waits_for_its_end_at_a_shutdown() {
    let service = service();
    assert_eq!(service.query_config().unwrap().start_type, ServiceStartType::AutoStart);
    let limit = number(&service, SERVICE_CONFIG_PRESHUTDOWN_INFO).map(|limit| Duration::from_millis(limit.into()));
    println!("a shutdown waits for {limit:?}");
    assert_eq!(limit, Some(SHUTDOWN_LIMIT));
}

#[test]
#[ignore = "of the installed service, on Windows itself: wine takes these and answers no question about them"]
fn the_installed_service_is_delayed_restarted_after_failures_and_has_an_identity_of_its_own() {
    let service = service();
    assert_eq!(number(&service, SERVICE_CONFIG_DELAYED_AUTO_START_INFO), Some(1));
    let recovery = service.get_failure_actions().unwrap();
    assert_eq!(recovery.reset_period, ServiceFailureResetPeriod::After(FORGET_FAILURES_AFTER));
    let actions = recovery.actions.unwrap();
    assert_eq!(actions.iter().map(|action| action.delay).collect::<Vec<_>>(), RESTART_AFTER);
    assert!(actions.iter().all(|action| action.action_type == ServiceActionType::Restart), "{actions:?}");
    assert!(service.get_failure_actions_on_non_crash_failures().unwrap());
    assert_eq!(service.get_config_service_sid_info().unwrap(), ServiceSidType::Unrestricted);
}

#[test]
#[ignore = "of the running service: .ci/windows-installer runs it and looks for the reload in the log"]
fn the_running_service_is_told_that_its_parameters_have_changed() {
    let mut status = SERVICE_STATUS::default();
    // SAFETY: the handle is open for this control, and the status outlives the call.
    let told = unsafe { ControlService(service().raw_handle(), SERVICE_CONTROL_PARAMCHANGE, &mut status) };
    assert!(told != 0, "{}", std::io::Error::last_os_error());
}
