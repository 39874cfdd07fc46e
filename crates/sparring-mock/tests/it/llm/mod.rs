//! LLM endpoints, for agents.

mod agent;
mod all_apis;
mod answers;
mod cases;
mod faults;
mod hostile;
mod journal;
mod language;
mod side_requests;
mod streams;
