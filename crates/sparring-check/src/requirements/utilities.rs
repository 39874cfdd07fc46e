//! Utilities of both sides: ping, progress, cancellation, tasks, subscriptions, input requests, caching, logging.

use super::requirements;

requirements! {}
