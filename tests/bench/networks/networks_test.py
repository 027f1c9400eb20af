#!/usr/bin/env python3
"""What scripts/bench --networks --compare prints."""
import unittest

import networks


def row(processor_ms, chip="bm1688", **more):
    return {"network": "block_W4BF16", "chip": chip, "softtpu": {"1": {"launch_processor_ms": processor_ms}}} | more


class Compared(unittest.TestCase):
    def lines(self, now, before):
        return list(networks.compared(now, {"networks": before}))

    def test_a_network_for_two_numbers_of_cores_is_compared_with_its_own(self):
        now, before = [row(3.0, cores=1), row(4.0, cores=2)], [row(1.0, cores=1), row(2.0, cores=2)]
        self.assertEqual(self.lines(now, before), ["block_W4BF16 (bm1688), 1 threads: 1.00 to 3.00 ms of processor time",
                                                   "block_W4BF16 (bm1688, 2 cores), 1 threads: 2.00 to 4.00 ms of processor time"])

    def test_earlier_rows_without_cores_are_compared_where_only_one_can_be_meant(self):
        self.assertEqual(len(self.lines([row(3.0, cores=2)], [row(1.0)])), 1)
        self.assertEqual(self.lines([row(3.0, cores=1), row(4.0, cores=2)], [row(1.0)]), [])
        self.assertEqual(self.lines([row(3.0, cores=1)], [row(1.0), row(2.0)]), [])

    def test_what_an_earlier_run_does_not_have_is_left_out(self):
        self.assertEqual(self.lines([row(3.0, cores=1)], []), [])
        self.assertEqual(self.lines([row(3.0, cores=1)], [row(1.0, chip="bm1684x", cores=1)]), [])


if __name__ == "__main__":
    unittest.main()
