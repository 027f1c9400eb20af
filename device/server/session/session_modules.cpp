// What a client does with kernel modules: loads and unloads them, and looks up their functions.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>

#include "device/server/session/deferred_close.hpp"
#include "device/server/session/module_hash.hpp"
#include "device/server/session/session.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/text.hpp"
#include "runtime/module/kernel_registry.hpp"
#include "runtime/module/module_image.hpp"
#include "runtime/module/module_symbols.hpp"
#include "runtime/module/own_interface.hpp"

namespace softtpu {
namespace {

// A message names these.
constexpr std::size_t kMostGoneFunctions = 64;
constexpr std::size_t kMostFunctions = 16384;
// Definitions that go to the core ahead of others' launches: a client has few of them under way.
constexpr std::size_t kDefinitionWeight = 64;

// A copy that is being made. Its client may go before it is whole.
std::shared_ptr<ModuleCopy> held(ModuleCopy copy, bool aside) {
  return {new ModuleCopy(std::move(copy)), [aside](ModuleCopy* last) {
            if (aside) close_deferred(last->give_up());
            delete last;
          }};
}

}  // namespace

void Session::on_load(std::uint64_t request, msg::LoadModule& load, Frame& frame) {
  load.name = to_printable(load.name);
  auto hold = share_->hold_module(device_->core_count());
  if (!hold) return fail(request, hold.error());
  if (frame.fds.empty()) {
    return check_and_load(request, load.name, copy_module_bytes(load.image), *std::move(hold));
  }
  // A copy of our own: the sender could change or shorten its file while the loader reads it.
  auto begun = ModuleCopy::of_file(std::move(frame.fds[0]), load.name);
  if (!begun) return fail(request, begun.error());
  const auto copy = held(*std::move(begun), !device_->in_process());
  const auto failed = std::make_shared<std::optional<Error>>();
  work_in_pieces(
      [copy, failed] {
        const auto through = copy->step();
        if (!through) *failed = through.error();
        return !through || *through;
      },
      [this, request, name = load.name, copy, failed, hold = *std::move(hold)] {
        if (*failed) return fail(request, **failed);
        check_and_load(request, name, copy->take(), hold);
      });
}

// A module whose image comes in the message, in pieces.
Result<std::optional<std::size_t>> Session::begin_module(const FrameHeader& header,
                                                         std::span<const std::uint8_t> payload) {
  auto module = find_incoming_module(payload, header.payload_bytes);
  if (!module) return module.error();
  if (!*module) return std::optional<std::size_t>();
  auto hold = share_->hold_module(device_->core_count());
  auto begun = ModuleCopy::of_bytes();
  const auto failed = std::make_shared<std::optional<Error>>();
  if (!begun) *failed = begun.error();
  if (!hold) *failed = hold.error();
  const auto copy = held(begun ? *std::move(begun) : ModuleCopy(), !device_->in_process());
  incoming_ = {(*module)->bytes,
               [copy, failed](std::span<const std::uint8_t> piece) {
                 if (*failed) return;
                 if (auto added = copy->add(piece); !added) *failed = added.error();
               },
               [this, request = header.request, name = to_printable((*module)->name), copy, failed,
                hold = hold ? *hold : ClientShare::Hold()] {
                 if (*failed) return fail(request, **failed);
                 check_and_load(request, name, copy->take(), hold);
               }};
  return std::optional((*module)->at);
}

void Session::check_and_load(std::uint64_t request, const std::string& name, Result<UniqueFd> copy,
                             ClientShare::Hold hold) {
  if (!copy) return fail(request, copy.error());
  const auto image =
      device_->in_process() ? std::make_shared<UniqueFd>(*std::move(copy)) : deferred_close(*std::move(copy));
  if (auto good = check_module(image->get(), name); !good) return fail(request, good.error());
  // Firmware has what it needs of the system on the chip.
  if (watch() != nullptr && watch()->wants_symbols() && !brings_interface(image->get())) {
    if (auto symbols = reachable_symbols(image->get(), name)) watch()->loaded(name, *symbols);
  }
  if (!is_logged(LogLevel::kInfo)) return start_load(request, name, image, std::move(hold));
  const auto hash = std::make_shared<ModuleHash>(image->get());
  work_in_pieces([hash] { return hash->step(); },
                 [this, request, name, hash, image, hold = std::move(hold)] {
                   log_info(fmt::format("{} loads kernel module {}, sha256 {}", name_, name, hash->text()));
                   start_load(request, name, image, hold);
                 });
}

// Loads, unloads and definitions run code of a module in the core: others' launches come in between.
void Session::in_turn(ClientShare::Job job) {
  ++in_core_;
  share_->in_turn([self = shared_from_this(), job = std::move(job)](std::function<void()> done) {
    job([self, done = std::move(done)] {
      --self->in_core_;
      done();
    });
    self->device_->flush();
  });
}

void Session::start_load(std::uint64_t request, const std::string& name, const std::shared_ptr<UniqueFd>& image,
                         ClientShare::Hold hold) {
  const std::uint32_t id = device_->next_module();
  CoreLink::Loaded loaded = [self = shared_from_this(), request, id, name,
                             hold = std::move(hold)](Result<std::vector<std::string>> kernels) {
    if (self->closed_) {
      if (kernels) self->unload_in_turn(id, hold);
      return;
    }
    if (!kernels) {
      self->fail(request, kernels.error());
    } else {
      self->modules_[id] = {name, {kernels->begin(), kernels->end()}, hold};
      self->reply(request, msg::LoadModuleReply{id});
    }
    self->flush();
  };
  in_turn([self = shared_from_this(), id, name, image,
           loaded = counted(std::move(loaded))](const std::function<void()>& done) {
    if (self->closed_) return done();
    self->device_->load(id, name, *image, self->client_.get(),
                        [loaded, done](Result<std::vector<std::string>> kernels) {
                          loaded(std::move(kernels));
                          done();
                        });
  });
}

void Session::on_unload(std::uint64_t request, msg::UnloadModule& unload, Frame&) {
  const auto found = modules_.find(unload.module);
  if (found == modules_.end()) {
    return fail(request, {ErrorKind::kUsage, fmt::format("module {} is not loaded by this program.", unload.module)});
  }
  // Launches that wait were accepted while the module was there and still run.
  leaving_[unload.module] = std::move(found->second.hold);
  for (const auto& [id, function] : functions_) {
    if (function.module == unload.module)
      gone_functions_[id] = fmt::format("\"{}\" of module \"{}\"", to_printable(function.name, 64),
                                        to_printable(found->second.name, 128));
  }
  while (gone_functions_.size() > kMostGoneFunctions) gone_functions_.erase(gone_functions_.begin());
  modules_.erase(found);
  std::erase_if(functions_, [&](const auto& row) { return row.second.module == unload.module; });
  std::erase_if(found_, [&](const auto& row) { return row.first.first == unload.module; });
  std::erase_if(kernels_, [&](const auto& row) { return !functions_.contains(row.second); });
  const std::size_t weight = 1 + client_->active();
  unanswered_ += weight;
  device_->queue().when_finished(client_, [self = shared_from_this(), module = unload.module, weight] {
    self->unanswered_ -= weight;
    self->go_on();
    if (auto leaving = self->leaving_.extract(module)) self->unload_in_turn(module, std::move(leaving.mapped()));
  });
  reply(request, msg::Done{});
}

void Session::unload_in_turn(std::uint32_t module, ClientShare::Hold hold) {
  in_turn([self = shared_from_this(), module, hold = std::move(hold)](const std::function<void()>& done) {
    self->device_->unload(module, self->client_.get(), [hold, done](const Result<void>&) { done(); });
  });
}

void Session::on_find(std::uint64_t request, msg::FindFunction& find, Frame&) {
  const bool program = find.module == KernelRegistry::kProgram && device_->in_process();
  const auto not_loaded = [module = find.module] {
    return Error{ErrorKind::kUsage, fmt::format("module {} is not loaded by this program.", module)};
  };
  if (!program && !modules_.contains(find.module)) return fail(request, not_loaded());
  if (find.name.empty() || find.name.size() > kMaxKernelName) {
    return fail(request, {ErrorKind::kUsage, fmt::format("a function's name has {} characters (1 to {}).",
                                                         find.name.size(), kMaxKernelName)});
  }
  if (const auto known = found_.find({find.module, find.name}); known != found_.end())
    return reply(request, msg::FindFunctionReply{known->second});
  if (auto room = check_functions(); !room) return fail(request, room.error());
  const std::uint32_t id = device_->next_function();
  CoreLink::Answered defined = [self = shared_from_this(), request, id, find, program,
                                not_loaded](const Result<void>& outcome) {
    if (!outcome) {
      self->fail(request, outcome.error());
    } else if (!program && !self->modules_.contains(find.module)) {
      self->fail(request, not_loaded());
    } else {
      self->functions_[id] = {find.module, find.name};
      self->found_[{find.module, find.name}] = id;
      self->reply(request, msg::FindFunctionReply{id});
    }
    self->flush();
  };
  in_turn(
      [self = shared_from_this(), id, find, defined = counted(std::move(defined))](const std::function<void()>& done) {
        if (self->closed_) return done();
        self->device_->define(id, find.module, find.name, self->client_.get(),
                              [defined, done](const Result<void>& outcome) {
                                defined(outcome);
                                done();
                              });
      });
}

Result<void> Session::check_functions() const {
  if (functions_.size() < kMostFunctions) return {};
  return Error{ErrorKind::kResource,
               fmt::format("this program has looked up {} functions already (limit).", kMostFunctions)};
}

// The function behind a kernel's name: of the program itself, else of the module that registered it first.
Result<std::uint32_t> Session::find_kernel(const std::string& name) {
  if (const auto known = kernels_.find(name); known != kernels_.end()) return known->second;
  std::optional<std::uint32_t> module;
  if (device_->in_process() && kernel_registry().find(KernelRegistry::kProgram, name) != nullptr)
    module = KernelRegistry::kProgram;
  for (auto it = modules_.begin(); !module && it != modules_.end(); ++it) {
    if (it->second.kernels.contains(name)) module = it->first;
  }
  if (!module) return Error{ErrorKind::kUsage, fmt::format("kernel \"{}\" is not found: {}.", name, kNotRegistered)};
  if (auto room = check_functions(); !room) return room.error();
  const std::uint32_t id = device_->next_function();
  functions_[id] = {*module, name};
  kernels_[name] = id;
  // At once: the launch comes behind it.
  device_->define(id, *module, name, client_.get(), counted<void>([](const Result<void>&) {}, kDefinitionWeight));
  return id;
}

}  // namespace softtpu
