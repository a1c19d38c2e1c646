"""reefknot keeps an LLM agent's context small, with nothing lost.

The public door: names only. Each is imported when it is first used, so that `import reefknot` costs next to nothing.
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from reefknot.version import VERSION as __version__

if TYPE_CHECKING:
    from reefknot.errors import ReefknotError
    from reefknot.surfaces.library import CompactedFile, LoadedTranscript, compact, load, open_store, restore, retrieve

__all__ = [
    "CompactedFile",
    "LoadedTranscript",
    "ReefknotError",
    "__version__",
    "compact",
    "load",
    "open_store",
    "restore",
    "retrieve",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'reefknot' has no attribute {name!r}")
    import importlib  # the interpreter has it loaded already; here it costs only a name

    home = "reefknot.errors" if name == "ReefknotError" else "reefknot.surfaces.library"
    return getattr(importlib.import_module(home), name)


class _Door(ModuleType):
    """A package whose function `compact` is not hidden by its sub-package of that name when that one is imported."""

    @property
    def compact(self) -> Any:
        return __getattr__("compact")

    @compact.setter
    def compact(self, _: ModuleType) -> None:
        """What the import system sets; `reefknot.compact.plan` and its like are found all the same."""


sys.modules[__name__].__class__ = _Door
