#!/usr/bin/env python3
"""The options of `softtpu run` that decide what becomes of findings."""
import argparse
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

BUILD = None


def run(kernel, *options, environment=None, launcher=True, module="race", arguments=()):
    """Exit status, JSON report, text."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        command = [str(BUILD / "bin/bugs_host"), str(BUILD / f"lib/bugs_{module}.so"), kernel, *arguments]
        if launcher:
            options = [option.replace("FOLDER", folder) for option in options]
            command = [str(BUILD / "bin/softtpu"), "run", f"--report=json:{report}", *options, "--", *command]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **(environment or {})})
        files = {file.suffix: file.read_text() for file in pathlib.Path(folder).iterdir()}
    return done.returncode, json.loads(files.get(".json", "null")), done.stdout + done.stderr, files


class Options(unittest.TestCase):
    def test_findings_decide_the_exit_status(self):
        status, report, text, _ = run("bug_use_while_loading", "--check=race")
        self.assertEqual(status, 120)
        self.assertEqual((report["verdict"], report["exit_status"], len(report["findings"])), ("findings", 120, 1))
        self.assertIn("softtpu: 1 finding, 1 occurrence", text)
        self.assertNotIn("\x1b", text)

    def test_without_checks_nothing_is_found(self):
        status, report, _, _ = run("bug_use_while_loading")
        self.assertEqual((status, report["findings"], report["verdict"]), (0, [], "success"))

    def test_allowed_findings_are_counted(self):
        status, report, text, _ = run("bug_use_while_loading", "--check=race", "--allow=race/*@bug_*:local:0-0xfff")
        self.assertEqual((status, report["findings"]), (0, []))
        self.assertEqual(report["allowed"], [{"rule": "race/raw", "kernel": "bug_use_while_loading", "count": 1}])
        self.assertIn("was allowed 1 time", text)

    def test_other_kernels_and_bytes_are_not_allowed(self):
        for allow in ("race/raw@ok_*", "race/raw:local:0x100-0x1ff", "race/raw:global:0-0xffffffff", "init/*"):
            status, report, _, _ = run("bug_use_while_loading", "--check=race", f"--allow={allow}")
            self.assertEqual((status, len(report["findings"])), (120, 1), allow)

    def test_a_bad_allow_rule_is_refused(self):
        _, _, text, _ = run("bug_use_while_loading", "--check=race", "--allow=race/nothing")
        self.assertIn('SOFTTPU_ALLOW: allow rule "race/nothing": no rule has that name', text)

    def test_the_number_of_findings_is_limited(self):
        for most in (1, 2):
            _, report, _, _ = run("bug_order_matters", "--check=race", "--schedules=4", f"--max-findings={most}")
            self.assertEqual(len(report["findings"]), most)

    def test_what_is_left_out_is_said(self):
        status, report, text, _ = run("bug_system_copy_in_bytes", "--check=all", "--max-findings=1", module="memory")
        self.assertEqual((status, len(report["findings"]), report["left_out"]), (120, 1, {"error": 1, "warning": 0, "note": 0}))
        self.assertIn("1 less severe or later finding is left out (--max-findings): 1 error", text)
        _, report, text, _ = run("bug_system_copy_in_bytes", "--check=all", "--max-findings=2", module="memory")
        self.assertEqual((len(report["findings"]), report["left_out"]), (2, {"error": 0, "warning": 0, "note": 0}))
        self.assertNotIn("left out", text)

    def test_functions_that_depend_on_a_deviation_are_documented(self):
        root = pathlib.Path(__file__).resolve().parent.parent.parent
        functions = re.findall(r'^(?:RESULT_)?DEVIATION\("(\w+)"', (root / "device/checks/deviations.def").read_text(), re.M)
        page = (root / "docs/deviations.md").read_text()
        self.assertGreater(len(functions), 10)
        self.assertEqual([name for name in functions if f"`{name}`" not in page], [])
        tables = page.partition("## The runtime of BM1690")[0].split("| said by |")[1:]
        rows = [row.strip("|").split(" | ") for table in tables for row in table.splitlines()[2:] if row.startswith("| `") or row.startswith("| operands")]
        self.assertGreater(len(rows), 30)
        for row in rows:
            self.assertEqual(len(row), 4, row)
            self.assertRegex(row[3].strip(), "^(note|error|nothing|another rule)", row[0])
        noted = [row[0] for row in rows if "note" in row[3]]
        self.assertEqual([name for name in functions if not any(f"`{name}`" in first for first in noted)], [])

    def test_findings_name_columns_operands_and_lines(self):
        """Texts that users had to read twice."""
        for module, kernel, text in (
                ("init", "bug_columns_behind_the_last", r"tpu_bdc_fp_add reads columns 10\.\.15 of src0, but tpu_gdma_cpy_S2L at init\.c:\d+ wrote only columns 0\.\.9"),
                ("init", "bug_channels_behind_the_last", r"reads channel 60 of src0, but tpu_gdma_cpy_S2L at init\.c:\d+ wrote only channels 0\.\.59"),
                ("init", "bug_part_of_the_last_channel", r"tpu_bdc_abs reads columns 1\.\.3 of src, but tpu_gdma_matrix_S2L at init\.c:\d+ wrote only a part of channel 10"),
                ("constraint", "bug_one_row_further", r"dst of tpu_bdc_cpy overlaps src but does not start at the same address \(first common byte: 0x40\)"),
                ("constraint", "bug_other_npu", r"\(nearest: 0x00004000 for src1\)"),
                ("constraint", "bug_half_an_element", r"\(nearest: 0x[0-9a-f]+ for src\)")):
            self.assertRegex(run(kernel, "--check=all", module=module)[2], text)

    def test_errors_displace_notes(self):
        for most, kept in ((1, {"race/raw"}), (2, {"race/raw", "bank/overlap"})):
            _, report, _, _ = run("bug_race_and_bank", "--check=bank,race", f"--max-findings={most}", module="bank")
            self.assertEqual({finding["rule"] for finding in report["findings"]}, kept)

    def test_notes_about_banks_are_asked_for(self):
        self.assertEqual(run("bug_operands_in_one_bank", "--check=all", module="bank")[1]["findings"], [])
        status, report, _, _ = run("bug_only_one_pays", "--check=bank", module="bank")
        self.assertEqual((status, [finding["rule"] for finding in report["findings"]]), (0, ["bank/operands"]))
        self.assertRegex(report["findings"][0]["what"], r"bank 0; so does 1 other pair of calls; \d+ % of the launch")

    def test_without_the_launcher_findings_go_to_stderr(self):
        status, _, text, _ = run("bug_use_while_loading", launcher=False, environment={"SOFTTPU_CHECK": "race"})
        self.assertEqual(status, 0)
        self.assertIn('softtpu: error race/raw in kernel "bug_use_while_loading": GDMA and BDC touch the same bytes', text)
        self.assertIn("at race.c:", text)

    def test_kernels_in_the_program_are_checked_too(self):
        environment = {"SOFTTPU_DEVICE": "inprocess"}
        status, report, _, _ = run("bug_use_while_loading", "--check=all", environment=environment)
        self.assertEqual((status, [finding["rule"] for finding in report["findings"]]), (120, ["race/raw"]))
        status, report, _, _ = run("bug_read_past_end", "--check=all", environment=environment, module="memory")
        self.assertEqual([finding["rule"] for finding in report["findings"]], ["memory/overrun"])

    def test_streamed_copies_are_seen(self):
        environment = {"SOFTTPU_TRANSPORT": "stream"}
        self.assertEqual(run("ok_operand_not_loaded", "--check=all,output", environment=environment, module="init")[1]["findings"], [])
        status, report, _, _ = run("bug_unwritten_input", "--check=all", environment=environment, module="init")
        self.assertEqual([finding["rule"] for finding in report["findings"]], ["init/global"])

    def test_unsupported_calls_have_a_status(self):
        status, report, _, _ = run("bug_use_while_loading", "--chip=bm1684")
        self.assertEqual((status, report["verdict"], report["failures"][0]["kind"]), (123, "unsupported call", "unsupported"))

    def test_other_formats_can_be_read(self):
        _, _, _, files = run("bug_use_while_loading", "--check=race", "--report=sarif:FOLDER/report.sarif", "--report=junit:FOLDER/report.xml")
        result = json.loads(files[".sarif"])["runs"][0]["results"][0]
        self.assertEqual(result["ruleId"], "race/raw")
        self.assertTrue(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].endswith("race.c"))
        suite = xml.etree.ElementTree.fromstring(files[".xml"])
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("2", "1"))

    def test_numbers_of_cores_are_compared(self):
        """Also more than the chip has: for the comparison it gets as many."""
        chip = pathlib.Path(__file__).resolve().parent / "four_cores.json"
        on_two = {"module": "cores", "arguments": ("1", "2")}
        for kernel, counts, status in (("bug_cores_number_in_result", "1,2,8", 120), ("bug_cores_number_in_result", "2", 0),
                                       ("ok_cores_always_halves", "1,2,4,8", 0)):
            found, report, text, _ = run(kernel, f"--chip={chip}", f"--cores={counts}", **on_two)
            self.assertEqual(found, status, text)
            self.assertEqual({finding["rule"] for finding in report["findings"]}, {"cores/number"} if status else set())
        _, report, _, _ = run("bug_cores_number_in_result", f"--chip={chip}", "--cores=8", **on_two)
        self.assertRegex(report["findings"][0]["what"], r"on 8 cores the launch gives other results than on its 2 cores: \d+ bytes differ")
        _, report, _, _ = run("bug_cores_barrier_of_two", f"--chip={chip}", "--cores=1", **on_two)
        self.assertRegex(report["findings"][0]["what"], r"on 1 core the launch fails: tpu_core_barrier: core_num \(2\) is outside 1..1")

    def test_bad_numbers_of_cores_are_refused(self):
        for counts in ("0", "65", "2,", "two", "1,,2"):
            status, _, text, _ = run("ok_order_matters", f"--cores={counts}")
            self.assertEqual(status, 125, text)
            self.assertEqual(len(text.splitlines()), 1, text)
            self.assertIn("SOFTTPU_CORES", text)

    def test_orders_of_cores_are_compared(self):
        chip = pathlib.Path(__file__).resolve().parent / "four_cores.json"
        _, report, _, _ = run("bug_cores_who_is_last", f"--chip={chip}", "--schedules=8", module="cores", arguments=("1", "2"))
        found = [finding for finding in report["findings"] if finding["rule"] == "schedule/differs"]
        self.assertTrue(found)
        self.assertRegex(found[0]["what"], r'with the order "random:\d" the launch gives other results than in program order: \d+ bytes')

    def test_orders_do_not_change_what_is_ordered(self):
        for order in ("program", "late", "random:7"):
            status, report, _, _ = run("ok_message_not_waited_for", "--check=all,output", f"--schedule={order}")
            self.assertEqual((status, report["findings"]), (0, []), order)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="the build tree")
    arguments, rest = parser.parse_known_args()
    BUILD = arguments.build
    unittest.main(argv=["options_test.py", *rest])
