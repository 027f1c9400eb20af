"""Where tasks run: in processes of this machine, or on the workers of a Dask cluster.

Both are generators: they take (index, parameters) and yield (index, outcome, attempts) as tasks end. Closing one stops everything.
"""
import collections
import hashlib
import threading
import uuid
from multiprocessing.connection import wait

from .. import errors
from .child import LOST, ChildPool, Outcome


def run_local(payload, tasks, *, workers, retries):
    """On this machine, in `workers` processes."""
    waiting = collections.deque((index, parameters, 1) for index, parameters in tasks)
    pool, running = ChildPool(payload), {}
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                task, child = waiting.popleft(), pool.get()
                child.start(task[1])
                running[child] = task
            left = [child.seconds_left for child in running if child.seconds_left is not None]
            wait([child.connection for child in running], min(left, default=None))
            for child in list(running):
                outcome = child.take()
                if outcome is None:
                    continue
                index, parameters, attempt = running.pop(child)
                pool.put(child)
                if outcome.status == LOST and attempt <= retries:
                    waiting.append((index, parameters, attempt + 1))
                else:
                    yield index, outcome, attempt
    finally:
        for child in running:
            child.end()
        pool.close()


# ---- Dask

_payloads, _pools, _lock = {}, {}, threading.Lock()  # of a worker's process


class _Payload:
    """A plugin of Dask's workers: brings the payload to each worker once, to those that join later too."""

    def __init__(self, key, payload):
        self.name, self.key, self.payload = f"softtpu-{key}", key, payload

    def setup(self, worker):
        with _lock:
            _payloads[self.key] = self.payload

    def teardown(self, worker):
        with _lock:
            _payloads.pop(self.key, None)
            pool = _pools.pop(self.key, None)
        if pool is not None:
            pool.close()


def _get_child(key):
    with _lock:
        if key not in _pools:
            if key not in _payloads:
                raise errors.Error("the worker has not got the sweep's function.")
            _pools[key] = ChildPool(_payloads[key])
        return _pools[key].get()


def run_on_worker(key, parameters, retries):
    """One task in a worker's thread: in a process beside the worker, so that nothing it does harms the worker."""
    for attempt in range(1, retries + 2):
        child = _get_child(key)
        try:
            child.start(parameters)
            outcome = None
            while outcome is None:
                left = child.seconds_left
                outcome = child.take(1.0 if left is None else min(left, 1.0))
        except BaseException:
            child.end()
            raise
        with _lock:
            pool = _pools.get(key)
            pool.put(child) if pool is not None else child.end()
        if outcome.status != LOST or attempt > retries:
            return outcome.status, outcome.value, outcome.error, outcome.seconds, attempt
    return None


def _connect(cluster):
    """A client for an address, a Client or a cluster object, and whether it is ours to close."""
    try:
        import distributed
    except ImportError:
        raise errors.Error("cluster= needs dask.distributed: Debian's python3-distributed, or pip install distributed.") from None
    if isinstance(cluster, distributed.Client):
        return cluster, False
    try:
        return distributed.Client(cluster, timeout="10s", set_as_default=False), True
    except (OSError, TimeoutError) as problem:
        raise errors.Error(f"cluster {cluster}: {problem}") from None


def run_on_cluster(payload, tasks, *, cluster, retries):
    """On a Dask cluster's workers, wherever they are."""
    client, is_ours = _connect(cluster)
    import distributed
    key = hashlib.sha256(payload).hexdigest()
    plugin = _Payload(key, payload)
    futures = {}
    try:
        register = getattr(client, "register_plugin", None) or client.register_worker_plugin
        register(plugin, name=plugin.name)
        numbers, parameters = zip(*tasks)
        run = uuid.uuid4().hex[:12]  # of the same sweep again: tasks of their own
        names = [f"softtpu-{key[:12]}-{run}-{number}" for number in numbers]
        made = client.map(run_on_worker, [key] * len(numbers), parameters, [retries] * len(numbers), key=names, pure=False, retries=retries)
        futures = dict(zip(made, numbers))
        # Results are fetched for many tasks at a time: each fetch is a journey to the workers and back.
        for batch in distributed.as_completed(list(futures), loop=client.loop).batches():
            ended = [future for future in batch if future.status == "finished"]
            outcomes = dict(zip(ended, client.gather(ended, errors="skip")))
            for future in batch:
                number = futures.pop(future)
                if future in outcomes:
                    *outcome, attempts = outcomes[future]
                    yield number, Outcome(*outcome), attempts
                else:
                    problem = future.exception() if future.status == "error" else future.status
                    yield number, Outcome(LOST, error=f"the cluster gave the task up: {problem!r}"), retries + 1
    finally:
        if futures:
            client.cancel(list(futures), force=True)
        unregister = getattr(client, "unregister_worker_plugin", None)
        try:
            if unregister is not None:
                unregister(plugin.name)
        finally:
            if is_ours:
                client.close()

