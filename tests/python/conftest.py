"""What the tests of the Python package share."""
import pathlib

import pytest

import softtpu

pytest_plugins = ["pytester"]
HERE = pathlib.Path(__file__).parent


@pytest.fixture(scope="session")
def kernels_file():
    return HERE / "kernels/python_kernels.c"


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory):
    """Nothing of the user's cache is used or left."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOFTTPU_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def dev():
    with softtpu.Device() as device:
        yield device


@pytest.fixture
def mod(dev, kernels_file):
    return dev.compile(kernels_file)
