// Images find every byte that differs, whatever has been written to them before, with the system's page map and
// without.
#include "tests/reference/image.hpp"

#include <gtest/gtest.h>

#include <random>

namespace softtpu::reference::image_test {
namespace {

// Whether the page map is used. What has changed is the same.
class ImageTest : public testing::TestWithParam<bool> {
 protected:
  ImageTest() {
    if (!GetParam()) Image::uses_pagemap() = false;
  }
  ~ImageTest() override { Image::uses_pagemap() = could_; }

  void SetUp() override {
    if (GetParam() && !could_) GTEST_SKIP() << "this system has no page map";
  }

  static constexpr std::size_t kPages = 40;
  const std::size_t page_ = Background::page_bytes();
  const std::size_t bytes_ = kPages * page_ - 100;  // the last page is not full
  const bool could_ = Image::uses_pagemap();
  const Background::Shared background_ = Background::made(bytes_, [this](std::uint8_t* data) {
    std::mt19937 random(3);
    for (std::size_t i = 0; i < bytes_; ++i) data[i] = static_cast<std::uint8_t>(random());
  });
};

TEST_P(ImageTest, HoldsTheBackgroundUntilWritten) {
  Image image(background_);
  ASSERT_EQ(image.size(), bytes_);
  std::mt19937 random(3);
  for (std::size_t i = 0; i < bytes_; ++i) ASSERT_EQ(image[i], static_cast<std::uint8_t>(random()));
  EXPECT_EQ(image.own_page_count(), GetParam() ? 0U : kPages);
  image.data()[5 * page_] = 1;
  image.data()[bytes_ - 1] = 1;
  EXPECT_EQ(image.own_page_count(), GetParam() ? 2U : kPages);
  EXPECT_EQ(Image(image).own_page_count(), GetParam() ? 2U : kPages);
  EXPECT_FALSE(Image(background_) == image);
}

TEST_P(ImageTest, OneByteIsFoundInEveryPageOfEitherSide) {
  Image one(background_), other(background_);
  for (std::size_t page = 0; page < kPages; ++page) {
    for (const std::size_t inside : {std::size_t{0}, page_ / 2, std::min(page_, bytes_ - page * page_) - 1}) {
      const std::size_t at = page * page_ + inside;
      for (Image* const changed : {&one, &other}) {
        changed->data()[at] ^= 0x10;
        ASSERT_EQ(one.find_difference(other), at);
        ASSERT_EQ(other.find_difference(one), at);
        ASSERT_FALSE(one == other);
        changed->data()[at] ^= 0x10;
        ASSERT_EQ(one.find_difference(other), std::nullopt);
      }
    }
  }
}

TEST_P(ImageTest, TheFirstOfSeveralIsFound) {
  Image one(background_), other(background_);
  one.data()[30 * page_ + 7] ^= 1;
  other.data()[20 * page_ + 9] ^= 1;
  one.data()[20 * page_ + 11] ^= 1;
  EXPECT_EQ(one.find_difference(other), 20 * page_ + 9);
}

TEST_P(ImageTest, OneByteIsFoundAfterPagesWerePutBack) {
  const Image start(background_);
  Image image(background_);
  // Page by page, and all of them at once, which gives up the pages.
  for (const std::size_t written : {std::size_t{1}, kPages}) {
    for (std::size_t page = 0; page < kPages; ++page) {
      for (std::size_t i = 0; i < written; ++i) image.data()[(page + i) % kPages * page_ + 1] ^= 0xFF;
      image = start;
      ASSERT_TRUE(image == start);
      image.data()[page * page_] ^= 1;
      ASSERT_EQ(image.find_difference(start), page * page_);
      image = start;
      ASSERT_TRUE(image == start) << page;
    }
  }
}

TEST_P(ImageTest, ManyPagesThatWerePutBackAreGivenUp) {
  const std::size_t pages = 1000;
  const auto background = Background::filled(pages * page_, 0x5A);
  const Image start(background);
  Image image(background);
  std::memset(image.data(), 7, image.size());
  EXPECT_EQ(image.own_page_count(), pages);
  image = start;
  EXPECT_TRUE(image == start);
  for (std::size_t i = 0; i < image.size(); i += page_ / 2) ASSERT_EQ(image[i], 0x5A);
  EXPECT_EQ(image.own_page_count(), GetParam() ? 0U : pages);
  image.data()[999 * page_ + 3] = 1;
  EXPECT_EQ(image.find_difference(start), 999 * page_ + 3);
}

TEST_P(ImageTest, EqualBytesAreEqualWhateverWasWritten) {
  Image one(background_), other(background_);
  std::memset(one.data(), 1, bytes_);
  for (std::size_t i = bytes_; i-- > 0;) other.data()[i] = 1;
  EXPECT_TRUE(one == other);
  one = Image(background_);
  other = one;
  one.data()[17 * page_] ^= 1;
  one.data()[17 * page_] ^= 1;
  EXPECT_TRUE(one == other);
  // And those of other backgrounds.
  const Image apart(Background::made(bytes_, [&](std::uint8_t* data) { std::memcpy(data, one.data(), bytes_); }));
  EXPECT_TRUE(one == apart);
  one.data()[17 * page_] ^= 1;
  EXPECT_EQ(apart.find_difference(one), 17 * page_);
}

TEST_P(ImageTest, TakesOverAnotherBackground) {
  const auto zeros = Background::zeros(bytes_);
  Image image(background_), other(zeros), none;
  image.data()[3] = 1;
  other.data()[4 * page_] = 9;
  image = other;
  EXPECT_TRUE(image == other);
  EXPECT_EQ(image[3], 0);
  EXPECT_EQ(image[4 * page_], 9);
  none = image;
  EXPECT_TRUE(none == image);
  EXPECT_FALSE(none == Image());
  none = Image();
  EXPECT_TRUE(none.empty());
  EXPECT_TRUE(none == Image());
}

// Copies get the places of images that are gone, with whatever these held.
TEST_P(ImageTest, CopiesAreRightInPlacesUsedBefore) {
  Image start(background_);
  start.data()[9 * page_] ^= 1;
  for (std::size_t page = 0; page < kPages; ++page) {
    Image copy = start;
    ASSERT_TRUE(copy == start);
    for (std::size_t i = 0; i < kPages; i += 3) copy.data()[i * page_] ^= 0x80;
    copy.data()[page * page_ + 5] ^= 2;
  }
  Image copy = start;
  for (std::size_t i = 0; i < bytes_; ++i) ASSERT_EQ(copy[i], start[i]);
}

// As a device's local memory is laid over with one.
TEST_P(ImageTest, LiesInPlaceOfOtherMemory) {
  void* const there =
      mmap(nullptr, (kPages + 2) * page_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(there, MAP_FAILED);
  auto* const before = static_cast<std::uint8_t*>(there);
  std::uint8_t* const at = before + page_;
  std::memset(before, 3, (kPages + 2) * page_);
  {
    Image placed(background_, at);
    EXPECT_EQ(placed.data(), at);
    EXPECT_EQ(before[page_ - 1], 3);
    EXPECT_EQ(before[(kPages + 1) * page_], 3);
    Image copy = placed;
    for (const std::size_t i : {std::size_t{0}, 7 * page_, bytes_ - 1}) {
      at[i] ^= 1;
      EXPECT_EQ(placed.find_difference(copy), i);
      EXPECT_EQ(copy.find_difference(placed), i);
      placed = copy;
      EXPECT_TRUE(placed == copy);
    }
    placed = Image(Background::zeros(bytes_));
    EXPECT_EQ(placed.data(), at);
    EXPECT_EQ(at[7 * page_], 0);
    EXPECT_THROW(placed = Image(Background::zeros(page_)), std::length_error);
  }
  EXPECT_EQ(at[0], 0);  // its owner's still
  munmap(there, (kPages + 2) * page_);
}

// The same random steps on images and on plain bytes.
TEST_P(ImageTest, DoesWhatPlainBytesDo) {
  std::mt19937 random(17);
  const auto number = [&](std::size_t below) { return random() % below; };
  std::vector<Image> images(4, Image(background_));
  std::vector<std::vector<std::uint8_t>> plain(4, {images[0].data(), images[0].data() + bytes_});
  for (int step = 0; step < 2000; ++step) {
    const std::size_t i = number(4), k = number(4), at = number(bytes_);
    const std::size_t count = std::min(bytes_ - at, number(3) == 0 ? number(20 * page_) : number(9));
    switch (number(4)) {
      case 0:
        images[i] = images[k];
        plain[i] = plain[k];
        break;
      case 1:
        images[i] = Image(background_);
        plain[i].assign(images[i].data(), images[i].data() + bytes_);
        break;
      default: std::memset(images[i].data() + at, step, count); std::memset(plain[i].data() + at, step, count);
    }
    ASSERT_EQ(images[i] == images[k], plain[i] == plain[k]) << step;
    ASSERT_EQ(std::memcmp(images[i].data(), plain[i].data(), bytes_), 0) << step;
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, ImageTest, testing::Values(true, false),
                         [](const auto& way) { return way.param ? "PageMap" : "EveryPage"; });

}  // namespace
}  // namespace softtpu::reference::image_test
