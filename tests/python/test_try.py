"""softtpu try: verdicts, statuses, the document, and what the pytest fixture and tuning make of the same cases."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from softtpu import runner, trial

KERNEL = """
#include <tpu_kernel.h>
typedef struct { unsigned long long out, a, b; int count; } args_t;
void add(const void* raw) {
  const args_t* args = raw;
  const dim4 shape = {1, tpu_npu_num(), 1, args->count / tpu_npu_num()};
  tpu_initialize();
  tpu_gdma_cpy_S2L(0x0000, args->a, &shape, NULL, NULL, DT_FP32);
  tpu_gdma_cpy_S2L(0x4000, args->b, &shape, NULL, NULL, DT_FP32);
  ADD
  tpu_gdma_cpy_L2S(args->out, 0x8000, &shape, NULL, NULL, DT_FP32);
  tpu_poll();
}
TPUKERNEL_FUNC_REGISTER(add)
"""
RIGHT = "tpu_bdc_fp_add(0x8000, 0x0000, 0x4000, &shape, NULL, NULL, NULL, DT_FP32);"
CASE = """
import numpy as np
from softtpu import Output

chips = ["bm1684x", "bm1688"]
shapes = [dict(count=4096), dict(count=8192)]

def arguments(count):
    rng = np.random.default_rng(1)
    return dict(out=Output(count), a=rng.random(count, np.float32), b=rng.random(count, np.float32), count=count)

def reference(a, b, **rest):
    return a + b
