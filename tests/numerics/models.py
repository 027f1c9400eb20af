"""Which pages of docs/numerics carry out which recorded functions."""
import pages
from answer_models import Answers, OkAnswers
from conv_models import Convolutions
from copy_models import Copies, Hau
from elementwise_models import COEFFICIENTS, Elementwise
from gather_models import Gathers
from okkernel_models import OkCopies, OkKernel
from product_models import Products
from quant_models import Quantisation
from select_models import Selections
from special_models import SpecialFunctions
from window_models import Windows

LEAST_FUNCTIONS = 1680
_page = pages.load("bm1684x-elementwise", "bm1684x-matmul-conv-pool", "bm1684x-dma-hau-gather")
TODAY = ("bm1684x-elementwise", "bm1684x-matmul-conv-pool", "bm1684x-dma-hau-gather", "bm1684x-1.30")
_page_1_30 = pages.load(*TODAY)
_bm1688 = pages.load(*TODAY, "bm1688")
_bm1690 = pages.load(*TODAY, "bm1690")
_okk = pages.load("bm1684x-elementwise", "bm1684-okkernel")


BM1684X_BYTES, OF_INSTRUCTIONS = 256 * 1024, _page_1_30       # they are recorded on the newer emulator

WORDS = {"exp_table": 192}
WORDS_1_30 = {"exp_table": 0, "exp_coeff": 10, "log_coeff": 16}


def load_coefficients(memory, name, arguments, page, counts):
    """The first words of a table, to one offset of all NPUs."""
    table = page.TAN_TABLE if "_tan_" in name else name.removeprefix("tpu_bdc_load_fp32_")
    if table not in COEFFICIENTS:
        return False
    words = COEFFICIENTS[table][:32 if "_tan_" in name else counts.get(table, 32)].view("uint8")
    at = arguments.get("coeff_addr", arguments.get("table_addr")) % memory.npu_bytes
    memory.local[:, at:at + len(words)] = words
    return True


def run_tpu(memory, name, arguments, page, counts):
    """Whether a page has the function."""
    if Answers(memory, page).run(name, arguments):
        return True
    if name.startswith("tpu_bdc_load_fp32_"):
        return load_coefficients(memory, name, arguments, page, counts)
    return any(model.run(name, arguments) for model in (Products(memory, page), Copies(memory, page), Hau(memory, page), Gathers(memory, page), Windows(memory, page),
                                                 Convolutions(memory, page))) or \
        (name.startswith("tpu_bdc_") and any(model(memory, page).run(name, arguments) for model in (Quantisation, Selections, SpecialFunctions, Elementwise)))


def run_bm1684x(memory, name, arguments):
    return run_tpu(memory, name, arguments, _page, WORDS)


def run_bm1684x_1_30(memory, name, arguments):
    return run_tpu(memory, name, arguments, _page_1_30, WORDS_1_30)


def run_bm1688(memory, name, arguments):
    return run_tpu(memory, name, arguments, _bm1688, WORDS_1_30)


def run_bm1690(memory, name, arguments):
    return run_tpu(memory, name, arguments, _bm1690, WORDS_1_30)


def run_bm1684(memory, name, arguments):
    return any(model(memory, _okk).run(name, arguments) for model in (OkAnswers, OkKernel, OkCopies))


# Chip, bytes of an NPU's memory, NPUs, what carries a call out.
CHIPS = [("bm1684x", BM1684X_BYTES, 64, run_bm1684x), ("bm1684x-varied", BM1684X_BYTES, 64, run_bm1684x), ("bm1684-varied", 512 * 1024, 64, run_bm1684),
          ("bm1684x-1.30", BM1684X_BYTES, 64, run_bm1684x_1_30), ("bm1688", 128 * 1024, 32, run_bm1688),
         ("bm1690", 256 * 1024, 64, run_bm1690), ("bm1684", 512 * 1024, 64, run_bm1684),
         ("bm1684x-1.30-varied", BM1684X_BYTES, 64, run_bm1684x_1_30), ("bm1688-varied", 128 * 1024, 32, run_bm1688),
         ("bm1690-varied", 256 * 1024, 64, run_bm1690)]
