// Text files of this folder that are compiled in.
#pragma once

#include <string_view>

// The text of a file by its name; empty when there is none.
std::string_view embedded_list(std::string_view name);