"""


@pytest.fixture
def files(tmp_path):
    """Writes a kernel whose middle is the text, and the case."""
    def make(middle=RIGHT, case=CASE):
        (tmp_path / "add_kernel.c").write_text(KERNEL.replace("ADD", middle))
        (tmp_path / "add_case.py").write_text(case)
        return tmp_path / "add_kernel.c", tmp_path / "add_case.py"
    return make


@pytest.fixture(scope="module")
def trier():
    with trial.Trier() as made:
        yield made


def line_of(kernel, text):
    return next(number for number, line in enumerate(kernel.read_text().splitlines(), 1) if text in line)


def test_right_on_every_chip_and_shape(files, trier):
    made = trier.run(*files())
    assert made.verdict == "ok" and made.exit_status == 0 and made["kernel"] == "add", made.text
    assert [(one["chip"], one["shape"]["count"]) for one in made["cases"]] == [(chip, count) for chip in ("bm1684x", "bm1688") for count in (4096, 8192)]
    assert all(one["estimated_us"] > 0 and one["bound"] and not one["findings"] for one in made["cases"])
    assert json.loads(made.to_json()) == made.as_dict()
    assert "ok: 4 of 4 cases right" in made.text


def test_a_wrong_result_names_the_command_that_wrote_it(files, trier):
    kernel, case = files("tpu_bdc_fp_sub(0x8000, 0x0000, 0x4000, &shape, NULL, NULL, NULL, DT_FP32);")
    made = trier.run(kernel, case, chips=["bm1684x"])
    assert made.verdict == "wrong" and made.exit_status == 110
    one = made["cases"][0]["differences"]["out"]
    assert one["count"] == 4096 and one["index"] == [0] and one["got"] != one["wanted"]
    assert one["written_by"]["function"] == "tpu_gdma_cpy_L2S" and one["written_by"]["command"] == 5
    assert one["written_by"]["at"] == f"add_kernel.c:{line_of(kernel, 'tpu_gdma_cpy_L2S')}" and one["written_by"]["index"] == [0, 0, 0, 0]
    assert "written by command 5, tpu_gdma_cpy_L2S" in made.text


def test_an_element_in_the_middle_is_found_in_its_tile(files, trier):
    middle = RIGHT + """
  const dim4 part = {1, 1, 1, 2}, step = {2, 2, 2, 1};
  tpu_gdma_cpy_L2S(args->out, 0x8000, &shape, NULL, NULL, DT_FP32);
  tpu_bdc_set_C(0x8000 + 8, (scalar_t){.f32 = -1}, &part, &step, DT_FP32);"""
    made = trier.run(*files(middle), chips=["bm1684x"], shapes=[dict(count=4096)], check="")
    one = made["cases"][0]["differences"]["out"]
    assert (one["count"], one["first"], one["got"]) == (2, 2, -1.0)
    assert one["written_by"]["index"] == [0, 0, 0, 2] and one["written_by"]["command"] == 7


def test_a_chip_without_what_the_kernel_uses_is_counted_apart(files, trier):
    kernel, case = files("tpu_hau_sort(args->out, args->a, 16, 4, true, DT_FP32);\n  " + RIGHT)
    made = trier.run(kernel, case, chips=["bm1690e", "cv184x"], shapes=[dict(count=4096)])
    assert (made.verdict, made.exit_status) == ("unsupported", 123), made.text
    assert "0 of 2 cases right, 2 on chips without what the kernel uses" in made.text
    for one in made["cases"]:
        assert "tpu_hau_sort: " in one["failure"]["text"] and "refuses this function: the chip has no HAU" in one["failure"]["text"]
        assert one["failure"]["line"] == line_of(kernel, "tpu_hau_sort")


def test_a_reference_may_ask_for_the_chip(files, trier):
    asks = CASE.replace("def reference(a, b, **rest):\n    return a + b", "def reference(a, b, chip, cores):\n    return a + b + (chip != 'bm1688') * cores")
    made = trier.run(*files(case=asks), shapes=[dict(count=4096)])
    assert {one["chip"]: one["verdict"] for one in made["cases"]} == {"bm1684x": "wrong", "bm1688": "ok"}, made.text


def test_what_no_command_wrote(files, trier):
    kernel, case = files("return;")
    made = trier.run(kernel, case, chips=["bm1684x"], shapes=[dict(count=4096)])
    assert made["cases"][0]["differences"]["out"]["written_by"] is None and "no command has written it" in made.text


def test_a_reference_that_computes_in_place(files, trier):
    """The kernel got what it had made of the operands, and was called wrong."""
    made = trier.run(*files(case=CASE.replace("return a + b", "a += b; return a")), chips=["bm1684x"])
    assert made.ok, made.text


def test_a_reference_that_forgets_its_result(files, trier):
    for result in ("a + b", "return {}"):
        with pytest.raises(trial.CaseError, match="gives nothing to compare"):
            trier.run(*files(case=CASE.replace("return a + b", result)), chips=["bm1684x"])
    made = trier.run(*files(case=CASE.partition("def reference")[0]), chips=["bm1684x"])
    assert made.ok and "nothing is compared (the case has no reference)" in made.text, made.text


def test_one_of_what_may_be_several(files, trier):
    case = CASE.replace('chips = ["bm1684x", "bm1688"]', 'chips = "bm1688"; cores = 2').replace("[dict(count=4096), dict(count=8192)]", "dict(count=4096)")
    made = trier.run(*files("if (tpu_core_index() == 0) " + RIGHT, case), check="")
    assert [(one["chip"], one["cores"], one["shape"]) for one in made["cases"]] == [("bm1688", 2, {"count": 4096})], made.text
    for line in ("shapes = [4096]", 'cores = "2"', "chips = 3"):
        with pytest.raises(trial.CaseError, match=f"{line.partition(' ')[0]} = .* is no list of"):
            trier.run(*files(case=CASE + line))


def test_the_cause_stands_first_and_once(files, trier):
    race = "tpu_parallel_start(); tpu_gdma_cpy_S2L(0x4000, args->a, &shape, NULL, NULL, DT_FP32);" + RIGHT + "tpu_parallel_end();"
    made = trier.run(*files(race), chips=["bm1684x"])
    assert made.verdict == "wrong" and 0 < made.text.index("race/") < made.text.index("out[0]"), made.text
    made = trier.run(*files(RIGHT.replace("0x4000", "0x4001")), chips=["bm1684x"], shapes=[dict(count=4096)])
    assert made.verdict == "launch" and made.text.count("is not a multiple of") == 1 and "     fix: use the nearest" in made.text, made.text


def test_what_ended_a_launch_stands_before_other_findings(files, trier):
    beyond = "dim4 twice = shape; twice.w *= 2; tpu_gdma_cpy_S2L(0x10000, args->b, &twice, NULL, NULL, DT_FP32);"
    made = trier.run(*files(beyond + RIGHT.replace("0x4000", "0x4001")), chips=["bm1684x"], shapes=[dict(count=4096)])
    assert [one["rule"] for one in made["cases"][0]["findings"]] != ["constraint/alignment"] and 0 < made.text.index("use the nearest") < made.text.index("memory/"), made.text


def test_generations_of_a_chip_are_told_apart(files, trier):
    case = CASE.replace("def arguments(count):", "def arguments(count, chip):\n    assert chip == 'bm1684x'")
    made = trier.run(*files(case=case), chips=["bm1684x", "BM1684X-23.05"], shapes=[dict(count=4096)])
    assert [one["chip"] for one in made["cases"]] == ["bm1684x", "bm1684x-23.05"] and made.ok, made.text


@pytest.mark.parametrize("registration", ["// TPUKERNEL_FUNC_REGISTER(old)\nTPUKERNEL_FUNC_REGISTER( add );", "TPUKERNEL_FUNC2_REGISTER(add)",
                                          '__attribute__((constructor)) static void other(void) { tpu_register_kernel_func("add", add); }'])
def test_every_way_to_register_a_kernel(files, trier, registration):
    kernel, case = files()
    text = kernel.read_text().replace("TPUKERNEL_FUNC_REGISTER(add)", registration)
    kernel.write_text(text.replace("const void* raw)", "const void* raw, int bytes)") if "FUNC2" in registration else text)
    assert trier.run(kernel, case, chips=["bm1684x"])["kernel"] == "add"


def test_arrays_and_outputs_that_are_none(files, trier):
    made = trier.run(*files(case=CASE.replace("a=rng.random(count, np.float32)", "a=rng.random(count)")), chips=["bm1684x"])
    said = made["cases"][0]["differences"]["out"]["text"]
    assert made.verdict == "wrong" and said.startswith("argument a is an array of float64, which no chip computes with: make it float32, as out and b; "), said
    made = trier.run(*files(case=CASE.replace("a=rng.random(count, np.float32)", "a=rng.random(count)")), chips=["bm1684x"], tolerance=1e-3)
    assert re.search(r"as out and b; \d+ of 4096 elements differ", made.text), made.text
    with pytest.raises(trial.CaseError, match=r"add_case.py:10: .*Output\(2048.0\): a shape is whole numbers"):
        trier.run(*files(case=CASE.replace("Output(count)", "Output(count / 2)")), chips=["bm1684x"])
    with pytest.raises(trial.CaseError, match="the case has no output to compare"):
        trier.run(*files(case=CASE.replace("Output(count)", "np.zeros(count, np.float32)")), chips=["bm1684x"])


def test_a_tolerance_of_its_own(files, trier):
    kernel, case = files()
    few = dict(chips=["bm1684x"], shapes=[dict(count=4096)])
    assert trier.run(kernel, case, tolerance=lambda got, wanted: (got == wanted).all(), **few).verdict == "ok"
    assert trier.run(kernel, case, tolerance=lambda got, wanted: got == wanted, **few).verdict == "ok"
    made = trier.run(kernel, case, tolerance=lambda got, wanted: np.arange(4096) != 7, **few)
    assert made.verdict == "wrong" and made["cases"][0]["differences"]["out"]["index"] == [7] and "1 of 4096 elements differ" in made.text
    assert trier.run(kernel, case, tolerance=lambda got, wanted: False, **few).verdict == "wrong"
    with pytest.raises(trial.CaseError, match=r"tolerance\(\) gives values of shape \[3\] for arrays of \[4096\]"):
        trier.run(kernel, case, tolerance=lambda got, wanted: np.ones(3), **few)


def test_errors_of_a_case_have_its_line(files, trier):
    few = dict(chips=["bm1684x"], shapes=[dict(count=4096)])
    line = CASE.count("\n", 0, CASE.index("return a + b")) + 1
    with pytest.raises(trial.CaseError, match=rf"^add_case.py:{line}: reference\(a, b, .*NameError: name 'c'"):
        trier.run(*files(case=CASE.replace("return a + b", "return a + c")), **few)
    with pytest.raises(trial.CaseError, match=r"^add_case.py:2 cannot be read: ModuleNotFoundError"):
        trier.run(*files(case=CASE.replace("import numpy as np", "import numbpy as np", 1)), **few)
    with pytest.raises(trial.CaseError, match=r"^add_case.py:\d+: tolerance\(output, reference\): AttributeError"):
        trier.run(*files(case=CASE + "\ndef tolerance(got, wanted):\n    return got.nothing\n"), **few)
    made = trier.run(*files(case=CASE.replace("return a + b", "return (a + b).astype('f8')")), **few)
    assert "type float32, the reference has float64: give it the same type, or name a tolerance" in made.text


# The finding is noted for each reading of the output, and `try` reads it twice.
def test_an_output_that_is_not_filled_is_one_finding(files, trier):
    made = trier.run(*files("tpu_poll(); return;"), chips=["bm1684x"], shapes=[dict(count=4096)])
    assert [one["rule"] for one in made["cases"][0]["findings"]] == ["init/unfilled-output"], made.text


def test_a_kernel_that_does_not_compile_ran_no_case(files, trier):
    assert "compile: no case was run" in trier.run(*files("nonsense;")).text


def test_tolerance(files, trier):
    kernel, case = files("tpu_bdc_fp_add(0x8000, 0x0000, 0x4000, &shape, NULL, NULL, NULL, DT_FP32);\n"
                         "  tpu_bdc_fp_add_C(0x8000, 0x8000, (scalar_t){.f32 = 1e-4f}, &shape, NULL, NULL, DT_FP32);")
    few = dict(chips=["bm1684x"], shapes=[dict(count=4096)])
    made = trier.run(kernel, case, **few)
    assert made.verdict == "wrong" and "at most; every bit is compared: `tolerance` in the case, or --tolerance, names" in made.text, made.text
    assert trier.run(kernel, case, tolerance=1e-3, **few).verdict == "ok"
    assert trier.run(kernel, case, tolerance=(2e-4, 0), **few).verdict == "ok"
    assert trier.run(kernel, case, tolerance=(1e-6, 0), **few).verdict == "wrong"


def test_a_tolerance_of_the_case(files, trier):
    few = dict(chips=["bm1684x"], shapes=[dict(count=4096)])

    def tried(named, **options):
        made = files("tpu_bdc_fp_add_C(0x8000, 0x0000, (scalar_t){.f32 = 1e-4f}, &shape, NULL, NULL, DT_FP32);",
                     CASE.replace("a + b", "a") + f"\ntolerance = {named}\n")
        return trier.run(*made, **few, **options)

    assert tried("(1e-3, 0)").verdict == "ok" and tried("np.float32(1e-3)").verdict == "ok"
    made = tried('"bits"')
    assert made.verdict == "wrong" and "every bit is compared" not in made.text, made.text
    assert tried('"bits"', tolerance=1e-3).verdict == "ok" and tried("1e-3", tolerance="bits").verdict == "wrong"
    for unusable in ('"1e-3"', "-1", "(1, 2, 3)", "[None, 1]", "{}"):
        with pytest.raises(trial.CaseError, match="^add_case.py: tolerance = .* is no number, pair"):
            tried(unusable)


def test_a_member_that_is_a_keyword_of_python(files, trier):
    kernel, case = files()
    kernel.write_text(kernel.read_text().replace("out, a, b;", "out, in, b;").replace("args->a,", "args->in,"))
    few = dict(chips=["bm1684x"], shapes=[dict(count=4096)])
    for arguments in ('{"in": x, ', "dict(in_=x, "):
        for reference in ("reference(in_, b, **rest):\n    return in_ + b", "reference(**rest):\n    return rest.get('in', rest.get('in_')) + rest['b']", "reference(b, in_):\n    return in_ + b"):
            end = "'b': x * 2, 'out': Output(count), 'count': count}" if arguments[0] == "{" else "b=x * 2, out=Output(count), count=count)"
            text = CASE[:CASE.index("    return dict(")] + f"    x = rng.random(count, np.float32)\n    return {arguments}{end}\n\ndef {reference}\n"
            case.write_text(text)
            made = trier.run(kernel, case, **few)
            assert made.verdict == "ok", text + made.text


def test_compile_launch_findings_and_timeout(files, trier):
    kernel, case = files("tpu_bdc_fp_ad(0);")
    made = trier.run(kernel, case)
    assert (made.verdict, made.exit_status) == ("compile", 111) and "tpu_bdc_fp_ad" in made["compile"][0]["output"]

    kernel, case = files("int unknown = ;")
    error = trier.run(kernel, case)["compile"][0]["errors"][0]
    assert error["line"] == line_of(kernel, "int unknown") and error["kind"] == "error"

    kernel, case = files("tpu_bdc_fp_add(0x8001, 0x0000, 0x4000, &shape, NULL, NULL, NULL, DT_FP32);")
    made = trier.run(kernel, case, chips=["bm1684x"])
    failure = made["cases"][0]["failure"]
    assert (made.verdict, made.exit_status) == ("launch", 112) and failure["line"] == line_of(kernel, "0x8001") and "0x8001" in failure["text"]

    # Right, because the order of the engines is left to chance.
    kernel, case = files(RIGHT + "\n  tpu_parallel_start();\n  tpu_bdc_set_C(0xc000, (scalar_t){.f32 = 0}, &shape, NULL, DT_FP32);\n"
                         "  tpu_gdma_cpy_S2L(0xc000, args->b, &shape, NULL, NULL, DT_FP32);\n  tpu_parallel_end();")
    made = trier.run(kernel, case, chips=["bm1684x"], shapes=[dict(count=4096)])
    assert (made.verdict, made.exit_status) == ("findings", 120) and made["cases"][0]["findings"][0]["rule"].startswith("race/")

    kernel, case = files("for (volatile int i = 0;; ++i) {}")
    begin = time.monotonic()
    made = trier.run(kernel, case, chips=["bm1684x"], shapes=[dict(count=4096)], timeout=1)
    assert (made.verdict, made.exit_status) == ("timeout", 122) and time.monotonic() - begin < 20


def documented(name):
    """The members that docs/agents.md names in the braces of a row."""
    page = (pathlib.Path(__file__).parents[2] / "docs/agents.md").read_text()
    row = re.search(rf"^\| `{name}` \|.*?\{{(.*)\}}.*\|$", page[page.index("## The document"):], re.M)[1]
    return set(re.findall(r"`(\w+)`", row))


def test_the_page_names_every_member(files, trier):
    """What is printed is what docs/agents.md says, no more and no less."""
    documents = [trier.run(*files("int unknown = ;")), trier.run(*files(), cores=[1, 4], chips=["bm1684x"]),
                 trier.run(*files("tpu_bdc_fp_add(0x8001, 0x0000, 0x4000, &shape, NULL, NULL, NULL, DT_FP32);")),
                 trier.run(*files(RIGHT.replace("fp_add", "fp_sub"))), trier.run(*files("for (int i = 0; i < 9; ++i)" + RIGHT))]
    seen = {}

    def note(name, member):
        seen.setdefault(name, set()).update(member)
    for document in documents:
        assert {"format", "version", "verdict", "exit_status", "seconds", "kernel_file", "case_file", "kernel", "compile", "left_out", "cases"} == set(document)
        for name in ("compile", "left_out", "cases"):
            for one in document[name]:
                assert set(one) == (documented(name) - {"line", "column", "kind", "text"} - ({"file"} if name != "compile" else set()))
        for one in document["compile"]:
            for error in one["errors"]:
                note("errors", error)
        for case in document["cases"]:
            if case["failure"]:
                note("failure", case["failure"])
            for difference in case["differences"].values():
                note("differences", difference)
                note("written_by", difference["written_by"] or {})
            for advice in case["advice"]:
                note("advice", advice)
    assert seen.pop("errors") == {"file", "line", "column", "kind", "text"}
    assert seen == {name: documented(name) for name in ("failure", "differences", "written_by", "advice")}


def test_cores_that_a_chip_lacks_are_left_out(files, trier):
    made = trier.run(*files(), cores=[1, 4], shapes=[dict(count=4096)], chips=["bm1684x"])
    assert len(made["cases"]) == 1 and made["left_out"][0]["why"] == "the chip has 1 core"


def command(*arguments, status):
    done = subprocess.run([sys.executable, "-m", "softtpu", "try", *map(str, arguments)], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout, done.stderr


def test_the_command(files, tmp_path):
    kernel, case = files()
    said, _ = command(kernel, case, "--chip", "BM1684X", "--shape", "count=4096", status=0)
    assert said.startswith("ok") and "ok: 1 of 1 case right" in said
    said, _ = command(kernel, case, "--json", "--chip", "bm1684x", "--shape", "count=4096", "--no-time", status=0)
    assert json.loads(said)["cases"][0]["estimated_us"] is None
    _, error = command(kernel, tmp_path / "nothing.py", status=2)
    assert "is no file" in error
    said, _ = command(kernel, case, "--json", "--chip", "nochip", status=2)
    assert json.loads(said)["verdict"] == "usage" and "nochip" in json.loads(said)["text"]
    _, error = command(kernel, case, "--tolerance", "x", status=2)
    assert "--tolerance x" in error
    (tmp_path / "bad.py").write_text("1 / 0")
    _, error = command(kernel, tmp_path / "bad.py", status=2)
    assert "ZeroDivisionError" in error


def test_the_launcher_starts_it(files):
    kernel, case = files()
    launcher = pathlib.Path(os.environ.get("SOFTTPU_PREFIX", "")) / "bin/softtpu"
    if not launcher.exists():
        pytest.skip("no build tree")
    environment = {**os.environ, "SOFTTPU_PYTHON": sys.executable}
    done = subprocess.run([launcher, "try", kernel, case, "--chip", "bm1684x"], capture_output=True, text=True, env=environment, timeout=300, check=False)
    assert done.returncode == 0 and "2 of 2 cases right" in done.stdout, done.stdout + done.stderr
    done = subprocess.run([launcher, "try", "--help"], capture_output=True, text=True, env=environment, timeout=60, check=False)
    assert done.returncode == 0 and "--watch" in done.stdout


def test_a_launcher_without_the_package_says_what_to_install(files, tmp_path):
    launcher = pathlib.Path(os.environ.get("SOFTTPU_PREFIX", "")) / "bin/softtpu"
    if not launcher.exists():
        pytest.skip("no build tree")
    bare = tmp_path / "python3"
    bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n')  # without installed packages
    bare.chmod(0o755)
    (tmp_path / "bin").mkdir()
    alone = shutil.copy(launcher, tmp_path / "bin")
    environment = {**{name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}, "SOFTTPU_PYTHON": str(bare)}

    def tried(*options):
        done = subprocess.run([alone, "try", *files(), *options], capture_output=True, text=True, env=environment, cwd=tmp_path, timeout=60, check=False)
        assert done.returncode == 2, done.stdout + done.stderr
        return done.stdout, done.stderr

    said, error = tried()
    assert said == "" and error.count("\n") == 1 and "lacks softtpu and numpy" in error and "SOFTTPU_PYTHON=" in error, error
    said, error = tried("--json")
    usual = json.loads(command(*files(), "--json", "--chip", "nochip", status=2)[0])
    assert error == "" and json.loads(said) == {**usual, "text": json.loads(said)["text"]} and "lacks softtpu and numpy" in said, said
    assert tried("--json", "--watch")[0].count("\n") == 1
    environment["SOFTTPU_PYTHON"] = str(tmp_path / "nothing")
    assert "nothing\" cannot be started: No such file" in tried()[1]


def test_a_reader_that_has_ended_gets_no_traceback(files):
    kernel, case = files()
    with subprocess.Popen([sys.executable, "-m", "softtpu", "try", kernel, case, "--chip", "bm1684x", "--shape", "count=4096"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.close()
        error = process.stderr.read()
    assert (process.returncode, error) == (128 + signal.SIGPIPE, "")


def test_ctrl_c_ends_the_first_trial_without_a_traceback(files):
    command = [sys.executable, "-m", "softtpu", "try", "--timeout", "60", *map(str, files(RIGHT + " for (;;);", CASE.replace("rng =", 'print("begun", flush=True)\n    rng =')))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout.readline() == "begun\n"
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=60)
    assert running.returncode == 128 + signal.SIGINT and "Traceback" not in errors, errors


def test_a_flag_that_begins_with_a_hyphen(files):
    kernel, case = files("MIDDLE")
    command = [sys.executable, "-m", "softtpu", "try", str(kernel), str(case), "--flag", "-DMIDDLE=" + RIGHT, "--chip", "bm1684x"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_watch_repeats_when_a_file_is_saved(files):
    kernel, case = files()
    with subprocess.Popen([sys.executable, "-m", "softtpu", "try", kernel, case, "--watch", "--json", "--chip", "bm1684x", "--shape", "count=4096"],
                          stdout=subprocess.PIPE, text=True) as process:
        assert json.loads(process.stdout.readline())["verdict"] == "ok"
        kernel.write_text(kernel.read_text().replace("fp_add", "fp_mul"))
        assert json.loads(process.stdout.readline())["verdict"] == "wrong"
        process.terminate()


def test_a_case_costs_less_than_a_second(files):
    with trial.Trier() as fresh:
        fresh.run(*files(), chips=["bm1684x"])  # compiles, and starts the device
        again = fresh.run(*files(), chips=["bm1684x"])
    cpu_is_shared = 4  # other work on the machine
    assert all(one["seconds"] < cpu_is_shared for one in again["cases"]), again.text


def test_the_first_wrong_index_and_the_largest_difference():
    import numpy as np
    wanted = np.arange(6, dtype=np.float32).reshape(2, 3)
    got = wanted.copy()
    got[1, 1] += 0.5
    got[1, 2] += 2
    found = runner.difference(got, wanted)
    assert (found.index, found.first, found.count, found.most) == ([1, 1], 4, 2, 2.0)
    assert runner.difference(got, wanted, 3.0) is None and runner.difference(got, wanted, lambda a, b: True) is None
    assert runner.difference(got, wanted.astype(np.float64)).text.startswith("type float32")
    nan = np.array([np.nan], np.float32)
    assert runner.difference(nan, nan) is None and runner.difference(nan, nan, 1e-3) is None
    assert runner.difference(nan, np.array([1], np.float32), 1e-3).most is None
