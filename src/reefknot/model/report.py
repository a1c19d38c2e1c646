"""What a compaction did, in numbers and in words; the JSON shapes are those of the contract."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from reefknot.model.message import Json

__all__ = ["Action", "ChangedPart", "Compacted", "Explanation", "Form", "Report"]

Form = Literal["kept", "noted", "excerpted", "repeated", "evicted"]
Action = Literal["compacted", "unchanged"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedPart:
    """One text that was shortened: where it stands and the reference of its original.

    `message` counts the transcript's messages from 0.
    """

    message: int
    call: str | None
    part: Literal["result", "argument", "text"]
    ref: str

    def to_json(self) -> dict[str, Json]:
        return {"message": self.message, "call": self.call, "part": self.part, "ref": self.ref}


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why a result or an argument was kept or cut. `tokens_*` are of this part alone."""

    call: str
    part: Literal["result", "argument"]
    form: Form
    reason: str
    tokens_before: int
    tokens_after: int
    ref: str | None = None
    lines_kept: int | None = None
    lines_total: int | None = None

    def to_json(self) -> dict[str, Json]:
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The outcome of one compaction.

    `target_tokens` is the size asked for: of the tool results under `keep`, of the whole transcript otherwise; None
    when nothing was asked because the window's trigger was not reached. `counter` names what made every token number
    here.
    """

    format: str
    action: Action
    reason: str
    tokens_before: int
    tokens_after: int
    result_tokens_before: int
    result_tokens_after: int
    target_tokens: int | None
    reached: bool
    counter: str
    messages: int
    calls: int
    results: dict[str, int]
    arguments: dict[str, int]
    references: Sequence[ChangedPart] = ()
    first_changed_message: int | None = None
    masked_secrets: int = 0
    judge: str = "rules"
    seconds: float = 0.0
    notes: Sequence[str] = ()

    def to_json(self) -> dict[str, Json]:
        """The object of `compact --json`."""
        return {
            "format": self.format,
            "action": self.action,
            "reason": self.reason,
            "tokens_before": self.tokens_before,
            "tokens_after": self.tokens_after,
            "result_tokens_before": self.result_tokens_before,
            "result_tokens_after": self.result_tokens_after,
            "target_tokens": self.target_tokens,
            "reached": self.reached,
            "counter": self.counter,
            "messages": self.messages,
            "calls": self.calls,
            "results": {**self.results},
            "arguments": {**self.arguments},
            "references": [part.to_json() for part in self.references],
            "first_changed_message": self.first_changed_message,
            "masked_secrets": self.masked_secrets,
            "judge": self.judge,
            "seconds": round(self.seconds, 3),
            "notes": list(self.notes),
        }

    def line(self) -> str:
        """The one line that each compaction prints."""
        share = self.tokens_after / self.tokens_before if self.tokens_before else 1.0
        return (
            f"{self.action}: {self.tokens_before:,} -> {self.tokens_after:,} tokens ({share:.0%} remain), "
            f"judge {self.judge}, {len(self.references):,} references" + (f" ({self.reason})" if self.reason else "")
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """A compaction's result.

    `messages`: for a transcript that was given as Python values, the new list; the same values where nothing changed.
    `data`: for a transcript that was given as bytes, the new file. `session`: the host's name for the session.
    """

    report: Report
    messages: list[Json] = field(default_factory=list[Json])
    data: bytes | None = None
    session: str = ""
    explanations: tuple[Explanation, ...] = ()
