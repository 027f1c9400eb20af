// A server that lives when a page of memory that it shares with others cannot be had: files that are sealed keep their
// size, but a machine may still have no page left for one, or lose one.
#pragma once

#include <cstdint>

namespace softtpu {

// From now on a bus error in a shared memory puts zeros in the place of that page, for this process only, and says so
// on standard error. Everything else is as it was.
void survive_shared_memory_faults();

// Pages that were replaced so far.
std::uint64_t replaced_shared_pages();

}  // namespace softtpu
