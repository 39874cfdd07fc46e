//! Lifecycle, versioning and discovery.

use super::requirements;

requirements! {}
