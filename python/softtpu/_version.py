"""The version, which stands in one file: VERSION at the top of the checkout."""
import pathlib


def _read():
    checkout = pathlib.Path(__file__).resolve().parent.parent.parent / "VERSION"
    if (checkout.parent / "python/softtpu").is_dir() and checkout.is_file():
        return checkout.read_text().strip()
    from importlib import metadata
    try:
        return metadata.version("softtpu")
    except metadata.PackageNotFoundError:
        return "0+unknown"


__version__ = _read()
