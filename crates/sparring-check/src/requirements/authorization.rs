//! Authorization.

use super::requirements;

requirements! {}
