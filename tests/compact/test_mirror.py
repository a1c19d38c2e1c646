import pytest

from reefknot.compact.mirror import reduce_mirrors

POINTER = "[reefknot a1b2c3d4]"
SNIPPET = "The file /srv/a.py has been updated:\n    11→\tif lease.expires < now:  # late\n    12→\t\treturn None"
SHOWN = "[reefknot a1b2c3d4: 3 lines cut]"


def test_a_patch_loses_the_lines_that_were_cut_however_it_marks_them() -> None:
    patch = [{"oldStart": 11, "lines": ["   if lease.expires < now:  # late", "+  return None"]}]
    mirror = {"structuredPatch": patch, "userModified": False}
    reduced = reduce_mirrors([mirror], {SNIPPET: SHOWN}, SHOWN, POINTER)
    assert reduced == [{"structuredPatch": [{"oldStart": 11, "lines": []}], "userModified": False}]


def test_what_the_call_still_shows_stays() -> None:
    old = "def lease_of(worker):\n    return worker.lease\n" * 6
    mirror = {"filePath": "/srv/a.py", "oldString": old, "originalFile": "x = 1\n" * 60}
    visible = f"{SHOWN}\n/srv/a.py\n{old}"
    reduced = reduce_mirrors([mirror], {SNIPPET: SHOWN}, visible, POINTER)
    assert reduced == [{"filePath": "/srv/a.py", "oldString": old, "originalFile": POINTER}]


def test_each_original_becomes_its_own_shortened_text() -> None:
    old, new = "first of two texts\n" * 40, "second of two texts\n" * 40
    shortened = {old: "first\n[cut]", new: "second\n[cut]"}
    visible = "first\n[cut]\nsecond\n[cut]\nThe file was written."
    reduced = reduce_mirrors([{"oldString": old, "newString": new.rstrip()}], shortened, visible, POINTER)
    assert reduced == [{"oldString": "first\n[cut]", "newString": "second\n[cut]"}]


@pytest.mark.parametrize("value", [3, 1.5, True, None, "", "short", [], {}, ["", "b"]])
def test_what_tells_nothing_stays(value: object) -> None:
    assert reduce_mirrors([value], {SNIPPET: SHOWN}, SHOWN, POINTER) == [value]  # type: ignore[arg-type]


def test_a_mirror_never_grows() -> None:
    original = "twelve chars"
    longer = f"[reefknot a1b2c3d4: {len(original)} characters cut; reefknot retrieve]"
    assert reduce_mirrors([{"stdout": original}], {original: longer}, longer, POINTER) == [{"stdout": ""}]
