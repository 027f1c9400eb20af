"""What goes wrong, as exceptions."""


# What people call, where the library's function has another name.
_NAMES = {"softtpu_device_open": "softtpu.Device"}


class Error(RuntimeError):
    """Something that softtpu refuses or cannot do. `status` is the number of bmlib's status, or None."""

    status = None

    @staticmethod
    def of_status(status, failure):
        """The exception for a status of libbmlib and what softtpu_last_failure() says about it."""
        text = failure.get("text") or f"status {status}"
        kind = LaunchError if "kernel" in failure else Error
        function = failure.get("function", "bmlib")
        error = kind(text if kind is LaunchError else f"{_NAMES.get(function, function)}: {text}")
        error.status = status
        for name in ("kernel", "core", "command", "file", "line"):
            if kind is LaunchError:
                setattr(error, name, failure.get(name))
        return error


class ArgumentError(Error, TypeError, ValueError):
    """Arguments that do not fit the kernel's struct. `member` names the one in question, or is None."""

    def __init__(self, text, member=None):
        super().__init__(text)
        self.member = member


class CompileError(Error):
    """A kernel that the compiler refuses. `output` is what the compiler said."""

    def __init__(self, text, output=""):
        super().__init__(text)
        self.output = output


class LaunchError(Error):
    """A launch that failed: a broken rule, an assertion, a crash, a time limit.

    `text` is the whole message; `kernel`, `core`, `command` (how many the kernel had issued), `file` and `line` say where, each
    None when it is not known. `findings` are those of the launch. `result` is the launch's `Result`.
    """

    kernel = core = command = file = line = result = None
    findings = ()

    @property
    def text(self):
        return str(self)

    def as_dict(self):
        """Plain data: {"format", "version", "kernel", "core", "command", "file", "line", "status", "text", "findings", "result"}."""
        return {"format": "softtpu-failure", "version": 1, "kernel": self.kernel, "core": self.core, "command": self.command, "file": self.file,
                "line": self.line, "status": self.status, "text": self.text, "findings": [finding.as_dict() for finding in self.findings],
                "result": self.result.as_dict() if self.result is not None else None}

    def to_json(self, indent=1):
        """`as_dict()` as a text in JSON."""
        from .report import to_json
        return to_json(self.as_dict(), indent)

    def _repr_html_(self):
        from .report import error_html
        return error_html(self)


class FindingsError(Error):
    """A launch whose findings are not allowed. `findings` holds them."""

    def __init__(self, findings):
        super().__init__("\n".join(str(finding).rstrip() for finding in findings))
        self.findings = tuple(findings)
