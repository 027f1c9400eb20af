"""Which pages of docs/numerics carry out which recorded functions."""
import pages
from elementwise_models import COEFFICIENTS, Elementwise
from product_models import Movers, OkKernel, Products

LEAST_FUNCTIONS = 130
_page = pages.load("bm1684x-elementwise", "bm1684x-matmul-conv-pool", "bm1684x-dma-hau-gather")
_okk = pages.load("bm1684x-elementwise", "bm1684-okkernel")


def load_coefficients(memory, name, arguments):
    """The first words of a table, to one offset of all NPUs."""
    table = name.removeprefix("tpu_bdc_load_fp32_")
    if table not in COEFFICIENTS:
        return False
    words = COEFFICIENTS[table][:192 if table == "exp_table" else 32].view("uint8")
    at = arguments.get("coeff_addr", arguments.get("table_addr"))
    memory.local[:, at:at + len(words)] = words
    return True


def run_bm1684x(memory, name, arguments):
    """Whether a page has the function."""
    if name.startswith("tpu_bdc_load_fp32_"):
        return load_coefficients(memory, name, arguments)
    return any(model.run(name, arguments) for model in (Products(memory, _page), Movers(memory, _page))) or \
        (name.startswith("tpu_bdc_") and Elementwise(memory, _page).run(name, arguments))


def run_bm1684(memory, name, arguments):
    return name.startswith("okk_bdc_") and OkKernel(memory, _okk).run(name, arguments)


CHIPS = [("bm1684x", 256 * 1024, run_bm1684x), ("bm1684", 512 * 1024, run_bm1684)]
