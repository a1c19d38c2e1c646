"""Loading of settings: order, checks at both ends, and what a project may not set."""

from dataclasses import asdict
from pathlib import Path

import pytest

from reefknot.errors import ConfigError
from reefknot.model.settings import Settings
from reefknot.policy.settings import FIELDS, load_settings


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    return folder


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config")}


def write_user_file(environ: dict[str, str], text: str) -> Path:
    path = Path(environ["XDG_CONFIG_HOME"], "reefknot", "config.toml")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_without_any_source_all_settings_are_the_defaults(environ, project):
    loaded = load_settings(environ, project)
    assert loaded.settings == Settings()
    assert set(loaded.sources) == set(asdict(Settings()))
    assert set(loaded.sources.values()) == {"default"}


def test_each_source_wins_over_the_ones_before_it(environ, project):
    personal = write_user_file(
        environ, "preserve_recent = 1\ntrigger_tokens = 1\ntrigger_percent = 1\nplain_copies_days = 1\n"
    )
    shared = project / "reefknot.toml"
    shared.write_text("trigger_tokens = 2\ntrigger_percent = 2\nplain_copies_days = 2\n")
    environ |= {"REEFKNOT_TRIGGER_PERCENT": "3", "REEFKNOT_PLAIN_COPIES_DAYS": "3"}
    loaded = load_settings(environ, project, {"plain_copies_days": 4, "trigger_percent": None})
    keys = ("preserve_recent", "trigger_tokens", "trigger_percent", "plain_copies_days")
    assert [getattr(loaded.settings, key) for key in keys] == [1, 2, 3.0, 4]
    assert [loaded.sources[key] for key in keys] == [
        f"file {personal}",
        f"file {shared}",
        "variable REEFKNOT_TRIGGER_PERCENT",
        "argument",
    ]


def test_a_projects_file_is_found_from_a_folder_inside_it(environ, project):
    (project / "reefknot.toml").write_text("preserve_recent = 9\n")
    inside = project / "a" / "b"
    inside.mkdir(parents=True)
    assert load_settings(environ, inside).settings.preserve_recent == 9


def test_a_file_outside_of_the_repository_is_not_the_projects(environ, project):
    (project.parent / "reefknot.toml").write_text("preserve_recent = 9\n")
    assert load_settings(environ, project).settings.preserve_recent == 6


def test_a_project_cannot_say_where_originals_go(environ, project):
    path = project / "reefknot.toml"
    path.write_text('store = "sqlite:///tmp/elsewhere"\n')
    with pytest.raises(ConfigError) as raised:
        load_settings(environ, project)
    assert str(raised.value) == (
        f"setting 'store' in '{path}': a project's file cannot set it; "
        "set it in your own config.toml or as REEFKNOT_STORE"
    )


def test_a_person_can_say_where_originals_go(environ, project):
    write_user_file(environ, 'store = "sqlite:///srv/originals"\n')
    assert load_settings(environ, project).settings.store == "sqlite:///srv/originals"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("preserve_recent = -1", "setting 'preserve_recent' in '{path}' is -1: it must be a whole number, at least 0"),
        (
            "preserve_recent = true",
            "setting 'preserve_recent' in '{path}' is True: it must be a whole number, at least 0",
        ),
        (
            "preserve_recent = 2.0",
            "setting 'preserve_recent' in '{path}' is 2.0: it must be a whole number, at least 0",
        ),
        ("trigger_percent = 0", "setting 'trigger_percent' in '{path}' is 0: it must be a number, 1 to 100"),
        ("trigger_percent = 101", "setting 'trigger_percent' in '{path}' is 101: it must be a number, 1 to 100"),
        ("trigger_percent = nan", "setting 'trigger_percent' in '{path}' is nan: it must be a number, 1 to 100"),
        ('counter = "words"', "setting 'counter' in '{path}' is 'words': it must be 'o200k' or 'estimate'"),
        ("plain_copies = 1", "setting 'plain_copies' in '{path}' is 1: it must be true or false"),
        ('protect_tools = "Bash"', "setting 'protect_tools' in '{path}' is 'Bash': it must be a list of texts"),
        ("protect_tools = [1]", "setting 'protect_tools' in '{path}' is [1]: it must be a list of texts"),
        ("triger_tokens = 1", "unknown setting 'triger_tokens' in '{path}': did you mean 'trigger_tokens'?"),
        ("zzz = 1", "unknown setting 'zzz' in '{path}': 'reefknot config show' lists all"),
    ],
)
def test_a_bad_value_names_file_setting_and_what_is_allowed(environ, project, text, message):
    path = project / "reefknot.toml"
    path.write_text(text + "\n")
    with pytest.raises(ConfigError) as raised:
        load_settings(environ, project)
    assert str(raised.value) == message.format(path=path)


