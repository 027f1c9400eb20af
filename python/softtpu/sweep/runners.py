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

_CONNECT_SECONDS = 10

_payloads, _pools, _lock = {}, {}, threading.Lock()  # of a worker's process


def keep_payload(key, payload):
    """On a worker: the sweep's function has come."""
    with _lock:
        _payloads[key] = payload


def drop_payload(key):
    """On a worker: the sweep has ended."""
    with _lock:
        _payloads.pop(key, None)
        pool = _pools.pop(key, None)
    if pool is not None:
        pool.close()


def _get_child(key):
    with _lock:
        if key not in _pools:
            if key not in _payloads:
                raise errors.Error("the worker has not got the sweep's function.")
            _pools[key] = ChildPool(_payloads[key])
        return _pools[key].get()


def _run_task(key, parameters, retries):
    """One task in a process beside the worker, so that nothing it does harms the worker."""
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


def run_on_worker(key, several, retries):
    """Tasks in a worker's thread, one after the other."""
    return [_run_task(key, parameters, retries) for parameters in several]


def _connect(cluster):
    """A client for an address, a Client or a cluster object, and whether it is ours to close."""
    try:
        import distributed
    except ImportError:
        raise errors.Error("cluster= needs dask.distributed: Debian's python3-distributed, or pip install distributed.") from None
    if isinstance(cluster, distributed.Client):
        return cluster, False
    try:
        return distributed.Client(cluster, timeout=_CONNECT_SECONDS, set_as_default=False), True
    except (OSError, TimeoutError) as problem:
        raise errors.Error(f"cluster {cluster}: {problem}") from None


# What is sent at a time is to take so long, and has so many tasks at most: a journey costs milliseconds, and what a worker that is lost
# had not sent back is done again.
_BUNDLE_SECONDS, _MOST_IN_BUNDLE = 0.25, 32


class _Bundles:
    """Deals tasks out in bundles, of one task each until it is known how long they take."""

    def __init__(self, client, key, tasks, retries):
        self._client, self._key, self._retries = client, key, retries
        self._waiting, self._seconds, self._ended, self._made = collections.deque(tasks), 0.0, 0, 0
        self._single = collections.deque()  # of bundles that were given up
        self._run = uuid.uuid4().hex[:12]  # the same sweep again has tasks of its own
        self.running = {}

    def note(self, seconds):
        self._seconds += seconds
        self._ended += 1

    def _size(self):
        if self._ended == 0:
            return 1
        mean = max(self._seconds / self._ended, 1e-4)
        threads = max(sum(self._client.nthreads().values()), 1)
        fair = -(-len(self._waiting) // (2 * threads))  # no thread waits at the end for one bundle
        return max(1, min(int(_BUNDLE_SECONDS / mean), _MOST_IN_BUNDLE, fair))

    def submit(self):
        """The next bundles, until every thread of the workers has one and another waits: their futures."""
        fresh = []
        threads = max(sum(self._client.nthreads().values()), 1)
        while (self._waiting or self._single) and len(self.running) < 2 * threads:
            if self._single:
                bundle = [self._single.popleft()]
            else:
                bundle = [self._waiting.popleft() for _ in range(min(self._size(), len(self._waiting)))]
            self._made += 1
            future = self._client.submit(run_on_worker, self._key, [parameters for _, parameters in bundle], self._retries, pure=False,
                                         retries=self._retries, key=f"softtpu-{self._key[:12]}-{self._run}-{self._made}")
            self.running[future] = bundle
            fresh.append(future)
        return fresh

    def give_up(self, bundle):
        """What is lost for good when the cluster gives a bundle up: a single task, else each is tried by itself."""
        if len(bundle) == 1:
            return bundle
        self._single.extend(bundle)
        return []


def run_on_cluster(payload, tasks, *, cluster, retries):
    """On a Dask cluster's workers, wherever they are."""
    client, is_ours = _connect(cluster)
    import distributed

    from .worker_plugin import Payload
    key = hashlib.sha256(payload).hexdigest()
    plugin, bundles = Payload(key, payload), _Bundles(client, key, tasks, retries)
    is_registered = False
    try:
        # The newer of both names; the older one warns where both exist.
        register = getattr(client, "register_plugin", None) or client.register_worker_plugin
        register(plugin, name=plugin.name)
        is_registered = True
        completed = distributed.as_completed(bundles.submit(), loop=client.loop)
        while bundles.running:
            batch = completed.next_batch(block=True)
            # One journey for many results.
            ended = [future for future in batch if future.status == "finished"]
            outcomes = dict(zip(ended, client.gather(ended, errors="skip")))
            for future in batch:
                bundle = bundles.running.pop(future)
                for (number, _), (*outcome, attempts) in zip(bundle, outcomes.get(future, ())):
                    bundles.note(outcome[-1])
                    yield number, Outcome(*outcome), attempts
                if future not in outcomes:
                    problem = future.exception() if future.status == "error" else future.status
                    for number, _ in bundles.give_up(bundle):
                        yield number, Outcome(LOST, error=f"the cluster gave the task up: {problem!r}"), retries + 1
            for future in bundles.submit():
                completed.add(future)
    finally:
        if bundles.running:
            client.cancel(list(bundles.running), force=True)
        try:
            if is_registered:
                client.unregister_worker_plugin(plugin.name)
        finally:
            if is_ours:
                client.close()
