"""Devices, streams, modules and kernels."""
import atexit
import concurrent.futures
import contextlib
import ctypes
import os
import pathlib
import threading
import weakref

import numpy as np

from . import _api, _native, compiler, types
from .arguments import Layout, Packer
from .array import _CHECKED_TYPES, Allocation, Array, _strides_of
from .errors import ArgumentError, Error, LaunchError
from .report import Finding, Result, float64_note

# Of chips whose headers number data types otherwise (type_numbers in device/chip/chips): the macro that kernels are compiled with.
_MACROS = {"bm1684x2": "__bm1684x2__"}
_CHOICES = {True: "all", False: "", None: None}


def _checks_text(check):
    """The value of SOFTTPU_CHECK for what a caller gives; None: as the environment says."""
    if check is None or isinstance(check, bool):
        return _CHOICES[check]
    return check if isinstance(check, str) else ",".join(check)


class _Heap(ctypes.Structure):
    """bm_heap_stat_byte_t."""

    _fields_ = [("kind", ctypes.c_uint), ("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong),
                ("start", ctypes.c_ulonglong)]


_open_devices = weakref.WeakSet()


@atexit.register
def _close_devices():
    """A program that ends gives its devices back, whatever still refers to them; what it has launched and never waited for is ended."""
    for device in list(_open_devices):
        if device._process == os.getpid():
            with contextlib.suppress(Exception):
                device._cancel()
                device.close()


class Device:
    """An emulated chip, in processes of its own: a kernel that crashes or hangs does not stop Python.

    chip      name of a built-in chip, or the path of a description; default: SOFTTPU_CHIP, CHIP_ARCH, else bm1684x
    check     what kernels are checked for: "all", or names as `softtpu run --check` has them; results then have findings
    time      True: results estimate how long their launches would take on the chip
    time_only True: times are estimated and nothing is computed, which is quick; results keep the bytes that they had. A kernel whose
              steps depend on data is refused
    timeout   seconds that a kernel may run without issuing a command; 0: no limit; default 60
    limit     seconds that a launch may take in all
    device    "unix:PATH" or "tcp://HOST:PORT" of a shared device; default: a private one
    settings  further settings by name, as `softtpu env` lists them: {"SOFTTPU_THREADS": 1}

    Under `softtpu run` and `softtpu report` the checks of both count, and findings and times go to their reports too; the chip is the
    one that the program names, with a warning where `--chip` names another.

    >>> import numpy as np, softtpu
    >>> with softtpu.Device(chip="bm1684x") as dev:
    ...     mod = dev.compile('''
    ... #include <tpu_kernel.h>
    ... typedef struct { unsigned long long dst; int count, value; } args_t;
    ... void put(const void* raw) {
    ...   const args_t* args = raw;
    ...   int* out = tpu_global_mem_addr(args->dst);
    ...   for (int i = 0; i < args->count; ++i) out[i] = args->value;
    ... }
    ... TPUKERNEL_FUNC_REGISTER(put)
    ... ''')
    ...     out = dev.empty(4, np.int32)
    ...     result = mod.put(out, 4, 7)
    ...     out.numpy().tolist()
    [7, 7, 7, 7]
    """

    def __init__(self, chip=None, *, check=None, time=False, time_only=False, timeout=None, limit=None, device=None, device_id=0, settings=None):
        given = dict(settings or {})
        for name, value in (("SOFTTPU_CHIP", chip), ("SOFTTPU_CHECK", _checks_text(check)), ("SOFTTPU_TIMEOUT", timeout),
                            ("SOFTTPU_LAUNCH_LIMIT", limit), ("SOFTTPU_DEVICE", device)):
            if value is not None:
                given[name] = value
        if time_only:
            given["SOFTTPU_TIME"], time = "only-silent", True
        texts = [f"{name}={os.fspath(value) if isinstance(value, os.PathLike) else value}".encode() for name, value in given.items()]
        array = (ctypes.c_char_p * (len(texts) + 1))(*texts, None)
        lib = _native.bmlib()
        self._streams, self._modules = [], []
        self._pending = set()
        self._findings = []
        self._allocations, self._models = weakref.WeakSet(), weakref.WeakSet()
        self._process = os.getpid()
        self._lock = threading.RLock()
        self.checks = ""
        handle = _native.Owned(lib.bm_dev_free)
        _native.check(lib.softtpu_device_open(ctypes.byref(handle.slot), device_id, array, 1 if time else 0))
        self._handle = handle
        self._info = _native.take_json(lib.softtpu_device_info(handle))
        self.checks = self._info["checks"]
        self.estimates_times = bool(time)
        self._turn = threading.Lock() if self.checks or time else contextlib.nullcontext()
        self._own_stream = None
        _open_devices.add(self)

    # -- What it is

    @property
    def chip(self):
        """The chip's name."""
        return self._info["chip"]

    @property
    def cores(self):
        """How many cores the chip has."""
        return self._info["cores"]

    @property
    def shares_memory(self):
        """Whether arrays can be accessed without a copy."""
        return self._info["shares_memory"]

    @property
    def used_bytes(self):
        """Bytes of device memory that are allocated, by this program and by others on the device."""
        self._check_open()
        heap = _Heap()
        _native.check(_native.bmlib().bm_get_gmem_heap_stat_byte_by_id(self._handle, ctypes.byref(heap), 0))
        return heap.used

    @property
    def is_open(self):
        return self._handle is not None

    @property
    def findings(self):
        """All findings so far, of launches and of the program's own calls."""
        self._take_findings()
        return list(self._findings)

    def __repr__(self):
        return f"<softtpu.Device {self.chip}{'' if self.is_open else ', closed'}>"

    # -- Arrays

    def array(self, values, dtype=None):
        """A new array with the elements of `values`: anything that numpy takes. `dtype` may also be "bfloat16", "float8_e4m3" or
        "float8_e5m2": numbers are rounded to it, and integers of its size are taken as its bits."""
        if isinstance(values, Array):
            values, dtype = values.numpy(), dtype or values.kind
        source = np.asarray(values)
        made = self._make(source.shape, types.element_type(dtype if dtype is not None else source.dtype), written=True)
        return made.write(source)

    def empty(self, shape, dtype=np.float32):
        """A new array whose elements have no values yet."""
        return self._make(shape, types.element_type(dtype), written=False)

    def zeros(self, shape, dtype=np.float32):
        """A new array of zeros."""
        return self.empty(shape, dtype).write(0)

    def empty_like(self, array, dtype=None):
        """A new array with the shape and type of another one, or of a numpy array."""
        kind = dtype if dtype is not None else array.kind if isinstance(array, Array) else array.dtype
        return self.empty(array.shape, kind)

    def _make(self, shape, kind, written):
        self._check_open()
        shape = (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(int(extent) for extent in shape)
        if min(shape, default=0) < 0:
            raise ValueError(f"shape {list(shape)} has a negative extent")
        count = 1
        for extent in shape:
            count *= extent
        allocation = Allocation(self, count * kind.itemsize, written)
        if kind.name in _CHECKED_TYPES:
            allocation.note_type(kind)
        return Array._make(allocation, 0, shape, _strides_of(shape, kind.itemsize), kind)

    # -- Kernels

    def compile(self, source, *, flags=(), compiler=None, name=None):
        """Compiles kernels and loads them. `source` is the path of a C or C++ file, or its text. Modules are cached by content:
        compiling the same source again takes milliseconds, in any program. `flags` go to the compiler ($CC, else gcc), behind the macro
        of a chip whose headers number data types otherwise."""
        if self.chip in _MACROS:
            flags = [f"-D{_MACROS[self.chip]}", *flags]
        return self.load(_compile(source, flags=flags, compiler=compiler, name=name))

    def load(self, path):
        """Loads a kernel module (.so)."""
        self._check_open()
        path = pathlib.Path(path).absolute()
        pointer = _native.bmlib().tpu_kernel_load_module_file(self._handle, os.fsencode(path))
        if not pointer:
            failure = _native.last_failure()
            raise Error.of_status(failure["status"], failure)
        module = Module(self, path, pointer)
        self._modules.append(module)
        return module

    def load_model(self, path, *, firmware=None):
        """Loads a compiled network (.bmodel), which is then called with its inputs. Needs libbmrt. `firmware` says who walks the lists of
        dynamic parts: the path of a library with a chip's firmware, "file", "none" or "" (docs/networks.md); else SOFTTPU_FIRMWARE does."""
        from .model import Model
        self._check_open()
        model = Model(self, path, firmware=firmware)
        self._models.add(model)
        return model

    def stream(self):
        """A new queue of launches; launches of different streams may overtake each other."""
        self._check_open()
        return Stream(self)

    def synchronize(self):
        """Waits for all launches. Failures are raised by their futures, not here."""
        self._wait_for_launches()

    # -- The end

    def close(self):
        """Waits for launches and gives the device back. Arrays lose their memory; views of it stay."""
        with self._lock:
            if not self.is_open:
                return
            self._wait_for_launches()
            for stream in list(self._streams):
                stream.close()
            if os.getpid() == self._process:  # a fork has no business with its parent's memory
                for model in list(self._models):
                    model.close()
                for allocation in list(self._allocations):
                    allocation.release()
                for module in self._modules:
                    module._free()
                self._take_findings()
            handle = self._handle
            self._handle = None
            handle.close()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is not None and not issubclass(kind, Exception):  # Ctrl-C: do not wait
            self._cancel()
        self.close()

    def __del__(self):
        if getattr(self, "_handle", None) is not None:
            with contextlib.suppress(Exception):
                self._cancel()
                self.close()

    # -- Inside

    @property
    def _default_stream(self):
        """Of launches that are not waited for and name no stream."""
        with self._lock:
            if self._own_stream is None:
                self._own_stream = Stream(self)
            return self._own_stream

    def _check_open(self):
        if not self.is_open:
            raise Error("the device is closed.")

    def _release(self, address, nbytes):
        with self._lock:
            if self.is_open and os.getpid() == self._process:
                lib = _native.bmlib()
                lib.bm_free_device_u64(self._handle, lib.bm_mem_from_device_u64(address, nbytes))

    def _cancel(self):
        for stream in self._streams:
            if stream._handle is not None:
                _native.bmlib().softtpu_cancel(stream._handle)
        if self.is_open:
            _native.bmlib().softtpu_cancel(self._handle)

    def _wait_for_launches(self):
        for stream in list(self._streams):
            stream.synchronize()
        if self._pending:
            concurrent.futures.wait(list(self._pending))

    def _take_findings(self):
        """What has been found since the last time."""
        if not self.is_open or not self.checks:
            return []
        notes = _native.take_json(_native.bmlib().softtpu_take_notes(self._handle))
        fresh = [Finding(finding) for finding in notes["findings"]]
        for finding in fresh:
            known = next((old for old in self._findings if old.is_same(finding)), None)
            self._findings.append(Finding(finding.as_dict())) if known is None else known.add_count(finding.count)
        return fresh

    def _note_reading(self, allocation):
        """What the checks say of a copy to the host belongs to the launch that should have filled the array."""
        if not self.checks or not self.is_open:
            return
        with self._turn:
            fresh = [finding for finding in self._take_findings() if finding.rule == "init/unfilled-output"]
        result = allocation.last_result()
        if result is None:
            return
        for finding in fresh:
            # An array that is read again is the same finding again.
            known = next((old for old in result.findings if old.is_same(finding)), None)
            if known is None:
                result.findings += (finding,)
            else:
                known.add_count(finding.count)

    def _launch(self, handle, kernel, block, cores):
        """One launch from its start to its end; with checks or times nothing else is launched meanwhile, so that what is noted
        belongs to it."""
        self._check_open()
        lib = _native.bmlib()
        with self._turn:
            self._take_findings()  # of loading modules, and of the program's own calls
            status = _launch_and_wait(lib, handle, kernel._id, block, cores)
            failure = _native.last_failure() if status != _api.BM_SUCCESS else None
            times = _native.take_text(lib.softtpu_take_times(self._handle)) if self.estimates_times else ""
            findings = self._take_findings()
        result = Result(kernel.name, findings, times, self.chip)
        if failure is None:
            return result
        error = Error.of_status(status, failure)
        if not isinstance(error, LaunchError):
            error = LaunchError(str(error))
            error.status, error.kernel = status, kernel.name
        error.findings, error.result = result.findings, result
        raise error


# The method of the same name hides the module.
_compile = compiler.compile


def _launch_and_wait(lib, handle, function, block, cores):
    buffer = (ctypes.c_char * max(len(block), 1)).from_buffer_copy(block or b"\0")
    if cores == 1:
        return lib.tpu_kernel_launch(handle, function, ctypes.byref(buffer), len(block))
    row = _api.tpu_launch_param_t
    items = (row * cores)(*(row(core, function, ctypes.addressof(buffer), len(block)) for core in range(cores)))
    status = lib.tpu_kernel_launch_async_multicores(handle, ctypes.byref(items), cores)
    return status if status != _api.BM_SUCCESS else lib.tpu_kernel_sync(handle)


class Future(concurrent.futures.Future):
    """The outcome of a launch with `wait=False`: `result()` returns its `Result` or raises its `LaunchError`. Ctrl-C while
    waiting ends the launch."""

    _stream = None

    def result(self, timeout=None):
        try:
            return super().result(timeout)
        except KeyboardInterrupt:
            self._stream.cancel()
            raise


class Stream:
    """A queue of launches, which run in their order. `Device.stream()` makes one; use it as `stream=` of a launch."""

    def __init__(self, device):
        self.device = device
        lib = _native.bmlib()
        handle = _native.Owned(lib.bm_dev_free)
        _native.check(lib.softtpu_stream_open(ctypes.byref(handle.slot), device._handle))
        self._handle = handle
        self._lock = threading.Lock()
        self._jobs, self._thread = [], None
        device._streams.append(self)

    def synchronize(self):
        """Waits for its launches."""
        with self._lock:
            self._start_thread()
        concurrent.futures.wait([job[0] for job in list(self._jobs)])

    def cancel(self):
        """Ends the launch that runs and those that wait; they fail."""
        with self._lock:
            if self._handle is None:
                return
            for future, _ in self._jobs[1:]:
                future.cancel()
        _native.bmlib().softtpu_cancel(self._handle)

    def close(self):
        """Waits for its launches and closes it."""
        self.synchronize()
        with self._lock:
            handle, self._handle = self._handle, None
        if handle is not None:
            if self in self.device._streams:
                self.device._streams.remove(self)
            handle.close()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is not None and not issubclass(kind, Exception):
            self.cancel()
        self.close()

    def _submit(self, work):
        """A future for work that runs behind all that was submitted before."""
        future = Future()
        future._stream = self
        future.add_done_callback(self.device._pending.discard)
        with self._lock:
            if self._handle is None:
                raise Error("the stream is closed.")
            self._jobs.append((future, work))
            self.device._pending.add(future)
            self._start_thread()
        return future

    def _start_thread(self):
        """Ctrl-C can come between a job and the start of the thread for it."""
        if self._jobs and (self._thread is None or self._thread.ident is None):
            self._thread = threading.Thread(target=self._work_off, name="softtpu stream", daemon=True)
            self._thread.start()

    def _work_off(self):
        while True:
            with self._lock:
                if not self._jobs:
                    self._thread = None
                    return
                future, work = self._jobs[0]
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(work())
                except BaseException as problem:  # noqa: BLE001: the future's caller gets it
                    future.set_exception(problem)
            with self._lock:
                self._jobs.pop(0)


def _stamp(path):
    """Changes when the file does; None: there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


class Module:
    """Kernels that were loaded together. Each is an attribute: `module.add(out, a, b, count)`."""

    def __init__(self, device, path, pointer):
        self.device, self.path = device, path
        self._pointer, self._kernels, self._loaded_from = pointer, {}, _stamp(path)

    def kernel(self, name, args=None):
        """The kernel of this name. `args` says what its arguments are where the module has no debug information: a ctypes
        struct, a numpy record type, or a format of the module struct ("QQi")."""
        key = (name, args) if args is None or isinstance(args, (str, type)) else None
        if key in self._kernels:
            return self._kernels[key]
        kernel = Kernel(self, name, args)
        if key is not None:
            self._kernels[key] = kernel
        return kernel

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        self._check_loaded()
        try:
            return self.kernel(name)
        except Error as problem:
            raise AttributeError(str(problem)) from None

    def _layout_of(self, kernel):
        """The struct of a kernel's arguments; None: the module's file does not say, or is another one by now."""
        if _stamp(self.path) != self._loaded_from:
            return None
        found = _native.take_json(_native.bmlib().softtpu_argument_layout(os.fsencode(self.path), kernel.encode()))
        return Layout(**found) if found else None

    def _check_loaded(self):
        self.device._check_open()
        if self._pointer is None:
            raise Error(f"{self.path.name} is unloaded; Device.load() or compile() loads it again.")

    def __repr__(self):
        return f"<softtpu.Module {self.path.name}>"

    def unload(self):
        """Takes the module off the device."""
        self._free()
        if self in self.device._modules:
            self.device._modules.remove(self)

    def _free(self):
        pointer, self._pointer = self._pointer, None
        if pointer and self.device.is_open:
            _native.bmlib().tpu_kernel_free_module(self.device._handle, pointer)


class Kernel:
    """A function of a module. Calling it launches it:

        kernel(*args, cores=1, stream=None, wait=True, **args_by_name) -> Result

    The arguments are the members of the kernel's struct, by position or name (`in_` for a member `in`): arrays (passed as their addresses) and
    numbers; for an array or struct inside the struct, a sequence, a dictionary or bytes. Or a single argument is the whole struct: bytes,
    a ctypes struct or a numpy record. `wait=False` returns a `Future` at once.
    """

    def __init__(self, module, name, args=None):
        device = module.device
        module._check_loaded()
        self.module, self.name = module, name
        lib = _native.bmlib()
        self._id = lib.tpu_kernel_get_function(device._handle, module._pointer, name.encode())
        if self._id < 0:
            failure = _native.last_failure()
            raise Error(failure["text"])
        if args is not None:
            self.layout = Layout.of(args)
        else:
            self.layout = module._layout_of(name)
        self._packer = Packer(name, self.layout, device)
        self.__doc__ = f"{name}{self.layout.signature() if self.layout else '(?)'}"

    def __repr__(self):
        return f"<softtpu.Kernel {self.name}{self.layout.signature() if self.layout else ''}>"

    def pack(self, *args, **named):
        """The bytes that a launch with these arguments passes."""
        return self._packer.pack(args, named)

    def __call__(self, *args, cores=1, stream=None, wait=True, **named):
        device = self.module.device
        self.module._check_loaded()
        if not isinstance(cores, (int, np.integer)) or not 1 <= cores <= device.cores:
            raise ArgumentError(f"{self.name}: cores={cores!r}: the chip {device.chip} has "
                                f"{device.cores} core{'' if device.cores == 1 else 's'}", "cores")
        if stream is not None and stream.device is not device:
            raise ArgumentError(f"{self.name}: the stream is one of another device", "stream")
        block = self._packer.pack(args, named)
        if stream is None and (not wait or device._own_stream is not None):
            stream = device._default_stream  # launches that name none have one order
        handle = stream._handle if stream is not None else device._handle
        if handle is None:
            raise Error("the stream is closed.")
        for value in (*args, *named.values()):
            if isinstance(value, Array):
                value._allocation.written = True  # whatever the kernel does, it is not the program's to say

        def work(kept=(args, named)):  # arrays stay until the launch has ended
            result = device._launch(handle, self, block, int(cores))
            names = [member.name for member in self.layout.members] if self.layout else []
            arrays = {name: value for name, value in (*zip(names, args), *named.items()) if isinstance(value, Array)}
            for value in arrays.values():
                value._allocation.last_result = weakref.ref(result)
            result._float64 = float64_note(arrays)
            return result
        if not wait:
            return stream._submit(work)
        if stream is not None and stream._jobs:
            return stream._submit(work).result()
        return work()
