"""The tables of the SQLite store, as numbered steps: a store of any older version becomes one of ours.

A step that has been released is never edited; a change of the tables is a further step at the end.
Digests are 32 bytes. Strings that come from outside (holders, sessions, tools) are kept as bytes (see
`reefknot.model.encoding`), because they may hold what SQLite's text cannot. Times are seconds since 1970.
A seal is a digest over what a note says: SQLite itself does not notice a changed byte in a row.
"""

__all__ = ["APPLICATION_ID", "UPGRADES", "VERSION"]

# In the header of the file ("reef"), so that the database of another program is not taken for a store.
APPLICATION_ID = 0x7265_6566

_FIRST = """
CREATE TABLE objects(
    id INTEGER PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    size_bytes INTEGER NOT NULL,
    masked_secrets INTEGER NOT NULL,
    created REAL NOT NULL,
    used REAL NOT NULL,
    encoding INTEGER NOT NULL,
    data BLOB NOT NULL
);
CREATE TABLE names(name TEXT NOT NULL PRIMARY KEY, digest BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE origins(
    digest BLOB NOT NULL,
    session BLOB NOT NULL,
    project BLOB NOT NULL,
    tool BLOB NOT NULL,
    call_id BLOB NOT NULL,
    created REAL NOT NULL,
    seen REAL NOT NULL,
    PRIMARY KEY(digest, session, project, tool, call_id)
) WITHOUT ROWID;
CREATE TABLE reductions(
    reduced BLOB NOT NULL,
    holder BLOB NOT NULL,
    original BLOB NOT NULL,
    start_char INTEGER NOT NULL,
    end_char INTEGER NOT NULL,
    session BLOB NOT NULL,
    seal BLOB NOT NULL,
    PRIMARY KEY(reduced, holder)
) WITHOUT ROWID;
CREATE INDEX reductions_by_original ON reductions(original);
CREATE TABLE undos(
    changed BLOB NOT NULL PRIMARY KEY,
    recipe BLOB NOT NULL,
    session BLOB NOT NULL,
    seal BLOB NOT NULL
);
CREATE TABLE undo_needs(digest BLOB NOT NULL, changed BLOB NOT NULL, PRIMARY KEY(digest, changed)) WITHOUT ROWID;
CREATE INDEX undo_needs_by_changed ON undo_needs(changed);
CREATE TABLE removed(digest BLOB NOT NULL PRIMARY KEY, at REAL NOT NULL, why TEXT NOT NULL) WITHOUT ROWID;
"""

UPGRADES = (_FIRST,)  # step N brings a store from version N to version N + 1
VERSION = len(UPGRADES)
