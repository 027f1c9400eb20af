"""The seeded-bug corpus, read from its sources: each bug_NAME has a twin ok_NAME, right_NAME has none; comments say what is to be found where."""
import dataclasses
import json
import pathlib
import re
import subprocess
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent

# Findings about the host program, or a launch as a whole: their lines are the host's, wherever the defect is planted.
HOST_RULES = {"race/host-copy", "memory/host-copy", "memory/leak", "init/unfilled-output", "schedule/differs", "cores/number"}


@dataclasses.dataclass
class Case:
    name: str
    source: pathlib.Path
    line: int
    module: str = ""  # empty: the host program itself
    chip: str = ""
    options: list = dataclasses.field(default_factory=list)
    launches: int = 1
    cores: int = 1
    expected: list = dataclasses.field(default_factory=list)  # (rule, line)
    text: str = ""

    @property
    def has_bug(self):
        return self.name.startswith("bug_")

    @property
    def twin(self):
        return "ok_" + self.name.removeprefix("bug_")


def read_source(path):
    """The cases of one C file."""
    kernels = path.parent.name == "kernels"
    begins = re.compile(r"(?:CORES_)?KERNEL(?:_WITHOUT_\w+)?\(((?:bug|ok|right)_\w+)\)" if kernels else r"static void ((?:bug|ok)_\w+)\(void\)")
    cases, chip, options, launches, cores = [], "", [], 1, 1
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if found := re.match(r"// chip (\S+)", line):
            chip = found.group(1)
        if found := re.match(r"// options (.*)", line):
            options = found.group(1).replace("{bugs}", str(FOLDER)).split()
        if found := re.match(r"// launches (\d+)", line):
            launches = int(found.group(1))
        if found := re.match(r"// cores (\d+)", line):
            cores = int(found.group(1))
        if (found := begins.match(line)) and not line.startswith("#"):
            cases.append(Case(found.group(1), path, number, path.stem if kernels else "", chip, options, launches, cores))
            options, launches, cores = [], 1, 1
        if cases and (found := re.search(r"// finds ((?:[\w-]+/[\w-]+ ?)+)", line)):
            cases[-1].expected += [(rule, number) for rule in found.group(1).split()]
        # The case's own function, up to the brace that ends it.
        if cases and not cases[-1].text.endswith("\n}\n") and not line.startswith("// "):
            cases[-1].text += line + "\n"
    return cases


def read_corpus():
    sources = [FOLDER / "host.c", *sorted((FOLDER / "kernels").glob("*.c"))]
    return [case for source in sources for case in read_source(source)]


def run_case(case, build):
    """Runs one case and returns the findings of its report, and what was printed."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        command = [build / "bin/softtpu", "run", f"--report=json:{report.name}"]
        if not any(option.startswith("--check") for option in case.options):
            command.append("--check=all")
        command += [f"--chip={case.chip}"] if case.chip else []
        command += [f"--chip={FOLDER / 'four_cores.json'}"] if case.cores > 1 else []
        command += [*case.options, "--", build / "bin/bugs_host"]
        command += [build / f"lib/bugs_{case.module}.so", case.name, str(case.launches), str(case.cores)] if case.module else [case.name, build / "lib/bugs_memory.so"]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=60)
        content = pathlib.Path(report.name).read_text()
    if not content:
        return None, f"no report, exit status {done.returncode}: {done.stderr}"
    return json.loads(content)["findings"], done.stdout + done.stderr


def lines_of(finding, source):
    """The lines of the source that a finding names."""
    sites = [party["site"] for party in finding["parties"]]
    sites += [pathlib.PurePath(frame.rsplit(" (", 1)[0]).name for party in finding["parties"] for frame in party.get("stack", [])]
    return {int(site.split(":")[1]) for site in sites if re.fullmatch(re.escape(source.name) + r":\d+", site)}


def judge(case, findings):
    """What is wrong with a case's findings: texts; empty when they are as expected."""
    wrong, left = [], list(findings)
    for rule, line in case.expected:
        def fits(finding):
            lines = lines_of(finding, case.source)
            anywhere = not lines or (rule in HOST_RULES and case.module)
            return finding["rule"] == rule and (anywhere or line in lines)

        hits = [finding for finding in left if fits(finding)]
        if not hits:
            wrong.append(f"{rule} at {case.source.name}:{line} is not found")
        left = [finding for finding in left if finding not in hits]
    return wrong + [f"unexpected {finding['rule']}: {finding['what']}" for finding in left]
