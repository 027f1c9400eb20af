// Accesses outside of what is allocated, and outside of the chip's memories.
#include "bugs.h"

static const dim4 kTooTall = {1, 64, 5, 16};

KERNEL(bug_read_past_end) {
  LOAD(BANK(0), args->a, kTooTall);  // finds memory/overrun
  STORE(args->out, BANK(0), kWhole);
}
KERNEL(ok_read_past_end) {
  LOAD(BANK(0), args->a, kWhole);
  STORE(args->out, BANK(0), kWhole);
}

KERNEL(bug_write_past_end) {
  LOAD(BANK(0), args->a, kWhole);
  tpu_bdc_set_C(BANK(0) + 256, (scalar_t){.f32 = 0}, &kWhole, NULL, DT_FP32);
  STORE(args->out, BANK(0), kTooTall);  // finds memory/overrun
}
KERNEL(ok_write_past_end) {
  LOAD(BANK(0), args->a, kWhole);
  tpu_bdc_set_C(BANK(0) + 256, (scalar_t){.f32 = 0}, &kWhole, NULL, DT_FP32);
  STORE(args->out, BANK(0), kWhole);
}

KERNEL(bug_stride_past_end) {
  const dim4 rows = {1, 64, 2, 16};
  const dim4 stride = {0, 64, 64, 1};
  tpu_gdma_cpy_S2L(BANK(0), args->a, &rows, NULL, &stride, DT_FP32);  // finds memory/overrun
  STORE(args->out, BANK(0), rows);
}
KERNEL(ok_stride_past_end) {
  const dim4 rows = {1, 64, 2, 16};
  const dim4 stride = {0, 64, 32, 1};
  tpu_gdma_cpy_S2L(BANK(0), args->a, &rows, NULL, &stride, DT_FP32);
  STORE(args->out, BANK(0), rows);
}

KERNEL(bug_offset_past_end) {
  LOAD(BANK(0), args->a, kWhole);
  const dim4 row = {1, 1, 1, 16};
  STORE(args->freed + 40960, BANK(0), row);  // finds memory/overrun
}
KERNEL(ok_offset_past_end) {
  LOAD(BANK(0), args->a, kWhole);
  const dim4 row = {1, 1, 1, 16};
  STORE(args->out + 4096, BANK(0), row);
}

KERNEL(bug_system_copy_in_bytes) {
  tpu_gdma_system_cpy(args->out, args->a, BUFFER_ELEMENTS * 4, DT_FP32);  // finds memory/overrun init/global
}
KERNEL(ok_system_copy_in_bytes) { tpu_gdma_system_cpy(args->out, args->a, BUFFER_ELEMENTS, DT_FP32); }

KERNEL(bug_before_start) {
  LOAD(BANK(0), args->a, kWhole);
  STORE(args->out - 64, BANK(0), kWhole);  // finds memory/underrun
}
KERNEL(ok_before_start) {
  LOAD(BANK(0), args->a, kWhole);
  STORE(args->out, BANK(0), kWhole);
}

KERNEL(bug_use_after_free) {
  LOAD(BANK(0), args->freed, kWhole);  // finds memory/use-after-free
  STORE(args->out, BANK(0), kWhole);
}
KERNEL(ok_use_after_free) {
  LOAD(BANK(0), args->b, kWhole);
  STORE(args->out, BANK(0), kWhole);
}

KERNEL(bug_wild_address) {
  LOAD(BANK(0), args->a + (1ULL << 30), kWhole);  // finds memory/not-allocated
  STORE(args->out, BANK(0), kWhole);
}
KERNEL(ok_wild_address) {
  LOAD(BANK(0), args->a, kWhole);
  STORE(args->out, BANK(0), kWhole);
}

KERNEL(bug_cut_address) {
  LOAD(BANK(0), (unsigned)args->a, kWhole);  // finds memory/system-range
}
KERNEL(ok_cut_address) { LOAD(BANK(0), args->a, kWhole); }

KERNEL(bug_l2_past_end) {
  const dim4 line = {1, 1, 1, 32};
  const system_addr_t end = tpu_l2_sram_get_start_addr() + (system_addr_t)tpu_l2_sram_size();
  tpu_gdma_cpy_S2S(end - 64, args->a, &line, NULL, NULL, DT_FP32);  // finds memory/system-range
}
KERNEL(ok_l2_past_end) {
  const dim4 line = {1, 1, 1, 32};
  const system_addr_t end = tpu_l2_sram_get_start_addr() + (system_addr_t)tpu_l2_sram_size();
  tpu_gdma_cpy_S2S(end - 128, args->a, &line, NULL, NULL, DT_FP32);
}

