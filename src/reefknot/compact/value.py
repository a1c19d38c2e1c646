"""How likely the agent is to need a token of a result again: the published 13-feature logistic model.

Weights stand in `value_weights.json` beside this file, with their source. Lengths and positions count code points.
The value of a token in a result is the model's probability; there are no other numbers in it.
"""

import json
import math
import re
from collections.abc import Mapping, Set
from dataclasses import dataclass
from functools import cache
from importlib import resources

__all__ = ["ResultContext", "ValueModel", "load_model"]

_EXTENSION = re.compile(r"\.[A-Za-z]{1,5}\Z")
_HEX = re.compile(r"[0-9A-Fa-f]{8,}\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultContext:
    """What the model knows about the result that a token stands in.

    `input_text` is the arguments of the last call before the result; `user_text` the last user prompt;
    `results_after` counts results from this one to the end, itself included; `reused` holds tokens that
    the agent wrote after some result had introduced them.
    """

    length: int
    input_text: str
    user_text: str
    results_after: int
    reused: Set[str]


class ValueModel:
    """P(the agent writes this token again), from standardised features; linear in time."""

    def __init__(self, intercept: float, features: Mapping[str, tuple[float, float, float]]) -> None:
        # Standardisation is folded into one slope per feature and one constant.
        self._slope = {name: beta / deviation for name, (_, deviation, beta) in features.items()}
        self._constant = intercept - sum(mean * beta / deviation for mean, deviation, beta in features.values())
        self._static: dict[str, float] = {}

    def values(self, counts: Mapping[str, tuple[int, int]], context: ResultContext) -> dict[str, float]:
        """The value of each token of one result; `counts[token] == (occurrences, first position)`."""
        slope = self._slope
        length = max(1, context.length)
        base = (
            self._constant
            + slope["log_distance"] * math.log(1 + context.results_after)
            + slope["log_result_length"] * math.log(length)
        )
        per_position = slope["position"] / length
        log_count, in_input = slope["log_count"], slope["in_input"]
        in_user, reused = slope["in_user"], slope["reused"]
        input_text, user_text, known = context.input_text, context.user_text, context.reused
        static, exp, log = self._static, math.exp, math.log
        values: dict[str, float] = {}
        for token, (count, first) in counts.items():
            own = static.get(token)
            if own is None:
                own = static[token] = self._own(token)
            z = base + own + log_count * log(1 + count) + per_position * first
            if token in input_text:
                z += in_input
            if token in user_text:
                z += in_user
            if token in known:
                z += reused
            values[token] = 1 / (1 + exp(-z))
        return values

    def _own(self, token: str) -> float:
        """The part that depends on the token alone."""
        slope = self._slope
        digits = sum(map(str.isdigit, token))
        return (
            slope["digit"] * (digits > 0)
            + slope["path"] * ("/" in token or "\\" in token)
            + slope["extension"] * (_EXTENSION.search(token) is not None)
            + slope["hex"] * (_HEX.match(token) is not None)
            + slope["log_length"] * math.log(len(token))
            + slope["digit_share"] * (digits / len(token))
        )


@cache
def _weights() -> tuple[float, dict[str, tuple[float, float, float]]]:
    data = json.loads(resources.files("reefknot.compact").joinpath("value_weights.json").read_text("utf-8"))
    return data["intercept"], {name: tuple(row) for name, row in data["features"].items()}


def load_model() -> ValueModel:
    """The model that ships with the product; a new object, so that its cache ends with its user."""
    return ValueModel(*_weights())
