//! What holds for any text at all.

mod never_panics;
