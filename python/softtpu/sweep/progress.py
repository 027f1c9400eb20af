"""A progress bar on standard error."""
import sys
import time


class Progress:
    """Counts tasks as they end. `wanted` None: when standard error is a terminal."""

    _WIDTH = 24

    def __init__(self, total, wanted):
        self._total, self._done, self._known, self._bad = total, 0, 0, 0
        self._shown = sys.stderr.isatty() if wanted is None else wanted
        self._begin = self._last = time.monotonic()

    def step(self, outcome, known=False):
        self._done += 1
        self._known += known
        self._bad += outcome.status != "ok"
        now = time.monotonic()
        if self._shown and (now - self._last > 0.1 or self._done == self._total):
            self._last = now
            self._draw(now)

    def _draw(self, now):
        full = self._WIDTH * self._done // max(self._total, 1)
        seconds = max(now - self._begin, 1e-9)
        rate = (self._done - self._known) / seconds
        text = f"[{'#' * full}{'.' * (self._WIDTH - full)}] {self._done}/{self._total}"
        if self._known:
            text += f", {self._known} from the result file"
        if self._bad:
            text += f", {self._bad} failed"
        sys.stderr.write(f"\r{text}, {rate:.1f}/s   ")
        sys.stderr.flush()

    def end(self):
        if self._shown and self._done:
            self._draw(time.monotonic())
            sys.stderr.write("\n")
