//! LLM endpoints, for agents.

mod agent;
mod answers;
mod cases;
mod faults;
mod hostile;
mod journal;
mod language;
mod streams;
