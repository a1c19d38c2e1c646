"""`reefknot config`."""

import json

import pytest
from click.testing import CliRunner

from reefknot.errors import ConfigError
from reefknot.model.settings import Settings
from reefknot.policy.settings import FIELDS
from reefknot.surfaces.cli.config import config


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def show(*arguments: str):
    result = CliRunner().invoke(config, arguments, catch_exceptions=False, standalone_mode=False)
    return result.stdout


def test_show_gives_every_setting_with_its_source(monkeypatch, folder):
    (folder / "reefknot.toml").write_text("plain_copies = true\n")
    monkeypatch.setenv("REEFKNOT_COUNTER", "estimate")
    lines = show("show").splitlines()
    assert [line.split()[0] for line in lines] == list(FIELDS)
    assert f"plain_copies          true  (file {folder / 'reefknot.toml'})" in lines
    assert 'counter               "estimate"  (variable REEFKNOT_COUNTER)' in lines
    assert "min_reduction_ratio   not set  (default)" in lines


def test_show_as_json_is_one_object_with_values_and_sources(monkeypatch):
    monkeypatch.setenv("REEFKNOT_PROTECT_TOOLS", "Bash,Read")
    monkeypatch.setenv("REEFKNOT_COLOR", "1")
    answer = json.loads(show("show", "--json"))
    assert set(answer["settings"]) == set(FIELDS)
    assert answer["settings"]["protect_tools"] == {
        "value": ["Bash", "Read"],
        "source": "variable REEFKNOT_PROTECT_TOOLS",
    }
    assert "REEFKNOT_COLOR" in answer["ignored"]


def test_show_names_variables_that_are_no_settings_for_people(monkeypatch):
    monkeypatch.setenv("REEFKNOT_PRESERVE_RECENTS", "1")
    result = CliRunner().invoke(config, ["show"], catch_exceptions=False)
    assert "ignored: REEFKNOT_PRESERVE_RECENTS is no setting; did you mean REEFKNOT_PRESERVE_RECENT?" in result.stderr


@pytest.mark.parametrize("key", FIELDS)
def test_explain_tells_what_a_setting_is_and_may_be(key):
    text = show("explain", key)
    assert text.startswith(f"{key}: {FIELDS[key].metadata['help']}\n")
    assert f"REEFKNOT_{key.upper()}" in text
    answer = json.loads(show("explain", key, "--json"))
    default = getattr(Settings(), key)
    assert answer["default"] == answer["value"] == (list(default) if isinstance(default, tuple) else default)
    assert answer["source"] == "default"


def test_explain_of_an_unknown_setting_names_the_nearest():
    with pytest.raises(ConfigError, match="unknown setting 'counters': did you mean 'counter'"):
        show("explain", "counters")
