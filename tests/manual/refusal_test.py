#!/usr/bin/env python3
"""What reference_complete refuses: an entry of docs/reference that lacks its purpose, a parameter, types, overlap, errors, an example, the source of its facts."""
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "scripts/reference"))
import check  # noqa: E402
import model  # noqa: E402


class Refusals(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.reference = model.Reference()

    def function(self, name="tpu_bdc_fp_mm", **own):
        whole = self.reference.functions[name]
        self.assertEqual(check.gaps(whole), [])
        return model.Function(whole.prototype, dict(whole.family), {**whole.own, **own}, self.reference)

    def test_a_purpose_that_is_no_sentence(self):
        for purpose in ("", "Product", "Product of two matrices"):
            self.assertIn("a purpose: one sentence", check.gaps(self.function(purpose=purpose)))

    def test_a_parameter_without_a_meaning(self):
        self.assertIn("parameter left_rows", check.gaps(self.function(parameters={"left_rows": ""})))

    def test_types_errors_and_returns_that_are_missing(self):
        function = self.function()
        function.limits = {key: value for key, value in function.limits.items() if key != "types"}
        self.assertIn("types", check.gaps(function))
        function = self.function("bm_malloc_device_byte")
        function.family["errors"] = function.family["returns"] = ""
        function.own = {"purpose": function.own["purpose"]}
        self.assertIn("errors", check.gaps(function))
        self.assertIn("what it returns", check.gaps(function))

    def test_an_example_that_does_not_call_it(self):
        self.assertIn("an example that calls it", check.gaps(self.function(example="tpu_poll();")))

    def test_facts_without_a_source_and_a_result_without_bits(self):
        function = self.function()
        function.family["source"] = function.family["rounding"] = ""
        self.assertIn("the source of the facts", check.gaps(function))
        self.assertIn("rounding: what the result is to the last bit", check.gaps(function))

    def test_operands_of_which_nobody_says_whether_they_may_overlap(self):
        function = self.function()
        function.family["overlap"] = ""
        self.assertIn("overlap: which operands may share bytes", check.gaps(function))

    def test_operands_behind_a_pointer_and_in_global_memory_are_operands_too(self):
        for name in ("tpu_bdc_greater_select", "okk_bdc_equal_select", "tpu_gdma_compress_normal_L2S"):
            function = self.function(name)
            function.family["overlap"] = ""
            self.assertIn("overlap: which operands may share bytes", check.gaps(function))

    def test_a_function_without_an_entry(self):
        self.reference.prototypes["tpu_bdc_new"] = model.Prototype("tpu_bdc_new", "void", [], "firmware/include/tpu_kernel.h")
        self.addCleanup(self.reference.prototypes.pop, "tpu_bdc_new")
        self.assertEqual(self.reference.missing(), ["tpu_bdc_new"])


if __name__ == "__main__":
    unittest.main()
