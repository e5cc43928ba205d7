//! Failures: what failed, what is known of the scope that it belongs to, and what is recorded of it.

mod failed;
mod recorded;
mod scope;

pub use failed::Outages;
pub use scope::{Admission, Pauses, ProbeChoice, Scope, after};

pub(super) use failed::{
    Failed, Tell, failed_call, for_so_long, gave_up, is_of_another_patient, is_there, may_have_arrived, other_document,
    other_patient,
};
pub(super) use recorded::{
    RENDERED_AGAIN, another_may, begins_anew, believe_refusal, moved, record_failure, wait, write_until_durable,
};
