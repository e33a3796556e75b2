// TMA loads of columns of pixels.
#include "tilewright/isa/ptx/im2col.h"

#include "tests/vgpu/support.h"

namespace tw::test {
namespace {

// Two images of 3 by 4 pixels of 16 bytes, which all tell their pixel's number; a column of 8
// pixels of a filter of 2 by 2 without padding: the pixel box is 2 by 3.
struct Im2colTest : ::testing::TestWithParam<Landing> {
  std::vector<std::uint8_t> source;
  TensorMap map;
  Kernel kernel;

  Im2colTest() : source(2 * 3 * 4 * 16) {
    for (std::size_t i = 0; i < source.size(); ++i) {
      source[i] = static_cast<std::uint8_t>(i / 16 + 1);
    }
    vgpu::TileMap images;
    images.base = source.data();
    images.element_bytes = 1;
    images.rank = 4;
    const unsigned extents[] = {16, 4, 3, 2};
    for (unsigned d = 0; d < 4; ++d) images.extents[d] = extents[d];
    images.pitch_bytes[0] = 16;
    images.pitch_bytes[1] = 4 * 16;
    images.pitch_bytes[2] = 3 * 4 * 16;
    images.box[0] = 16;
    images.im2col.pixels = 8;
    images.im2col.upper[0] = images.im2col.upper[1] = -1;
    map = vgpu::encode(images);
    kernel = {.threads = 32,
              .memory = {range_of(source, "source", true, false)},
              .options = {.landing = GetParam()}};
  }

  void load(int w, int h, int n, std::uint16_t s, std::uint16_t r) const {
    const int at[4] = {0, w, h, n};
    const std::uint16_t offsets[2] = {s, r};
    isa::cp_async_bulk_tensor_load_im2col(address_at(0), &map, address_at(1024), at, offsets,
                                          isa::CacheHint::EvictNormal);
  }
};

TEST_P(Im2colTest, BringsPixelsOfTwoImages) {
  EXPECT_TRUE(clean(kernel.run([&] {
    start_barrier(1024, 1, 32);
    if (isa::thread_index() == 0) {
      isa::mbarrier_arrive_expect_tx(address_at(1024), 128);
      load(2, 0, 0, 1, 1);
    }
    wait(address_at(1024), 0);
    // Where the filter begins: (2,0), then (0,1) to (2,1), then the next image. Each one further
    // along w and along h.
    const unsigned expected[8] = {1 + 4 + 3,  1 + 8 + 1,  1 + 8 + 2,  1 + 8 + 3,
                                  13 + 4 + 1, 13 + 4 + 2, 13 + 4 + 3, 13 + 8 + 1};
    const unsigned thread = isa::thread_index();
    for (unsigned i = thread; i < 128; i += 32) {
      EXPECT_EQ(load_shared(shared_at<std::uint8_t>(i)), expected[i / 16]) << i;
    }
  })));
}

TEST_P(Im2colTest, BeyondTheLastImageAreZerosThatCount) {
  EXPECT_TRUE(clean(kernel.run([&] {
    start_barrier(1024, 1, 32);
    if (isa::thread_index() == 0) {
      isa::mbarrier_arrive_expect_tx(address_at(1024), 128);
      load(2, 1, 1, 0, 0);
    }
    wait(address_at(1024), 0);
    for (unsigned i = isa::thread_index(); i < 128; i += 32) {
      EXPECT_EQ(load_shared(shared_at<std::uint8_t>(i)), i < 16 ? 13u + 4 + 2 : 0u) << i;
    }
  })));
}

TEST_P(Im2colTest, MulticastLandsInEveryCta) {
  kernel.ctas = kernel.cluster_size = 2;
  EXPECT_TRUE(clean(kernel.run([&] {
    start_barrier(1024, 1, 32);
    if (isa::thread_index() == 0) isa::mbarrier_arrive_expect_tx(address_at(1024), 128);
    isa::cluster_arrive();
    isa::cluster_wait();
    if (isa::thread_index() == 0 && isa::cluster_rank() == 0) {
      const int at[4] = {0, 0, 0, 1};
      const std::uint16_t offsets[2] = {0, 0};
      isa::cp_async_bulk_tensor_load_im2col_multicast(address_at(0), &map, address_at(1024), at,
                                                      offsets, 0b11, isa::CacheHint::EvictNormal);
    }
    wait(address_at(1024), 0);
    EXPECT_EQ(load_shared(shared_at<std::uint8_t>(isa::thread_index())),
              isa::thread_index() < 16 ? 13u : 14u);
    isa::cluster_arrive();
    isa::cluster_wait();
  })));
}

TEST_P(Im2colTest, WhatPtxDoesNotDefineIsFound) {
  const auto report_of = [&](int w, int h, std::uint16_t s) {
    return kernel.run([&, w, h, s] {
      start_barrier(1024, 1, 32);
      if (isa::thread_index() == 0) load(w, h, 0, s, 0);
    });
  };
  EXPECT_TRUE(found(report_of(3, 0, 0), Checker::Alignment, "outside of the pixel box, 0 to 2"));
  EXPECT_TRUE(found(report_of(0, -1, 0), Checker::Alignment, "outside of the pixel box, 0 to 1"));
  EXPECT_TRUE(found(report_of(0, 0, 256), Checker::Bounds, "more than 8 bits"));
}

TEST_P(Im2colTest, TheMapMustBeOfTheInstruction) {
  const Report boxes = kernel.run([&] {
    start_barrier(1024, 1, 32);
    const int at[4] = {};
    if (isa::thread_index() == 0) {
      isa::cp_async_bulk_tensor_load(address_at(0), &map, address_at(1024), at,
                                     isa::CacheHint::EvictNormal);
    }
  });
  EXPECT_TRUE(found(boxes, Checker::Bounds, "a map of columns of pixels"));
  const Report stores = kernel.run([&] {
    const int at[4] = {};
    if (isa::thread_index() == 0) {
      isa::cp_async_bulk_tensor_store(&map, address_at(0), at);
    }
  });
  EXPECT_TRUE(found(stores, Checker::Bounds, "a map of columns of pixels"));
  vgpu::TileMap other = vgpu::decode(map);
  other.im2col.pixels = 0;
  map = vgpu::encode(other);
  const Report columns = kernel.run([&] {
    start_barrier(1024, 1, 32);
    if (isa::thread_index() == 0) load(0, 0, 0, 0, 0);
  });
  EXPECT_TRUE(found(columns, Checker::Bounds, "a map of boxes"));
}

INSTANTIATE_TEST_SUITE_P(, Im2colTest, ::testing::ValuesIn(every_landing),
                         [](const auto& info) { return vgpu::name_of(info.param); });

}  // namespace
}  // namespace tw::test
