"""Every setting: type, default, unit and one line of help. `policy` loads them; all layers may read them."""

from dataclasses import dataclass, field
from typing import Any

__all__ = ["Settings", "setting"]


def setting(
    default: Any,
    help: str,
    *,
    unit: str = "",
    choices: tuple[str, ...] = (),
    minimum: float | None = None,
    maximum: float | None = None,
    project: bool = True,
) -> Any:
    """A field of `Settings`. `project=False`: a file in a project cannot set it."""
    return field(
        default=default,
        metadata={
            "help": help,
            "unit": unit,
            "choices": choices,
            "minimum": minimum,
            "maximum": maximum,
            "project": project,
        },
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings with their defaults; a new knob needs a user who asked and a test of both ends."""

    preserve_recent: int = setting(6, "newest messages that are never changed", unit="messages", minimum=0)
    trigger_percent: float = setting(
        60.0,
        "share of the context window at which `compact --window` begins",
        unit="% of the window",
        minimum=1,
        maximum=100,
    )
    trigger_tokens: int = setting(
        180_000, "size at which `compact --window` begins, whatever the window", unit="tokens", minimum=1
    )
    min_reduction_ratio: float | None = setting(
        None,
        "least share of the tokens that a compaction under --window must free to be applied; "
        "not set: the window's need decides",
        minimum=0,
        maximum=1,
    )
    protect_tools: tuple[str, ...] = setting(
        (), "tools whose results and arguments are never changed", unit="tool names"
    )
    counter: str = setting(
        "o200k", "token counter: exact o200k, or a calibrated estimate", choices=("o200k", "estimate")
    )
    model_family: str = setting(
        "o200k", "model family whose tokens are reported, by a stated factor", choices=("o200k", "claude-3", "claude-4")
    )
    plain_copies: bool = setting(False, "also write each original as a plain file, for agents that can only read files")
    plain_copies_days: int = setting(30, "age after which a plain copy is removed", unit="days", minimum=1)
    grep_timeout_seconds: float = setting(
        5.0, "longest time that `retrieve --grep` may take", unit="seconds", minimum=0.1, maximum=600
    )
    store: str = setting("", "where originals go: sqlite:///PATH; empty: $REEFKNOT_HOME/store.sqlite3", project=False)
