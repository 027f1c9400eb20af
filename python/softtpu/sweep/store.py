"""Results of a sweep in an SQLite file: each is there whole or not at all."""
import json
import sqlite3

from ..errors import Error
from .child import Outcome
from .values import from_plain, to_plain, to_text

_FORMAT = "softtpu-sweep-1"
# What reading and writing a damaged file raises: names in it need not be UTF-8, nor values JSON, or too deep.
_PROBLEMS = (sqlite3.Error, ValueError, TypeError, RecursionError)


class Store:
    """The file at `path`, made where it is missing. `path` None: nothing is kept."""

    def __init__(self, path):
        self._file = None
        self._path = path
        if path is None:
            return
        try:
            self._file = sqlite3.connect(str(path), isolation_level=None, timeout=30)
            self._file.execute("PRAGMA journal_mode=WAL")
            self._file.execute("PRAGMA synchronous=NORMAL")
            self._file.execute("CREATE TABLE IF NOT EXISTS sweep (format TEXT PRIMARY KEY)")
            self._file.execute("CREATE TABLE IF NOT EXISTS results (key TEXT PRIMARY KEY, parameters TEXT, status TEXT, value TEXT,"
                               " error TEXT, seconds REAL, attempts INTEGER)")
            self._file.execute("INSERT OR IGNORE INTO sweep VALUES (?)", (_FORMAT,))
            formats = [row[0] for row in self._file.execute("SELECT format FROM sweep")]
        except _PROBLEMS as problem:
            self.close()
            raise Error(f"{path} cannot hold results: {problem}") from None
        if formats != [_FORMAT]:
            self.close()
            raise Error(f"{path} is of another version: {formats}")

    def load(self, keys):
        """The outcomes of those tasks that have succeeded, by key."""
        if self._file is None:
            return {}
        wanted = set(keys)
        try:
            rows = self._file.execute("SELECT key, status, value, error, seconds, attempts FROM results WHERE status = 'ok'")
            found = {}
            for key, status, value, error, seconds, attempts in rows:
                if key not in wanted:
                    continue
                if not (isinstance(seconds, (int, float)) and isinstance(attempts, int)):
                    raise ValueError(f"a result has {seconds!r} seconds and {attempts!r} attempts")
                found[key] = (Outcome(status, json.loads(value), error, seconds), attempts)
            return found
        except _PROBLEMS as problem:
            raise self._damaged(problem) from None

    def value_of(self, outcome):
        """The value of an outcome that load() has given, with its arrays."""
        try:
            return from_plain(outcome.value)
        except _PROBLEMS as problem:
            raise self._damaged(problem) from None

    def keep(self, key, parameters, outcome, attempts):
        if self._file is None:
            return
        row = (key, to_text(to_plain(parameters)), outcome.status, json.dumps(outcome.value), outcome.error, outcome.seconds,
               attempts)
        try:
            self._file.execute("INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        except _PROBLEMS as problem:
            raise self._damaged(problem) from None

    def _damaged(self, problem):
        return Error(f"{self._path} is damaged, or has no room, and cannot be used for results: {problem}. Another file begins anew.")

    def close(self):
        if self._file is not None:
            self._file.close()
            self._file = None
