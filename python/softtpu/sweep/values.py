"""Values of parameters and results as plain data, which JSON can hold."""
import base64
import hashlib
import io
import json

import numpy as np

from ..array import Array
from ..report import Finding, Result

_ARRAY = "__ndarray__"


def to_plain(value):
    """Numbers, texts, lists, dictionaries, and arrays as {"__ndarray__": ...}; what is none of these is a TypeError."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Array):
        value = value.numpy()
    if isinstance(value, np.ndarray):
        text = io.BytesIO()
        np.save(text, value, allow_pickle=False)
        return {_ARRAY: base64.b64encode(text.getvalue()).decode()}
    if isinstance(value, Result):
        return {"kernel": value.kernel, "estimated_us": value.estimated_us, "bound": value.bound, "findings": to_plain(list(value.findings))}
    if isinstance(value, Finding):
        return value.as_dict()
    if isinstance(value, dict):
        return {str(key): to_plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple, set, range)):
        return [to_plain(one) for one in value]
    raise TypeError(f"a {type(value).__name__} cannot be kept as a result or parameter: give numbers, texts, lists, dictionaries, arrays")


def from_plain(value):
    """The arrays in plain data as arrays again. ValueError: what should be one is none."""
    if isinstance(value, dict):
        if set(value) == {_ARRAY}:
            try:
                return np.load(io.BytesIO(base64.b64decode(value[_ARRAY])), allow_pickle=False)
            except Exception as problem:  # NumPy and tokenize have kinds of their own for damaged arrays
                raise ValueError(f"an array is damaged ({str(problem) or type(problem).__name__})") from None
        return {key: from_plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [from_plain(one) for one in value]
    return value


def to_text(plain):
    return json.dumps(plain, sort_keys=True)


def key_of(identity, parameters):
    """Names a task by what it is and its parameters."""
    return hashlib.sha256((identity + "\0" + to_text(to_plain(parameters))).encode()).hexdigest()
