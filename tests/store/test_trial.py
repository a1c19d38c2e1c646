from reefknot.store.base import Original
from reefknot.store.memory import MemoryStore
from reefknot.store.trial import TrialStore


def test_what_is_put_on_trial_leaves_no_trace() -> None:
    base = MemoryStore()
    (kept,) = base.put_many([Original(data=b"kept")])
    trial = TrialStore(base)
    (tried,) = trial.put_many([Original(data=b"tried")])
    trial.record([], [])
    assert (trial.get(tried.name), trial.get(kept.name)) == (b"tried", b"kept")
    assert trial.find(kept.name) == kept
    assert base.find(tried.name) is None
