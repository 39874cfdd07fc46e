//! The stdio transport.

use super::requirements;

requirements! {}
