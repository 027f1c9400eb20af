// Memories of many megabytes that tests copy and compare at the price of the pages that were written.
//
// The images of one background map its file privately: a page is the file's until the image writes to it, and from then
// on its own. /proc/self/pagemap tells which pages are; where it does not (qemu-user), all of them count as such.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

namespace softtpu::reference {

// What images hold before anything is written to them. Does not change any more.
class Background {
 public:
  using Shared = std::shared_ptr<const Background>;

  explicit Background(std::size_t bytes) : bytes_(bytes), fd_(memfd_create("image", MFD_CLOEXEC)) {
    if (fd_ < 0 || ftruncate(fd_, static_cast<off_t>(mapped_bytes())) != 0) fail("a file for images");
  }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  ~Background() {
    for (std::uint8_t* const data : unused_) munmap(data, mapped_bytes());
    close(fd_);
  }

  static Shared zeros(std::size_t bytes) { return std::make_shared<const Background>(bytes); }
  // What `fill` makes of zeros.
  static Shared made(std::size_t bytes, const std::function<void(std::uint8_t*)>& fill) {
    auto background = std::make_shared<const Background>(bytes);
    std::uint8_t* const data = background->map(nullptr, MAP_SHARED);
    fill(data);
    munmap(data, background->mapped_bytes());
    return background;
  }
  static Shared filled(std::size_t bytes, std::uint8_t value) {
    return made(bytes, [&](std::uint8_t* data) { std::memset(data, value, bytes); });
  }

  static std::size_t page_bytes() {
    static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return bytes;
  }
  std::size_t bytes() const { return bytes_; }
  std::size_t pages() const { return (bytes_ + page_bytes() - 1) / page_bytes(); }
  std::size_t mapped_bytes() const { return pages() * page_bytes(); }

  // A private mapping, in place of what is at `at` or anywhere.
  std::uint8_t* map(std::uint8_t* at) const {
    return map(at, at == nullptr ? MAP_PRIVATE | MAP_NORESERVE : MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED);
  }
  // Mappings that images have given up are used again, since new pages cost more than copies. Their bytes may be any.
  std::uint8_t* take() const {
    const std::lock_guard lock(mutex_);
    if (unused_.empty()) return map(nullptr);
    std::uint8_t* const data = unused_.back();
    unused_.pop_back();
    return data;
  }
  void give_up(std::uint8_t* data) const {
    const std::lock_guard lock(mutex_);
    unused_.push_back(data);
  }

 private:
  [[noreturn]] static void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }
  std::uint8_t* map(std::uint8_t* at, int flags) const {
    void* const data = mmap(at, mapped_bytes(), PROT_READ | PROT_WRITE, flags, fd_, 0);
    if (data == MAP_FAILED) fail("mapping an image");
    return static_cast<std::uint8_t*>(data);
  }

  std::size_t bytes_;
  int fd_;
  mutable std::mutex mutex_;
  mutable std::vector<std::uint8_t*> unused_;
};

class Image {
 public:
  Image() = default;
  explicit Image(Background::Shared background)
      : background_(std::move(background)), data_(background_->map(nullptr)) {}
  // In place of the memory at `at`, whose owner unmaps it.
  Image(Background::Shared background, std::uint8_t* at)
      : background_(std::move(background)), data_(background_->map(at)), placed_(true) {}
  // A copy has a place of its own.
  Image(const Image& other) { *this = other; }
  ~Image() { give_up(); }

  // The same bytes in this image's place.
  Image& operator=(const Image& other) {
    if (this == &other) return *this;
    if (background_ != other.background_) {
      if (placed_ && size() != other.size()) throw std::length_error("an image of another size");
      give_up();
      background_ = other.background_;
      if (background_ != nullptr) data_ = placed_ ? background_->map(data_) : background_->take();
    }
    if (background_ == nullptr) return *this;
    const Pages theirs = other.own_pages();
    Pages mine = own_pages();
    // Rather than to keep many pages that are the background's again.
    if (count(mine) > 2 * count(theirs) + kFewPages && madvise(data_, background_->mapped_bytes(), MADV_DONTNEED) == 0)
      mine.assign(mine.size(), 0);
    const std::size_t page = Background::page_bytes();
    for (std::size_t i = 0; i < mine.size(); ++i) {
      if (is_own(mine[i] | theirs[i])) std::memcpy(data_ + i * page, other.data_ + i * page, page);
    }
    return *this;
  }

