//! Failures: what failed, what is known of the scope that it belongs to, and what is recorded of it.

mod failed;
mod outages;
mod recorded;
mod scope;
mod work;

pub use outages::Outages;
pub use scope::{Admission, Pauses, ProbeChoice, Scope, after};

pub(super) use failed::{Failed, is_of_another_patient, other_document, other_patient};
pub(super) use outages::{Tell, for_so_long};
pub(super) use recorded::{
    RENDERED_AGAIN, another_may, begins_anew, believe_refusal, failed_call, gave_up, is_there, may_have_arrived, moved,
    record_failure, wait, write_until_durable,
};
