#include "device/core/call_kind.hpp"

#include <utility>

namespace softtpu {
namespace {

thread_local CallKind kind_of_this_thread = CallKind::kKernel;

}  // namespace

CallKind current_call_kind() { return kind_of_this_thread; }

CallKindScope::CallKindScope(CallKind kind) : before_(std::exchange(kind_of_this_thread, kind)) {}
CallKindScope::~CallKindScope() { kind_of_this_thread = before_; }

}  // namespace softtpu
