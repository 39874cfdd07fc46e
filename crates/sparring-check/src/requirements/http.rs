//! Streamable HTTP and HTTP+SSE.

use super::requirements;

requirements! {}
