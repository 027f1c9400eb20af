"""Sweeps: a function over a table of parameters, on this machine's processors or on a Dask cluster.

>>> from softtpu import sweep
>>> def case(rows, columns):
...     return {"size": rows * columns}
>>> table = sweep.run(case, grid=dict(rows=[1, 2], columns=[3]), workers=1, progress=False)
>>> [row["size"] for row in table]
[3, 6]

Every task runs in a process that nothing else depends on, and with `device=` on a device of its own. So a hung kernel, a crash or a
lost machine ends that task alone.

The table shows what that costs, measured with 1,000 tasks on a machine with 2 processors that had other work too (`tests/python/sweep_bench.py`).
A task of 20 ms only waits, so more workers than processors still do more tasks:

| where | workers | tasks of 20 ms per s | at most | ms per empty task | of it CPU, all processes |
|---|---|---|---|---|---|
| this machine | 1 | 46 | 50 | 0.43 | 0.33 |
| this machine | 2 | 89 | 100 | 0.30 | 0.38 |
| this machine | 4 | 141 | 200 | 0.53 | 0.63 |
| Dask | 1 | 45 | 50 | 0.63 | 0.58 |
| Dask | 2 | 83 | 100 | 0.65 | 0.78 |
| Dask | 4 | 129 | 200 | 0.78 | 1.27 |
"""
import hashlib
import inspect
import itertools
import os
import pathlib
import pickle
import sys

from . import runners
from .child import CANCELLED, FAILED, LOST, OK, TIMED_OUT, Outcome, Task
from .progress import Progress
from .store import Store
from .table import Row, Table
from .values import from_plain, key_of, to_plain

__all__ = ["CANCELLED", "FAILED", "KernelCase", "LOST", "OK", "Row", "TIMED_OUT", "Table", "Tuning", "grid_of", "run", "stream", "tune"]


def grid_of(grid):
    """All combinations of a dictionary of lists, or the list of dictionaries that is given.

    >>> grid_of(dict(a=[1, 2], b=["x"]))
    [{'a': 1, 'b': 'x'}, {'a': 2, 'b': 'x'}]
    """
    if not isinstance(grid, dict):
        return [dict(parameters) for parameters in grid]
    values = [list(value) if isinstance(value, (list, tuple, range, set)) or hasattr(value, "__array__") else [value]
              for value in grid.values()]
    return [dict(zip(grid, chosen)) for chosen in itertools.product(*values)]


def stream(case, grid, *, cluster=None, workers=None, device=None, constants=None, timeout=None, memory=None, retries=1,
           results=None, depends=(), progress=None):
    """Like run(), and yields (number, Row) as tasks end, those of the result file first."""
    tasks = grid_of(grid)
    constants = dict(constants or {})
    if device is True:
        device = {}
    task = Task(case, constants=constants, device=device, timeout=timeout, memory=memory, path=[os.getcwd(), *filter(None, sys.path)])
    identity = _identity(case, device, constants, depends)
    keys = [key_of(identity, parameters) for parameters in tasks]
    store = Store(results)
    bar = Progress(len(tasks), progress)
    try:
        known = store.load(keys)
        for number, key in enumerate(keys):
            if key in known:
                outcome, attempts = known[key]
                value = store.value_of(outcome)
                bar.step(outcome, known=True)
                yield number, Row(tasks[number], outcome, attempts, value)
        waiting = [(number, tasks[number]) for number, key in enumerate(keys) if key not in known]
        payload = pickle.dumps(task)
        if not waiting:
            return
        if cluster is None:
            ended = runners.run_local(payload, waiting, workers=workers or len(os.sched_getaffinity(0)), retries=retries)
        else:
            ended = runners.run_on_cluster(payload, waiting, cluster=cluster, retries=retries)
        try:
            for number, outcome, attempts in ended:
                store.keep(keys[number], tasks[number], outcome, attempts)
                bar.step(outcome)
                yield number, Row(tasks[number], outcome, attempts, from_plain(outcome.value))
        finally:
            ended.close()
    finally:
        bar.end()
        store.close()


def run(case, grid, **options):
    """Calls `case(**parameters)` for every combination of the grid and returns a `Table` of the results.

    case       a function; what it returns is plain: numbers, texts, lists, dictionaries, arrays, or a launch's `Result`. A
               dictionary becomes columns.
    grid       a dictionary of lists, whose combinations are tried, or a list of dictionaries
    cluster    the address of a Dask scheduler ("tcp://scheduler:8786"), a distributed.Client or a cluster object; default: this
               machine's processors, of which `workers` says how many
    device     True, or a dictionary of options of `Device`: each task gets a device of its own as its first argument
    constants  arguments that all tasks get; they travel once to each process, with the function
    timeout    seconds that a task may take; it is ended and reported then
    memory     bytes of memory that a task's process may take
    retries    how often a task is tried again when its process was lost
    results    an SQLite file: keeps each result as it comes; a sweep that is started again with this file continues where it stopped
    depends    files that the results depend on besides the function's text: when they change, kept results do not count
    progress   True or False; default: a progress bar when standard error is a terminal

    Ctrl-C stops all tasks; the results of finished tasks are in the result file.
    """
    tasks = grid_of(grid)
    rows = [Row(parameters, Outcome(CANCELLED), 0, None) for parameters in tasks]
    for number, row in stream(case, tasks, **options):
        rows[number] = row
    return Table(rows)


def _identity(case, device, constants, depends):
    """What results depend on besides their parameters."""
    own = getattr(case, "identity", None)
    text = own() if callable(own) else getattr(case, "__qualname__", repr(type(case)))
    try:
        text += "\n" + inspect.getsource(case if inspect.isroutine(case) else type(case))
    except (OSError, TypeError):
        pass
    parts = [text, repr(sorted((device or {}).items(), key=str)), repr(device is None), repr(sorted(to_plain(constants).items()))
             if _is_plain(constants) else hashlib.sha256(pickle.dumps(constants)).hexdigest()]
    parts += [hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest() for path in depends]
    return "\0".join(parts)


def _is_plain(value):
    try:
        to_plain(value)
        return True
    except TypeError:
        return False


from .tuning import KernelCase, Tuning, tune  # noqa: E402: they use what stands above