KERNEL(bug_past_npu) {
  LOAD((local_addr_t)tpu_local_mem_size_per_npu() - 128, args->a, kWhole);  // finds memory/local-range
}
KERNEL(ok_past_npu) { LOAD((local_addr_t)tpu_local_mem_size_per_npu() - 256, args->a, kWhole); }

KERNEL(bug_beyond_local_memory) {
  LOAD(BANK(0), args->a, kWhole);
  const local_addr_t beyond = (local_addr_t)tpu_npu_num() * (local_addr_t)tpu_local_mem_size_per_npu();
  ADD(beyond, BANK(0), BANK(0), kWhole);  // finds memory/local-range
}
KERNEL(ok_beyond_local_memory) {
  LOAD(BANK(0), args->a, kWhole);
  ADD(BANK(1), BANK(0), BANK(0), kWhole);
}

// 256 bytes of each NPU are one buffer.
KERNEL(bug_buffers_share_bytes) {
  LOAD(BANK(0), args->a, kWhole);
  LOAD(BANK(0) + 128, args->b, kWhole);  // finds memory/overwritten
  ADD(BANK(1), BANK(0), BANK(0) + 128, kWhole);
  STORE(args->out, BANK(1), kWhole);
}
KERNEL(ok_buffers_share_bytes) {
  LOAD(BANK(0), args->a, kWhole);
  LOAD(BANK(0) + 256, args->b, kWhole);
  ADD(BANK(1), BANK(0), BANK(0) + 256, kWhole);
  STORE(args->out, BANK(1), kWhole);
}

// The last reader of the first is a store, two commands later; the twin has read it before.
KERNEL(bug_result_over_a_buffer) {
  LOAD(BANK(0), args->a, kWhole);
  LOAD(BANK(1), args->b, kWhole);
  ADD(BANK(0) + 192, BANK(1), BANK(1), kWhole);
  STORE(args->scratch, BANK(0) + 192, kWhole);
  STORE(args->out, BANK(0), kWhole);  // finds memory/overwritten
}
KERNEL(ok_result_over_a_buffer) {
  LOAD(BANK(0), args->a, kWhole);
  LOAD(BANK(1), args->b, kWhole);
  STORE(args->out, BANK(0), kWhole);
  ADD(BANK(0) + 192, BANK(1), BANK(1), kWhole);
  STORE(args->scratch, BANK(0) + 192, kWhole);
}

// A padded image: what is loaded inside belongs to it.
KERNEL(bug_image_past_its_padding) {
  const dim4 padded = {1, 64, 6, 16}, image = {1, 64, 5, 16};
  tpu_bdc_set_C(BANK(0), (scalar_t){.f32 = 0}, &padded, NULL, DT_FP32);
  LOAD(BANK(0) + 128, args->a, kWhole);
  LOAD(BANK(0) + 256, args->b, kWhole);  // finds memory/overwritten
  ADD(BANK(1), BANK(0), BANK(0), image);
  STORE(args->out, BANK(1), kWhole);
}
KERNEL(ok_image_past_its_padding) {
  const dim4 padded = {1, 64, 6, 16}, image = {1, 64, 5, 16};
  tpu_bdc_set_C(BANK(0), (scalar_t){.f32 = 0}, &padded, NULL, DT_FP32);
  LOAD(BANK(0) + 64, args->a, kWhole);
  LOAD(BANK(0) + 128, args->b, kWhole);
  ADD(BANK(1), BANK(0), BANK(0), image);
  STORE(args->out, BANK(1), kWhole);
}

// Tiles of a larger tensor, with a row in common that has the same values from both; then a smaller, last tile.
KERNEL(bug_rows_in_common) {
  const dim4 both = {1, 64, 7, 16};
  LOAD(BANK(0), args->a, kWhole);
  LOAD(BANK(0) + 192, args->b, kWhole);  // finds memory/overwritten
  ADD(BANK(1), BANK(0), BANK(0), kWhole);
  ADD(BANK(2), BANK(0), BANK(0), both);
}
KERNEL(ok_rows_in_common) {
  const dim4 both = {1, 64, 7, 16}, row = {1, 64, 1, 16}, rest = {1, 64, 3, 16};
  tpu_bdc_set_C(BANK(0), (scalar_t){.f32 = 3}, &kWhole, NULL, DT_FP32);
  tpu_bdc_set_C(BANK(0) + 192, (scalar_t){.f32 = 3}, &kWhole, NULL, DT_FP32);
  ADD(BANK(1), BANK(0), BANK(0), kWhole);
  ADD(BANK(2), BANK(0), BANK(0), both);
  LOAD(BANK(0), args->a, rest);
  LOAD(BANK(0) + 192, args->b, kWhole);
  ADD(BANK(1), BANK(0), BANK(0), rest);
  ADD(BANK(1), BANK(0) + 192, BANK(0) + 192, row);
}
