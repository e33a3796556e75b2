// Addresses that no kernel should make, up to the top of the address space: findings, never the end
// of the host.
#include "tests/vgpu/support.h"
#include "tilewright/isa/ptx/counter.h"

namespace tw::test {
namespace {

std::uint32_t* word_at(std::uintptr_t address) { return reinterpret_cast<std::uint32_t*>(address); }
constexpr std::uintptr_t top = ~std::uintptr_t{3};  // null with an index of -1

struct WildAddress : ::testing::Test {
  std::vector<std::uint8_t> memory = std::vector<std::uint8_t>(256);
  Kernel kernel{.threads = 32, .memory = {range_of(memory, "D")}};

  Report run_first(const std::function<void()>& body) {
    return kernel.run([&] {
      if (isa::thread_index() == 0) body();
    });
  }
};

TEST_F(WildAddress, AGlobalAccessThatWrapsIsOutside) {
  const std::function<void()> accesses[] = {[] { (void)load_element<Space::Global>(word_at(top)); },
                                            [] { store_element<Space::Global>(word_at(top), 1u); },
                                            [] { (void)isa::global_fetch_add(word_at(top), 1); },
                                            [] { isa::global_store_release(word_at(top), 1); }};
  for (const auto& access : accesses) {
    EXPECT_TRUE(found(run_first(access), Checker::Bounds,
                      "4 bytes of global memory at address 0xfffffffffffffffc"));
  }
}

TEST_F(WildAddress, ASharedAccessThatWrapsIsOutside) {
  EXPECT_TRUE(found(run_first([] { (void)load_shared(word_at(top)); }), Checker::Bounds,
                    "reads 4 bytes through a shared pointer"));
  EXPECT_TRUE(found(run_first([] { store_shared(word_at(top), 1u); }), Checker::Bounds,
                    "writes 4 bytes through a shared pointer"));
}

TEST_F(WildAddress, TheLastWordIsInsideAndTheNextIsNot) {
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
  EXPECT_TRUE(clean(run_first([&] { store_element<Space::Global>(word_at(begin + 252), 1u); })));
  EXPECT_TRUE(found(run_first([&] { store_element<Space::Global>(word_at(begin + 256), 1u); }),
                    Checker::Bounds, "writes 4 bytes at byte 256 of D, which has 256 bytes."));
  const auto store_byte = [&] {
    store_element<Space::Global>(memory.data() + 256, std::uint8_t{1});
  };
  EXPECT_TRUE(found(run_first(store_byte), Checker::Bounds,
                    "writes 1 byte at byte 256 of D, which has 256 bytes."));
}

// A range in another's memory: the sentence names the one that may not be written.
TEST_F(WildAddress, AWriteInReadOnlyMemoryNamesIt) {
  kernel.memory = {range_of(memory, "A", true, false), {memory.data() + 64, 64, "D", true, true}};
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
  EXPECT_TRUE(found(run_first([&] { store_element<Space::Global>(word_at(begin + 64), 1u); }),
                    Checker::Bounds,
                    "writes 4 bytes at byte 64 of A, which has 256 bytes and is read-only."));
}

// Every bit of a map's words wrong, one by one: the copy is made, refused, or out of bounds.
TEST_F(WildAddress, ADamagedTensorMapIsAnException) {
  const TensorMap sound = byte_map(memory, 16, 16, 8, 16);
  const auto with = [&](const TensorMap& map) {
    return run_first([&] {
      isa::mbarrier_init(address_at(1024), 1);
      isa::fence_mbarrier_init();
      load_box(0, map, 1024, 0, 0);
    });
  };
  constexpr unsigned shape_word = 9, rank_bit = 48;
  for (const std::uint64_t rank : {0u, 6u, 255u}) {
    TensorMap damaged = sound;
    damaged.words[shape_word] &= ~(std::uint64_t{0xff} << rank_bit);
    damaged.words[shape_word] |= rank << rank_bit;
    EXPECT_TRUE(found(with(damaged), Checker::Exception, "its rank is not in 1 to 5"));
  }
  for (unsigned bit = 0; bit < 64 * std::size(sound.words); ++bit) {
    TensorMap damaged = sound;
    damaged.words[bit / 64] ^= std::uint64_t{1} << bit % 64;
    (void)with(damaged);
  }
}

}  // namespace
}  // namespace tw::test
