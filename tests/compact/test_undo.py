import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reefknot.compact.undo import Kept, apply_recipe, make_recipe
from reefknot.errors import Corrupt
from reefknot.formats.splice import splice
from reefknot.model.encoding import to_bytes
from reefknot.model.message import Place
from reefknot.model.transcript import Edit
from reefknot.store.digest import digest_bytes, digest_text

STYLES = st.sampled_from(["ascii", "unicode", "html"])
TEXTS = st.text(st.characters(exclude_categories=()), max_size=300)


def _record(text: str, style: str) -> bytes:
    dumped = json.dumps({"content": text, "copy": [text[:50], 1.10]}, ensure_ascii=style == "ascii")
    if style == "html":
        dumped = dumped.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return to_bytes(dumped)


@given(TEXTS, STYLES)
def test_a_recipe_gives_the_record_back_byte_for_byte(text: str, style: str) -> None:
    record = _record(text, style)
    edits = [
        Edit(place=Place(record=0, path=("content",)), value="[cut]"),
        Edit(place=Place(record=0, path=("copy",)), value=[]),
    ]
    changed = splice(record, edits)
    digest = digest_text(text)
    recipe = make_recipe(changed.pieces, {text: Kept(digest=digest, start=0, end=len(text), masked=text)})
    stored = {digest: to_bytes(text)} | {digest_bytes(blob): blob for blob in recipe.blobs}
    assert apply_recipe(recipe.data, changed.raw, stored.__getitem__) == record


def test_a_long_text_is_not_stored_a_second_time() -> None:
    text = "Höhe \u2028 " * 200
    changed = splice(_record(text, "ascii"), [Edit(place=Place(record=0, path=("content",)), value="[cut]")])
    recipe = make_recipe(changed.pieces, {text: Kept(digest="d" * 64, start=0, end=len(text), masked=text)})
    assert recipe.blobs == ()
    assert json.loads(recipe.data) == [
        {"start": 12, "end": 19, "text": "d" * 64, "from": 0, "to": len(text), "style": "ascii"}
    ]


def test_secrets_in_what_a_recipe_keeps_are_masked() -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    record = b'{"mirror": {"stdout": "token %s", "ms":1.50}}' % key.encode()
    changed = splice(record, [Edit(place=Place(record=0, path=("mirror",)), value={})])
    recipe = make_recipe(changed.pieces, {})
    assert recipe.masked_secrets == 1
    assert apply_recipe(recipe.data, changed.raw, {}.__getitem__) == record.replace(key.encode(), b"[REDACTED:github]")


@pytest.mark.parametrize(
    "recipe", [b"", b"{}x", b'[{"start": 0}]', b'[{"start": 0, "end": 1, "style": "none", "text": "x"}]']
)
def test_a_damaged_recipe_is_told(recipe: bytes) -> None:
    with pytest.raises(Corrupt):
        apply_recipe(recipe, b"{}", lambda digest: b"")
