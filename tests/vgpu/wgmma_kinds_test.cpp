// wgmma of other types than bf16 on the machine: integer fragments, agreement of threads, and
// operands along m and n.
#include <bit>
#include <cstring>

#include "tests/vgpu/support.h"
#include "vgpu/data/matrix_descriptor.h"

namespace tw::test {
namespace {

constexpr unsigned a_at = 0, b_at = 8192;
constexpr WgmmaShape s8 = {ElementType::S8, ElementType::S8, 8};

// Lines of 128 bytes, swizzled over 128 bytes.
std::uint64_t descriptor(unsigned offset, unsigned leading = 16,
                         vgpu::MapSwizzle swizzle = vgpu::MapSwizzle::Bytes128) {
  return vgpu::encode_matrix_descriptor({address_at(offset), leading, 1024, 0, swizzle});
}

// Every byte of both operands is the same: every element of A is 3, of B is -2.
void fill_operands() {
  for (unsigned i = isa::thread_index(); i < 2 * 8192 / 4; i += 128) {
    store_shared(shared_at(4 * i), i < 8192 / 4 ? 0x03030303u : 0xfefefefeu);
  }
  isa::fence_proxy_async();
  isa::barrier_sync(0, 128);
}

TEST(WgmmaKinds, IntegerFragments) {
  std::int32_t sums[128][4];
  const Report report = Kernel{}.run([&] {
    fill_operands();
    std::int32_t sum[4];
    isa::wgmma_fence();
    isa::wgmma<s8>(sum, descriptor(a_at), descriptor(b_at), false);
    isa::wgmma<s8>(sum, descriptor(a_at + 32), descriptor(b_at + 32), true);
    isa::wgmma_commit_group();
    isa::wgmma_wait_group<0>();
    isa::fragment_access(sum, 4);
    std::memcpy(sums[isa::thread_index()], sum, sizeof sum);
  });
  ASSERT_TRUE(clean(report));
  for (const auto& of_thread : sums) {
    for (const std::int32_t sum : of_thread) EXPECT_EQ(sum, 2 * 32 * 3 * -2);
  }
}

TEST(WgmmaKinds, IntegerFragmentsInFlightAreFound) {
  for (bool planted : {false, true}) {
    const Report report = Kernel{}.run([&] {
      fill_operands();
      std::int32_t sum[4];
      isa::wgmma_fence();
      isa::wgmma<s8>(sum, descriptor(a_at), descriptor(b_at), false);
      isa::wgmma_commit_group();
      if (!planted) isa::wgmma_wait_group<0>();
      isa::fragment_access(sum, 4);
      isa::wgmma_wait_group<0>();
    });
    EXPECT_TRUE(found_if(planted, report, Checker::AccumulatorInFlight, "still owns"));
  }
}

TEST(WgmmaKinds, ThreadsMustAgreeOnTheKind) {
  constexpr WgmmaShape e4m3 = {ElementType::E4m3, ElementType::E4m3, 8};
  constexpr WgmmaShape e5m2 = {ElementType::E4m3, ElementType::E5m2, 8};
  const Report report = Kernel{}.run([&] {
    fill_operands();
    float sum[4];
    isa::wgmma_fence();
    if (isa::thread_index() == 77) {
      isa::wgmma<e5m2>(sum, descriptor(a_at), descriptor(b_at), false);
    } else {
      isa::wgmma<e4m3>(sum, descriptor(a_at), descriptor(b_at), false);
    }
    isa::wgmma_commit_group();
    isa::wgmma_wait_group<0>();
  });
  EXPECT_TRUE(found(report, Checker::Divergence, "e4m3 x e5m2"));
}

// An MN-major operand is read where the descriptor says: 16 lines of one k each.
TEST(WgmmaKinds, TransposedOperandsHaveBounds) {
  constexpr WgmmaShape shape = {ElementType::Fp16, ElementType::Fp16, 64, 1, 1};
  for (bool planted : {false, true}) {
    const Report report = Kernel{.shared_bytes = b_at + (planted ? 1024u : 2048u)}.run([&] {
      for (unsigned i = isa::thread_index(); i < (b_at + 1024) / 4; i += 128) {
        store_shared(shared_at(4 * i), 0u);
      }
      for (unsigned i = isa::thread_index(); !planted && i < 256; i += 128) {
        store_shared(shared_at(b_at + 1024 + 4 * i), 0u);
      }
      isa::fence_proxy_async();
      isa::barrier_sync(0, 128);
      float sum[32];
      isa::wgmma_fence();
      isa::wgmma<shape>(sum, descriptor(a_at, 8192), descriptor(b_at, 8192), false);
      isa::wgmma_commit_group();
      isa::wgmma_wait_group<0>();
    });
    EXPECT_TRUE(found_if(planted, report, Checker::Bounds, "wgmma"));
  }
}

// B of 16 x 64 along n, with every swizzle: elements are small integers, A is all ones, and so each
// column's sum is that of its 16 elements.
TEST(WgmmaKinds, TransposedOperandsOfEverySwizzle) {
  constexpr WgmmaShape shape = {ElementType::Bf16, ElementType::Bf16, 64, 0, 1};
  using vgpu::MapSwizzle;
  for (const MapSwizzle swizzle :
       {MapSwizzle::None, MapSwizzle::Bytes32, MapSwizzle::Bytes64, MapSwizzle::Bytes128}) {
    const bool plain = swizzle == MapSwizzle::None;
    const unsigned span = plain ? 16 : vgpu::swizzle_span(swizzle);
    float sums[128][32];
    const Report report = Kernel{}.run([&] {
      // Blocks along n follow each other; plain ones have their two halves of k together.
      const vgpu::MatrixDescriptor b = {address_at(b_at), plain ? 128 : 8 * span,
                                        plain ? 256u : 1024u, 0, swizzle};
      for (unsigned i = isa::thread_index(); i < 8192 / 4; i += 128) {
        store_shared(shared_at(4 * i), 0x3f803f80u);
      }
      for (unsigned i = isa::thread_index(); i < 8 * 16; i += 128) {
        const unsigned place = vgpu::transposed_chunk(b, i / 16, i % 16) - address_at(b_at) + b_at;
        for (unsigned pair = 0; pair < 4; ++pair) {
          const auto value = [&](unsigned n) {
            return std::bit_cast<std::uint32_t>(static_cast<float>((n * 7 + i % 16) % 11)) >> 16;
          };
          const unsigned n = i / 16 * 8 + 2 * pair;
          store_shared(shared_at(place + 4 * pair), value(n) | value(n + 1) << 16);
        }
      }
      isa::fence_proxy_async();
      isa::barrier_sync(0, 128);
      float sum[32];
      isa::wgmma_fence();
      isa::wgmma<shape>(sum, descriptor(a_at), vgpu::encode_matrix_descriptor(b), false);
      isa::wgmma_commit_group();
      isa::wgmma_wait_group<0>();
      isa::fragment_access(sum, 32);
      std::memcpy(sums[isa::thread_index()], sum, sizeof sum);
    });
    ASSERT_TRUE(clean(report)) << span;
    for (unsigned thread = 0; thread < 128; ++thread) {
      for (unsigned v = 0; v < 32; ++v) {
        const unsigned n = 2 * (thread % 4) + v % 2 + 8 * (v / 4);
        unsigned wanted = 0;
        for (unsigned k = 0; k < 16; ++k) wanted += (n * 7 + k) % 11;
        ASSERT_EQ(sums[thread][v], static_cast<float>(wanted)) << span << " " << thread << " " << v;
      }
    }
  }
}

}  // namespace
}  // namespace tw::test
