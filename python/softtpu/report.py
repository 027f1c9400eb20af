"""What launches return: results, findings and estimated times, as objects, as text, and as HTML in notebooks."""
import html
import json
import math

_COLOURS = {"error": "#c62828", "warning": "#b26a00", "note": "#546e7a"}


def float64_note(arrays):
    """What to say of arrays by name that have NumPy's own type, which it takes where none is named; None: there are none."""
    wrong = [name for name, array in arrays.items() if array.kind.name == "float64"]
    if not wrong:
        return None
    others = {name: array.kind.name for name, array in arrays.items() if "float" in array.kind.name and name not in wrong}
    right = f"{next(iter(others.values()))}, as {' and '.join(others)}" if len(set(others.values())) == 1 else "float32 or float16, whichever the kernel reads"
    said = f"argument {wrong[0]} is an array" if len(wrong) == 1 else f"arguments {' and '.join(wrong)} are arrays"
    return f"{said} of float64, which no chip computes with: make {'it' if len(wrong) == 1 else 'them'} {right}"


class Finding:
    """One thing that a check has found, with everything that the report of `softtpu run` has (runtime/report/README.md).

    rule      its name, "race/raw"                 severity  "error", "warning" or "note"
    what      one sentence                         why, fix  why it matters on the chip, and what removes it
    kernel    the kernel's name                    core      the core's number
    count     how often it happened                place     where in memory, a dictionary or None
    parties   the calls: dictionaries with function, text, and file and line where they are known
    file, line  of the call that it is about, or None
    """

    def __init__(self, fields):
        self._fields = fields
        self.rule, self.severity = fields.get("rule", ""), fields.get("severity", "error")
        self.what, self.why, self.fix = fields.get("what", ""), fields.get("why", ""), fields.get("fix", "")
        self.kernel, self.core, self.count = fields.get("kernel", ""), fields.get("core", -1), fields.get("count", 1)
        self.place, self.parties = fields.get("place"), fields.get("parties", [])
        about = next((party for party in reversed(self.parties) if party.get("file")), {})
        self.file, self.line = about.get("file"), about.get("line")

    def is_same(self, other):
        """Whether both say the same, of whatever launches."""
        return all(self._fields.get(name) == other._fields.get(name) for name in ("rule", "kernel", "what", "parties"))

    def add_count(self, count):
        self.count += count
        self._fields["count"] = self.count

    def as_dict(self):
        """All fields, as in the JSON report."""
        return dict(self._fields)

    def __str__(self):
        return self._fields.get("text") or f"{self.rule}: {self.what}"

    def __repr__(self):
        where = f" at {self.file}:{self.line}" if self.file else ""
        return f"<softtpu.Finding {self.severity} {self.rule} in {self.kernel or 'the program'}{where}>"

    def _repr_html_(self):
        return _finding_html(self)


class Result:
    """The outcome of a launch that succeeded.

    kernel        the kernel's name
    findings      what the checks found in it, a tuple of `Finding`; that an output is not filled is known, and here, once it is read
    estimated_us  how long it would take on the chip, in microseconds (None unless the device was made with time=True)
    time          the whole estimate: a dictionary as docs/time.md describes it; of several cores the slowest one's
    """

    def __init__(self, kernel, findings, times, chip):
        self.kernel, self.chip, self.findings = kernel, chip, tuple(findings)
        self._lines = [line for line in times.splitlines() if line]
        self._times = None
        self._float64 = None  # what to say of such arrays among those that the kernel got

    @property
    def times(self):
        """The estimate of each core that took part."""
        if self._times is None:
            self._times = [json.loads(line) for line in self._lines]
        return self._times

    @property
    def time(self):
        return max(self.times, key=lambda record: record["total_us"], default=None)

    @property
    def estimated_us(self):
        slowest = self.time
        return slowest["total_us"] if slowest else None

    @property
    def bound(self):
        """What bounds the launch, by the estimate; None without an estimate."""
        slowest = self.time
        return slowest["bound"] if slowest else None

    @property
    def rests_on(self):
        """How far to trust the estimate, in words: the shares of measured, fitted and guessed parameters, and of a network the error that networks of
        its precision had when they were left out of the fit. None without an estimate."""
        return _rests_text(self.time) if self.time else None

    @property
    def advice(self):
        """What would make it faster by the estimate, the largest saving first: a list of dictionaries with `rule`, `text`, `saves_us`
        and, where they are known, `function`, `file` and `line` (docs/time.md). None without an estimate."""
        slowest = self.time
        return slowest.get("advice", []) if slowest else None

    def as_dict(self):
        """Plain data: {"format", "version", "kernel", "chip", "findings", "estimated_us", "bound", "advice", "times"}. `times` has the totals of each
        core; the single commands stay in `Result.times`."""
        times = [{name: value for name, value in record.items() if name not in ("commands", "blocks", "advice")} for record in self.times]
        return {"format": "softtpu-result", "version": 1, "kernel": self.kernel, "chip": self.chip,
                "findings": [finding.as_dict() for finding in self.findings], "estimated_us": self.estimated_us, "bound": self.bound,
                "advice": self.advice, "times": times}

    def to_json(self, indent=1):
        """`as_dict()` as a text in JSON."""
        return to_json(self.as_dict(), indent)

    @property
    def text(self):
        """The same for people: a summary, the advice, and every finding."""
        lines = [f"{self.kernel} on {self.chip}: " + (_count(self.findings, "finding") if self.findings else "no findings")]
        if self.estimated_us is not None:
            lines.append(f"{self.estimated_us:.1f} us estimated, mostly {words_of_bound(self.bound)}")
            lines.append(f"the time rests on: {self.rests_on}")
        if self._float64:
            lines.insert(1, self._float64)  # the cause of what else is said
        lines += [f"advice: {advice['text']}" for advice in self.advice or ()]
        lines += [str(finding).rstrip() for finding in self.findings]
        return "\n".join(lines)

    def __repr__(self):
        parts = [f"<softtpu.Result {self.kernel}"]
        if self.estimated_us is not None:
            parts.append(f"{self.estimated_us:.1f} us estimated, mostly {words_of_bound(self.bound)}")
        if self.findings:
            first = self.findings[0]
            where = f" at {first.file}:{first.line}" if first.file else ""
            more = ", ..." if len(self.findings) > 1 else ""
            parts.append(f"{_count(self.findings, 'finding')}: {first.rule}{where}{more} (all in .text)")
        return ", ".join(parts) + ">"

    def _repr_html_(self):
        rows = [f"<b>{_text(self.kernel)}</b> on {_text(self.chip)}"]
        if self.time:
            rows.append(_time_html(self.time))
        rows += [_finding_html(finding) for finding in self.findings] or ([] if self.time else ["no findings"])
        return _page(rows)


