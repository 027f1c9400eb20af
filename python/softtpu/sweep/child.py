"""Processes that run tasks: one task at a time each, under limits, and expendable.

The parent holds a `Child`; what runs in the process is `main()`. Both ends speak through a socket pair in messages of one pickle.
A payload (the function and what all tasks share) is sent to a process once.
"""
import contextlib
import os
import pathlib
import pickle
import resource
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from multiprocessing.connection import Connection

from .. import device as _device
from ..errors import LaunchError
from .values import to_plain

try:
    import cloudpickle
except ImportError:
    cloudpickle = None

OK, FAILED, TIMED_OUT, LOST, CANCELLED = "ok", "failed", "timed out", "lost", "cancelled"


# What the process runs. Not -m: there would be two modules with classes of the same names.
_PROGRAM = "from softtpu.sweep import child; child.main()"


class Outcome:
    """What became of a task: `status`, `value` (plain), `error` (text) and `seconds`."""

    __slots__ = ("status", "value", "error", "seconds")

    def __init__(self, status, value=None, error="", seconds=0.0):
        self.status, self.value, self.error, self.seconds = status, value, error, seconds


def pack(function):
    """The function as bytes that another process can load."""
    if cloudpickle is not None:
        return cloudpickle.dumps(("value", function))
    file = getattr(sys.modules["__main__"], "__file__", None)
    # The process runs the program's file again, and finds there what has a name of its own: no lambda, no function inside of another.
    named = "<" not in getattr(function, "__qualname__", "<")
    if getattr(function, "__module__", None) == "__main__" and file and os.path.isfile(file) and named:
        return pickle.dumps(("main", os.path.abspath(file), function.__qualname__))
    try:
        packed = pickle.dumps(("value", function))
        problem = "it refers to what the program itself defines" if b"__main__" in packed else None
    except (pickle.PicklingError, AttributeError, TypeError) as refused:
        problem = refused
    if problem is not None:
        raise TypeError(f"{function!r} cannot be sent to the processes of a sweep ({problem}): pip install cloudpickle, or move the function into a module")
    return packed


def unpack(packed):
    kind, *parts = pickle.loads(packed)
    if kind == "value":
        return parts[0]
    found = runpy.run_path(parts[0], run_name="__softtpu_sweep__")
    for name in parts[1].split("."):
        found = found[name] if isinstance(found, dict) else getattr(found, name)
    return found


class Task:
    """How tasks of a sweep run: the packed function, constant arguments, the device that each gets, and the limits."""

    def __init__(self, function, *, constants, device, timeout, memory, path):
        self.packed, self.constants, self.device = pack(function), constants, device
        self.timeout, self.memory, self.path = timeout, memory, path


class Child:
    """A process that runs tasks of one payload."""

    def __init__(self, payload):
        ours, theirs = socket.socketpair()
        self._timeout = pickle.loads(payload).timeout
        environment = dict(os.environ)
        package = str(pathlib.Path(_device.__file__).resolve().parent.parent)
        environment["PYTHONPATH"] = os.pathsep.join([package, *filter(None, [environment.get("PYTHONPATH")])])
        # A session of its own: Ctrl-C at the terminal is the parent's to handle.
        self.process = subprocess.Popen([sys.executable, "-c", _PROGRAM, str(theirs.fileno())], stdin=subprocess.DEVNULL,
                                        pass_fds=[theirs.fileno()], env=environment, start_new_session=True)
        theirs.close()
        self.connection = Connection(ours.detach())
        self._deadline = None
        self._send(payload)

    def _send(self, message):
        with contextlib.suppress(OSError):  # a process that has died is noticed by take()
            self.connection.send_bytes(message)

    def start(self, parameters):
        self._started = time.monotonic()
        self._deadline = self._started + self._timeout if self._timeout else None
        self._send(pickle.dumps(parameters))

    @property
    def seconds_left(self):
        """Until the task has to have ended; None: it has all the time."""
        return None if self._deadline is None else max(0.0, self._deadline - time.monotonic())

    def take(self, wait=0.0):
        """The outcome of the task, or None: it has not ended. A process that is lost or too slow is ended, and `is_alive` False."""
        seconds = time.monotonic() - self._started
        try:
            if self.connection.poll(wait):
                outcome = Outcome(*pickle.loads(self.connection.recv_bytes()))
                outcome.seconds = time.monotonic() - self._started
                return outcome
        except (EOFError, OSError):
            status = self.end(patience=5.0)  # it may be writing a core dump
            how = f"signal {-status} ({signal.strsignal(-status)})" if status < 0 else f"exit status {status}"
            return Outcome(LOST, error=f"the task's process ended with {how}", seconds=seconds)
        if self._deadline is not None and time.monotonic() >= self._deadline:
            self.end()
            return Outcome(TIMED_OUT, error=f"the task took longer than {self._timeout:g} s", seconds=seconds)
        return None

    @property
    def is_alive(self):
        return self.process.returncode is None and not self.connection.closed

    def end(self, patience=0.0):
        """Ends the process, with the devices that it has; returns its exit status."""
        with contextlib.suppress(OSError):
            self.connection.close()
        try:
            return self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


class ChildPool:
    """Children of one payload that are kept between tasks."""

    def __init__(self, payload):
        self.payload, self._idle = payload, []

    def get(self):
        while self._idle:
            child = self._idle.pop()
            if child.is_alive and child.process.poll() is None:
                return child
        return Child(self.payload)

    def put(self, child):
        if child.is_alive:
            self._idle.append(child)

    def close(self):
        while self._idle:
            self._idle.pop().end()


# ---- In the process

def _call(function, task, parameters):
    everything = {**task.constants, **parameters}
    if task.device is None:
        return function(**everything)
    with _device.Device(**task.device) as dev:
        return function(dev, **everything)


def run(function, task, parameters):
    """The outcome of one task, as a tuple."""
    try:
        return OK, to_plain(_call(function, task, parameters)), ""
    except MemoryError:
        return FAILED, None, "MemoryError: the task needs more memory than it may have"
    except LaunchError as problem:
        return FAILED, None, f"LaunchError: {problem}"
    except Exception as problem:  # noqa: BLE001: whatever a task raises is its outcome
        place = traceback.extract_tb(problem.__traceback__)[-1]
        return FAILED, None, f"{type(problem).__name__}: {problem} ({os.path.basename(place.filename)}:{place.lineno})"


def _end_with(connection):
    """Ends this process when its parent is gone, whatever a task does."""
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLRDHUP)
    poll.poll()
    os._exit(1)


def main():
    connection = Connection(int(sys.argv[1]))
    threading.Thread(target=_end_with, args=(connection,), daemon=True).start()
    task = pickle.loads(connection.recv_bytes())
    sys.path[:] = list(dict.fromkeys([*task.path, *sys.path]))
    if task.memory:
        resource.setrlimit(resource.RLIMIT_DATA, (task.memory, task.memory))
    function, problem = None, None
    try:
        function = unpack(task.packed)
    except Exception as error:  # noqa: BLE001: reported with each task
        problem = f"{type(error).__name__}: {error}: the task's process does not find the function: pip install cloudpickle, or move it into a module"
    while True:
        try:
            parameters = pickle.loads(connection.recv_bytes())
        except EOFError:
            return
        outcome = (FAILED, None, problem) if problem else run(function, task, parameters)
        connection.send_bytes(pickle.dumps(outcome))

