//! Facts that all rows of the graph tools share.

use super::error::render_error;
use crate::registry::{ToolDef, ToolHints, ToolReach, Toolset};

/// Hints of tools that only read.
pub(super) const READ: ToolHints =
    ToolHints { read_only: true, destructive: false, idempotent: true, open_world: false };
/// Hints of tools that add what is missing.
pub(super) const ADD: ToolHints =
    ToolHints { read_only: false, destructive: false, idempotent: true, open_world: false };
/// Hints of tools that add with every call.
pub(super) const APPEND: ToolHints =
    ToolHints { read_only: false, destructive: false, idempotent: false, open_world: false };
/// Hints of tools that replace.
pub(super) const SET: ToolHints =
    ToolHints { read_only: false, destructive: true, idempotent: false, open_world: false };
/// Hints of tools that remove.
pub(super) const DELETE: ToolHints =
    ToolHints { read_only: false, destructive: true, idempotent: true, open_world: false };

/// Base of the rows. Budgets keep most answers far below the maximum length.
pub(super) const BASE: ToolDef = ToolDef {
    toolset: Toolset::Graph,
    reach: ToolReach::OwnProject,
    render_error,
    max_chars: 110_000,
    ..ToolDef::BASE
};
