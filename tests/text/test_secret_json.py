import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reefknot.model.encoding import to_bytes, to_text
from reefknot.text.secret_json import mask_json
from reefknot.text.secrets import mask

KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
PASSWORD = "DB_PASS" + "WORD=tr0ub4dor-and-3"
PIECES = st.sampled_from([KEY, PASSWORD, " ", "\n", '"', "\\", "Höhe", "\U0001f600", "\ud83d", "\x01", "a/b", "x" * 30])
TEXTS = st.lists(PIECES, max_size=12).map("".join)


@pytest.mark.parametrize(
    ("given_text", "masked", "count"),
    [
        (f'{{"a":  "token {KEY}\\u0021", "n":1.50,"n":2}}', '{"a":  "token [REDACTED:github]\\u0021", "n":1.50,"n":2}', 1),
        ('["no secret", 1.10]', '["no secret", 1.10]', 0),
        ('{"password": "tr0ub4dor-3", "total_tokens": "12345678"}', '{"password": "[REDACTED:password]", "total_tokens": "12345678"}', 1),
        ('{"password": {"is": "tr0ub4dor-3"}}', '{"password": {"is": "tr0ub4dor-3"}}', 0),
        (f'\\"{PASSWORD}\\\\n\\"', '\\"DB_PASSWORD=[REDACTED:password]\\\\n\\"', 1),
        (f"no JSON, {PASSWORD}", "no JSON, DB_PASSWORD=[REDACTED:password]", 1),
    ],
)  # fmt: skip
def test_only_the_secret_is_changed(given_text: str, masked: str, count: int) -> None:
    found = mask_json(given_text.encode())
    assert (found.data.decode(), found.count) == (masked, count)


@given(TEXTS, st.booleans())
def test_each_string_says_what_its_masked_text_says(text: str, ascii_only: bool) -> None:
    data = to_bytes(json.dumps({"out": [text, "end"]}, ensure_ascii=ascii_only))
    found = mask_json(data)
    assert json.loads(to_text(found.data)) == {"out": [mask(text).text, "end"]}
    assert (found.data == data) == (mask(text).count == 0)


@given(TEXTS)
def test_json_inside_a_string_is_masked_by_what_it_says(text: str) -> None:
    inner = json.dumps(text, ensure_ascii=False)
    found = mask_json(to_bytes(json.dumps(inner)[1:-1]))
    assert json.loads(json.loads(f'"{to_text(found.data)}"')) == mask(text).text
