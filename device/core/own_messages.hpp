// Messages that the engines of one core send to each other, beside those that the cores of a launch share.
#pragma once

namespace softtpu {

// From this number on; no other core sees them.
inline constexpr int kOwnMessages = 1 << 20;
constexpr bool is_own_message(int id) { return id >= kOwnMessages; }

}  // namespace softtpu
