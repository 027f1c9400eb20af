// A queue of elements of some hundred bytes. std::deque takes memory for each of them or for every second one; this
// takes it for a page of them.
#pragma once

#include <boost/container/deque.hpp>
#include <boost/container/options.hpp>

namespace softtpu {

template <class T>
using BlockQueue =
    boost::container::deque<T, void, boost::container::deque_options_t<boost::container::block_bytes<4096>>>;

}  // namespace softtpu
