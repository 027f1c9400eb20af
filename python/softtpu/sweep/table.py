"""Tables of results."""
import html
import itertools

from ..report import to_json
from .child import OK


class Row(dict):
    """One task: its parameters and its result. `status` is ok, failed, timed out, lost or cancelled."""

    def __init__(self, parameters, outcome, attempts, value):
        self.parameters, self.status, self.error = dict(parameters), outcome.status, outcome.error
        self.seconds, self.attempts, self.value = outcome.seconds, attempts, value
        given = value if isinstance(value, dict) else {} if value is None else {"value": value}
        super().__init__({**parameters, **given})

    @property
    def ok(self):
        return self.status == OK

    def as_dict(self):
        """Plain data: {"parameters", "columns", "status", "error", "seconds"}."""
        return {"parameters": self.parameters, "columns": dict(self), "status": self.status, "error": self.error, "seconds": self.seconds}


class Table(list):
    """Rows in the order of the grid. Prints as a table, and draws one in notebooks."""

    @property
    def ok(self):
        """The rows of tasks that succeeded."""
        return Table(row for row in self if row.ok)

    @property
    def failed(self):
        """The others."""
        return Table(row for row in self if not row.ok)

    @property
    def columns(self):
        return list(dict.fromkeys(itertools.chain.from_iterable(self)))

    def as_dicts(self):
        """The rows as plain data."""
        return [row.as_dict() if isinstance(row, Row) else dict(row) for row in self]

    def to_json(self, indent=1):
        """The rows as a text in JSON."""
        return to_json(self.as_dicts(), indent)

    def sorted(self, column):
        """The rows that have the column, the smallest first."""
        return Table(sorted((row for row in self if row.get(column) is not None), key=lambda row: row[column]))

    def to_pandas(self):
        """A pandas DataFrame (needs pandas), with the columns status, error and seconds."""
        import pandas
        return pandas.DataFrame([{**row, "status": row.status, "error": row.error, "seconds": row.seconds} for row in self])

    def _cells(self):
        columns = [*self.columns, "status"]
        rows = [[_short(row.get(column)) for column in columns[:-1]] + [row.status if row.ok else f"{row.status}: {_first_line(row.error)}"]
                for row in self]
        return columns, rows

    def __str__(self):
        columns, rows = self._cells()
        widths = [max(len(line[i]) for line in [columns, *rows]) for i in range(len(columns))]
        return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in [columns, *rows])

    def _repr_html_(self):
        columns, rows = self._cells()
        head = "".join(f"<th>{html.escape(column)}</th>" for column in columns)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in line) + "</tr>" for line in rows)
        return f"<table><tr>{head}</tr>{body}</table>"


def _first_line(text):
    return text.split("\n", 1)[0][:100]


def _short(value):
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}"
    text = str(value).replace("\n", " ")
    return text if len(text) <= 40 else text[:37] + "..."
