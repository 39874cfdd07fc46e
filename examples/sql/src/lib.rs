//! A database as an MCP server, with rules about which statements may run.
