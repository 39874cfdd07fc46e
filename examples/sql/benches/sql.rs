//! What each of the four ways to test the server costs, side by side.

fn main() {}
