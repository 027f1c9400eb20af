"""What brings a sweep's function to Dask's workers. A module of its own, because it needs distributed: plugins have to be of its class, and
workers that load one import the class by its name."""
from distributed.diagnostics.plugin import WorkerPlugin

from . import runners


class Payload(WorkerPlugin):
    """Brings the payload to each worker once, to those that join later too."""

    def __init__(self, key, payload):
        self.name, self.key, self.payload = f"softtpu-{key}", key, payload

    def setup(self, worker):
        runners.keep_payload(self.key, self.payload)

    def teardown(self, worker):
        runners.drop_payload(self.key)
