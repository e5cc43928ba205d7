//! What people and other programs meet while docsyncd runs.

pub mod alerts;
pub mod login;
pub mod web;
pub mod webhook;
