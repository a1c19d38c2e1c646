"""How many tokens must go: from a window's policy, or from a target that was named.

Window policy as published for the fact-rail family: a compaction begins at the smaller of a share of the window and a
fixed size, and aims at 5/6 of that, so that the next one is far away; what lies past the trigger itself must go
whatever it is.
"""

from dataclasses import dataclass
from typing import Literal

from reefknot.errors import UsageError
from reefknot.model.settings import Settings

__all__ = ["MAX_OVERHEAD_SHARE", "Aim", "Pressure", "measure", "trigger_of"]

TARGET_SHARE = 5 / 6  # of the trigger
MAX_OVERHEAD_SHARE = 0.15  # of the window: what a host sends beside the transcript cannot be more


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """What was asked for; exactly one of `max_tokens`, `keep` and `window` is set.

    max_tokens: size of the whole transcript afterwards, tokens. keep: share of the original result tokens that may
    stay, 0..1.
    window: size of the model's context, tokens; `used` is how much of it is in use (default: the transcript). force:
    also below the window's trigger.
    """

    max_tokens: int | None = None
    keep: float | None = None
    window: int | None = None
    used: int | None = None
    force: bool = False

    def __post_init__(self) -> None:
        named = [self.max_tokens is not None, self.keep is not None, self.window is not None]
        if sum(named) != 1:
            raise UsageError("compact: name one target, --max-tokens, --keep or --window")
        if self.keep is not None and not 0 <= self.keep <= 1:
            raise UsageError(f"compact: --keep is a share from 0 to 1, not {self.keep:g}")
        for name in ("max_tokens", "window", "used"):
            value: int | None = getattr(self, name)
            if value is not None and value < 0:
                raise UsageError(f"compact: --{name.replace('_', '-')} is a number of tokens, not {value}")
        if self.window == 0:
            raise UsageError("compact: --window is the size of the context window, at least 1 token")
        if self.force and self.window is None:
            raise UsageError("compact: --force goes with --window")
        if self.used is not None and self.window is None:
            raise UsageError("compact: --used goes with --window")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pressure:
    """`target` tokens may stay, of the results or of the whole transcript (`scope`); past `hard` the oldest go first.

    `is_over` is False when nothing has to be done; `reason` then says why.
    """

    scope: Literal["results", "transcript"]
    target: int
    hard: int
    is_over: bool
    reason: str = ""


def trigger_of(window: int, settings: Settings) -> int:
    """Tokens in use at which a compaction begins.

    >>> trigger_of(200_000, Settings()), trigger_of(1_000_000, Settings())
    (120000, 180000)
    """
    return min(int(window * settings.trigger_percent / 100), settings.trigger_tokens)


def measure(aim: Aim, settings: Settings, *, tokens: int, result_tokens: int, original_result_tokens: int) -> Pressure:
    """What must go.

    `tokens` and `result_tokens` are those of the transcript as it is, `original_result_tokens` those before any
    compaction, secrets masked.
    """
    if aim.keep is not None:
        target = int(aim.keep * original_result_tokens)
        over = result_tokens > target and aim.keep < 1
        return Pressure(
            scope="results", target=target, hard=target, is_over=over, reason="" if over else "within the target"
        )
    if aim.max_tokens is not None:
        over = tokens > aim.max_tokens
        return Pressure(
            scope="transcript",
            target=aim.max_tokens,
            hard=aim.max_tokens,
            is_over=over,
            reason="" if over else "within the target",
        )
    assert aim.window is not None
    trigger = trigger_of(aim.window, settings)
    used = aim.used if aim.used is not None else tokens
    overhead = min(max(0, used - tokens), int(aim.window * MAX_OVERHEAD_SHARE))
    target, hard = max(0, int(trigger * TARGET_SHARE) - overhead), max(0, trigger - overhead)
    if used < trigger and not aim.force:
        return Pressure(scope="transcript", target=target, hard=hard, is_over=False, reason="below the trigger")
    over = tokens > target
    return Pressure(
        scope="transcript", target=target, hard=hard, is_over=over, reason="" if over else "within the target"
    )
