"""Folders for the time of one task, which a signal does not leave behind."""
import contextlib
import pathlib
import secrets
import shutil
import tempfile


@contextlib.contextmanager
def temporary_folder(prefix="softtpu-"):
    """A new folder, removed at the end.

    The path is chosen before the folder is made: an exception out of a signal handler, at whatever moment, finds it here.
    tempfile.TemporaryDirectory leaves its folder if that happens between making it and knowing it.
    """
    folder = pathlib.Path(tempfile.gettempdir(), prefix + secrets.token_hex(16))
    try:
        try:
            folder.mkdir(mode=0o700)
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # again, for an exception that ended the first removal
