"""Devices of scripts written for SAIL, whose names `softtpu.sail` has."""
import atexit
import ctypes
import enum
import threading

from .. import _native
from ..device import Device


class LogLevel(enum.IntEnum):
    """What SAIL would log."""

    TRACE = 0
    DEBUG = 1
    INFO = 2
    WARN = 3
    ERR = 4
    CRITICAL = 5
    OFF = 6


_devices = {}
_lock = threading.Lock()


@atexit.register
def _close():
    for device in list(_devices.values()):
        device.close()
    _devices.clear()


def shared_device(tpu_id):
    """One device for each number, which all handles of the program share."""
    with _lock:
        if tpu_id not in _devices or not _devices[tpu_id].is_open:
            _devices[tpu_id] = Device(device_id=int(tpu_id))
        return _devices[tpu_id]


def get_available_tpu_num():
    """How many devices there are."""
    count = ctypes.c_int()
    _native.check(_native.bmlib().bm_dev_getcount(ctypes.byref(count)))
    return count.value


def get_dev_stat(dev_id):
    """Of a device: MiB of memory in all, MiB that are used, and how busy it is in percent."""
    stat = (ctypes.c_int * 16)()
    _native.check(_native.bmlib().bm_get_stat(shared_device(dev_id)._handle, stat))
    return list(stat[:3])


def get_tpu_util(dev_id):
    """How busy a device is, in percent."""
    return get_dev_stat(dev_id)[2]


def set_print_flag(print_flag):
    """Accepted: SAIL prints times of its steps; `softtpu run --time` shows them."""


def set_dump_io_flag(dump_io_flag):
    """Accepted: SAIL writes files of inputs and outputs; `softtpu bmodel run --dump-layers` does."""


def set_loglevel(loglevel):
    """Accepted: BMLIB_LOG sets what is logged. Returns 0, or -1 where it is no level."""
    return 0 if loglevel in list(LogLevel) else -1


class Handle:
    """A device by its number."""

    def __init__(self, tpu_id):
        self._tpu_id, self.device = int(tpu_id), shared_device(int(tpu_id))

    def get_device_id(self):
        return self._tpu_id

    def get_sn(self):
        return f"softtpu-{self._tpu_id}"

    def get_target(self):
        return self.device.chip.upper()