def _rests_text(time):
    shares = time.get("rests_on_us") or {}
    total = sum(shares.values())
    text = ", ".join(f"{100 * us / total:.0f} % {name}" for name, us in shares.items() if us >= .005 * total) if total > 0 else "nothing"
    error = time.get("error")
    return text + (f"; {error['text']}" if error else "")


def words_of_bound(name):
    """What a launch's time goes into, by its name in records: "issuing commands" for "issue"."""
    return {"launch": "fixed launch cost", "issue": "issuing commands", "command start-up": "start of each command"}.get(name, name)


def _count(things, name):
    return f"{len(things)} {name}{'' if len(things) == 1 else 's'}"


def to_json(plain, indent=1):
    """Plain data as JSON that every program can read: numbers that JSON lacks become the texts "nan", "inf" and "-inf"."""
    return json.dumps(_finite(plain), indent=indent, default=_plain, allow_nan=False)


def _finite(value):
    if isinstance(value, dict):
        return {str(name): _finite(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _plain(value):
    """What is a number or an array of numpy's, for JSON."""
    plain = getattr(value, "tolist", None)
    return _finite(plain()) if callable(plain) else str(value)


def _text(value):
    return html.escape(str(value))


def _page(rows):
    return "<div style='font-family:sans-serif;line-height:1.4'>" + "".join(f"<div>{row}</div>" for row in rows) + "</div>"


def _finding_html(finding):
    colour = _COLOURS.get(finding.severity, "#333")
    parties = "".join(f"<li><code>{_text(party.get('text', ''))}</code>"
                      + (f" <span style='color:#777'>{_text(party.get('site', ''))}</span>" if party.get("site") else "") + "</li>"
                      for party in finding.parties)
    return (f"<div style='border-left:4px solid {colour};padding:2px 8px;margin:4px 0'>"
            f"<b style='color:{colour}'>{_text(finding.severity)}: {_text(finding.rule)}</b> "
            f"{_text(finding.what)}{f' ({finding.count} times)' if finding.count > 1 else ''}"
            f"<ul style='margin:2px 0'>{parties}</ul><i>{_text(finding.fix)}</i></div>")


def _time_html(time):
    rows = []
    for engine in time["engines"]:
        share = 100 * engine["busy_us"] / time["total_us"] if time["total_us"] else 0
        rows.append(f"<tr><td>{_text(engine['name'])}</td><td style='width:200px;background:#eee'>"
                    f"<div style='background:#1976d2;height:10px;width:{min(share, 100):.1f}%'></div></td>"
                    f"<td>{engine['busy_us']:.1f} us, {share:.0f} %</td></tr>")
    spent = ", ".join(f"{_text(words_of_bound(name))} {us:.1f} us" for name, us in sorted(time["spent_us"].items(), key=lambda item: -item[1]))
    return (f"{time['total_us']:.1f} us estimated, mostly {_text(words_of_bound(time['bound']))}<br><small>{spent}<br>rests on: {_text(_rests_text(time))}</small>"
            f"<table>{''.join(rows)}</table>")


def error_html(error):
    """A failed launch for a notebook."""
    where = f"{error.file}:{error.line}" if error.file else ""
    rows = [f"<b style='color:{_COLOURS['error']}'>launch of {_text(error.kernel or '?')} failed</b> {_text(where)}",
            f"<pre style='white-space:pre-wrap'>{_text(error)}</pre>"]
    return _page(rows + [_finding_html(finding) for finding in error.findings])
