"""Every error that the library raises, in one tree.

    ReefknotError
    ├── FormatError          a transcript cannot be read or written
    ├── StoreError           the store cannot be used
    │   ├── NotStored        a reference is not in this store; says whether it was removed, and when
    │   └── Corrupt          stored bytes do not match their digest
    ├── PatternError         a search pattern is wrong, or took longer than its limit
    ├── ConfigError          a setting has an unknown name or a value that is not allowed
    ├── UsageError           the call itself makes no sense (two targets at once, an output that exists)
    └── MissingExtra         an optional dependency is not installed

The library raises; only `surfaces` turn an error into one line or an unchanged answer.
"""

__all__ = [
    "ConfigError",
    "Corrupt",
    "FormatError",
    "MissingExtra",
    "NotStored",
    "PatternError",
    "ReefknotError",
    "StoreError",
    "UsageError",
]


class ReefknotError(Exception):
    """Base of all errors of this library; its text says what, where and what to do."""


class FormatError(ReefknotError):
    """A transcript cannot be read or written."""


class StoreError(ReefknotError):
    """The store cannot be used."""


class NotStored(StoreError):
    """A reference is not in this store."""


class Corrupt(StoreError):
    """Stored bytes do not match their digest."""


class PatternError(ReefknotError):
    """A search pattern is wrong, or took longer than its limit."""


class ConfigError(ReefknotError):
    """A setting has an unknown name or a value that is not allowed."""


class UsageError(ReefknotError):
    """The call itself makes no sense: two targets at once, an output that exists."""


class MissingExtra(ReefknotError):
    """An optional dependency is not installed."""
