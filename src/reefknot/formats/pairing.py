"""Whether a transcript's calls and results can be paired by their ids, whatever format they came in."""

from collections.abc import Iterator, Sequence

from reefknot.model.message import Message

__all__ = ["find_faults"]


def find_faults(messages: Sequence[Message]) -> tuple[str, ...]:
    """Why pairs cannot be trusted: an id used by two calls or two results, a result before its call.

    A call without a result and a result without a call are no faults: they are passed through.
    """
    return tuple(dict.fromkeys(_faults(messages)))


def _faults(messages: Sequence[Message]) -> Iterator[str]:
    called = {call.id for message in messages for call in message.calls}
    seen_calls: set[str] = set()
    seen_results: set[str] = set()
    for message in messages:
        for call in message.calls:
            if call.id in seen_calls:
                yield f"two calls have the id {call.id!r}"
            seen_calls.add(call.id)
        for result in message.results:
            if result.call_id in seen_results:
                yield f"two results have the id {result.call_id!r}"
            if result.call_id in called and result.call_id not in seen_calls:
                yield f"the result {result.call_id!r} stands before its call"
            seen_results.add(result.call_id)
