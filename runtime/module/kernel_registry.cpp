#include "runtime/module/kernel_registry.hpp"
#include "runtime/base/text.hpp"

#include <algorithm>
#include <cstdio>

namespace softtpu {

void KernelRegistry::add(std::string_view name, KernelFunction function) {
  const std::lock_guard lock(mutex_);
  const bool known = std::any_of(rows_.begin(), rows_.end(),
                                 [&](const Row& row) { return row.module == loading_ && row.name == name; });
  if (!known) rows_.push_back({std::string(name), function, loading_});
}

void KernelRegistry::set_loading(std::uint32_t module) {
  const std::lock_guard lock(mutex_);
  loading_ = module;
}

KernelFunction KernelRegistry::find(std::uint32_t module, std::string_view name) const {
  const std::lock_guard lock(mutex_);
  const auto row =
      std::find_if(rows_.begin(), rows_.end(), [&](const Row& r) { return r.module == module && r.name == name; });
  return row != rows_.end() ? row->function : nullptr;
}

std::vector<std::string> KernelRegistry::names(std::uint32_t module) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> found;
  for (const Row& row : rows_) {
    if (row.module == module) found.push_back(row.name);
  }
  return found;
}

std::vector<KernelFunction> KernelRegistry::functions() const {
  const std::scoped_lock lock(mutex_);
  std::vector<KernelFunction> list;
  for (const Row& row : rows_) list.push_back(row.function);
  return list;
}

void KernelRegistry::remove(std::uint32_t module) {
  const std::lock_guard lock(mutex_);
  std::erase_if(rows_, [module](const Row& row) { return row.module == module; });
}

std::size_t KernelRegistry::size() const {
  const std::lock_guard lock(mutex_);
  return rows_.size();
}

void KernelRegistry::dump() const {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < rows_.size(); ++i)
    std::printf("OKKernel function %zu: %s\n", i, escape_controls(rows_[i].name).c_str());
}

KernelRegistry& kernel_registry() {
  // Never destroyed: destructors of late modules and of the program may still come here.
  static KernelRegistry* const registry = new KernelRegistry;
  return *registry;
}

}  // namespace softtpu