@pytest.mark.parametrize("data", [b"preserve_recent = ", b"\xff = 1", b"a = 1\na = 2\n"])
def test_a_file_that_is_no_toml_is_named(environ, project, data):
    path = project / "reefknot.toml"
    path.write_bytes(data)
    with pytest.raises(ConfigError, match=r"settings file '.*/reefknot\.toml' is not TOML: "):
        load_settings(environ, project)


def test_a_file_that_is_a_folder_is_named(environ, project):
    Path(environ["XDG_CONFIG_HOME"], "reefknot", "config.toml").mkdir(parents=True)
    with pytest.raises(ConfigError, match=r"settings file '.*/config\.toml' cannot be read: Is a directory"):
        load_settings(environ, project)


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("preserve_recent", "0", 0),
        ("trigger_tokens", "180_000", 180_000),
        ("trigger_percent", "72.5", 72.5),
        ("min_reduction_ratio", "0", 0.0),
        ("min_reduction_ratio", "1", 1.0),
        ("plain_copies", "yes", True),
        ("plain_copies", "OFF", False),
        ("counter", "estimate", "estimate"),
        ("protect_tools", "Bash, mcp__mail__send ,", ("Bash", "mcp__mail__send")),
        ("preserve_recent", "", 6),
    ],
)
def test_a_variable_is_read_as_the_settings_type(environ, project, key, text, value):
    loaded = load_settings(environ | {f"REEFKNOT_{key.upper()}": text}, project)
    assert getattr(loaded.settings, key) == value
    assert type(getattr(loaded.settings, key)) is type(value)


@pytest.mark.parametrize(
    ("key", "text"), [("preserve_recent", "six"), ("plain_copies", "maybe"), ("trigger_percent", "inf")]
)
def test_a_bad_variable_is_named_and_spelled_as_it_was(environ, project, key, text):
    with pytest.raises(ConfigError, match=f"in the variable REEFKNOT_{key.upper()} is '{text}': it must be"):
        load_settings(environ | {f"REEFKNOT_{key.upper()}": text}, project)


def test_variables_that_are_no_settings_are_ignored_and_listed(environ, project):
    loaded = load_settings(environ | {"REEFKNOT_HOME": "/x", "REEFKNOT_TRIGER": "1", "REEFKNOT_A": "2"}, project)
    assert loaded.settings == Settings()
    assert loaded.ignored == ("REEFKNOT_A", "REEFKNOT_TRIGER")


def test_an_argument_is_checked_like_any_other_value(environ, project):
    with pytest.raises(ConfigError, match="in the arguments is -1: it must be a whole number, at least 0"):
        load_settings(environ, project, {"preserve_recent": -1})


def test_the_users_file_has_the_default_place_without_xdg(tmp_path, project):
    path = tmp_path / ".config" / "reefknot" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text("preserve_recent = 2\n")
    for base in ({}, {"XDG_CONFIG_HOME": ""}, {"XDG_CONFIG_HOME": "relative"}):
        assert load_settings({"HOME": str(tmp_path)} | base, project).settings.preserve_recent == 2


@pytest.mark.parametrize("key", FIELDS)
def test_every_setting_says_what_it_is_and_its_default_is_allowed(environ, project, key):
    assert FIELDS[key].metadata["help"]
    default = FIELDS[key].default
    assert default is None or getattr(load_settings(environ, project, {key: default}).settings, key) == default
