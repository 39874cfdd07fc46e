//! Checks of servers in memory.

mod clean;
