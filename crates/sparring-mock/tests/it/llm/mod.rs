//! LLM endpoints as agents meet them.

mod agent;
mod answers;
mod cases;
mod hostile;
mod journal;
mod language;
mod streams;
mod wrong;