  std::uint8_t* data() { return data_; }
  const std::uint8_t* data() const { return data_; }
  std::size_t size() const { return background_ == nullptr ? 0 : background_->bytes(); }
  bool empty() const { return size() == 0; }
  std::uint8_t operator[](std::size_t at) const { return data_[at]; }

  // The first byte that differs; of images of one size.
  std::optional<std::size_t> find_difference(const Image& other) const {
    if (empty()) return std::nullopt;
    const Pages mine = own_pages(), theirs = other.own_pages();
    const bool is_related = background_ == other.background_;
    const std::size_t page = Background::page_bytes();
    for (std::size_t i = 0; i < mine.size(); ++i) {
      if (is_related && !is_own(mine[i] | theirs[i])) continue;
      const std::size_t begin = i * page, bytes = std::min(page, size() - begin);
      if (std::memcmp(data_ + begin, other.data_ + begin, bytes) == 0) continue;
      return static_cast<std::size_t>(std::mismatch(data_ + begin, data_ + begin + bytes, other.data_ + begin).first -
                                      data_);
    }
    return std::nullopt;
  }
  bool operator==(const Image& other) const { return size() == other.size() && !find_difference(other); }

  // How many pages are no longer the background's.
  std::size_t own_page_count() const { return empty() ? 0 : count(own_pages()); }

  // Whether /proc/self/pagemap works here, and what a test may set to do without it.
  static bool& uses_pagemap() {
    static bool works = can_use_pagemap();
    return works;
  }

 private:
  using Pages = std::vector<std::uint64_t>;  // what the page map says, or kOwn

  static constexpr std::uint64_t kOwn = 1, kFewPages = 256;
  static bool is_own(std::uint64_t page) { return page == kOwn; }
  static std::size_t count(const Pages& pages) {
    return static_cast<std::size_t>(std::count_if(pages.begin(), pages.end(), is_own));
  }

  Pages own_pages() const {
    if (!uses_pagemap()) return Pages(background_->pages(), kOwn);
    return mapped_pages().value_or(Pages(background_->pages(), kOwn));
  }
  // The map's bits: 63 in memory, 62 swapped out, 61 of a file. Opened each time: a forked process has a map of its
  // own.
  std::optional<Pages> mapped_pages() const {
    Pages pages(background_->pages());
    const int map = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (map < 0) return std::nullopt;
    const auto bytes = static_cast<ssize_t>(pages.size() * sizeof(pages[0]));
    const auto first = reinterpret_cast<std::uintptr_t>(data_) / Background::page_bytes();
    const ssize_t got = pread(map, pages.data(), static_cast<std::size_t>(bytes), static_cast<off_t>(first * 8));
    close(map);
    if (got != bytes) return std::nullopt;
    for (std::uint64_t& page : pages) page = page >> 62 != 0 && (page >> 61 & 1U) == 0 ? kOwn : 0;
    return pages;
  }
  // Tried with pages that are not touched, read and written.
  static bool can_use_pagemap() {
    Image probe(Background::zeros(4 * Background::page_bytes()));
    const auto at = [&](std::size_t page) { return probe.data_ + page * Background::page_bytes(); };
    *static_cast<volatile std::uint8_t*>(at(1)) = *static_cast<volatile std::uint8_t*>(at(0));
    *static_cast<volatile std::uint8_t*>(at(3)) = 1;
    return probe.mapped_pages() == Pages{0, kOwn, 0, kOwn};
  }

  void give_up() {
    if (background_ != nullptr && !placed_) background_->give_up(data_);
  }

  Background::Shared background_;
  std::uint8_t* data_ = nullptr;
  bool placed_ = false;
};

}  // namespace softtpu::reference
