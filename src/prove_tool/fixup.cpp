// Sums in parts: CTAs leave their parts in global memory, the last part waits for a counter and
// adds them up. Its part is schedule/reduction.h.
#include <algorithm>

#include "src/prove_tool/protocol.h"
#include "tilewright/isa/describe.h"
#include "tilewright/schedule/reduction.h"
#include "vgpu/machine/counter.h"

namespace tw::prove {
namespace {

constexpr Fault faults[] = {
    {"split-add", "the counter is read and written back by two instructions"},
    {"no-release", "the addition to the counter publishes nothing"},
    {"part-short", "the last part waits for one part less than there are"},
    {"one-slot", "all tiles share the slots of the first"},
};
enum : unsigned { none, split_add, no_release, part_short, one_slot };

constexpr unsigned values = 4;  // a part has, and one thread holds them

// A thread's sums, as an epilogue gets them.
struct Sum {
  using Value = float;
  static constexpr FragmentLayout layout = FragmentLayout::Matrix;
  static constexpr unsigned blocks = 1, block_rows = 1, columns = 2 * values;
  float first;
  float value(unsigned, unsigned i) const { return first + static_cast<float>(i); }
  static constexpr unsigned row_of(unsigned, unsigned) { return 0; }
  static constexpr unsigned column_of(unsigned, unsigned i) { return i; }
};

using Right = WorkspaceReduction<1, 1, values, 1>;

// The reduction, or one with a mistake.
template <unsigned fault>
struct Reduction : Right {
  using Right::Right;
  void deposit(const Sum& sum, const WorkTile& tile) {
    if constexpr (fault == split_add || fault == no_release) {
      write(sum, tile, [](unsigned) { return true; });
      std::uint32_t* const count = counter(tile);
      if constexpr (fault == split_add) {
        isa::global_store_release(count, model::global_load_acquire(count, nullptr) + 1);
      } else {
        isa::global_fetch_add(count, 1);
      }
    } else {
      Right::deposit(sum, tile);
    }
  }
  auto collect(const Sum& sum, const WorkTile& tile) {
    WorkTile awaited = tile;
    if (fault == part_short) awaited.parts -= 1;
    auto collected = Right::collect(sum, awaited);
    collected.others.parts = tile.parts - 1;
    return collected;
  }
};

template <unsigned fault>
class FixupModel final : public Model {
 public:
  explicit FixupModel(const Bound& bound)
      : tiles_(bound.steps),
        parts_(bound.consumers),
        counters_(tiles_ * parts_),
        workspace_(tiles_ * parts_ * values),
        sums_(tiles_ * values) {}

  vgpu::Outcome run(const vgpu::Options& options) override {
    std::ranges::fill(counters_, 0u);
    std::ranges::fill(workspace_, -1.0f);
    std::ranges::fill(sums_, -1.0f);
    const vgpu::GlobalRange memory[] = {
        {counters_.data(), counters_.size() * 4, "counters", true, true},
        {workspace_.data(), workspace_.size() * 4, "parts", false, true},
        {sums_.data(), sums_.size() * 4, "sums", false, true}};
    vgpu::Launch launch = {parts_, 1, 1, 16, [this] { kernel(); }};
    launch.lanes = 1;
    vgpu::Outcome outcome = {vgpu::run(launch, memory, options)};
    for (unsigned i = 0; i < sums_.size(); ++i) outcome.right &= sums_[i] == right_sum(i);
    // The next launch needs them so.
    outcome.right &= std::ranges::all_of(counters_, [](std::uint32_t count) { return count == 0; });
    return outcome;
  }

 private:
  static Sum part_of(unsigned tile, unsigned part) {
    return {static_cast<float>(100 * tile + 10 * part)};
  }
  float right_sum(unsigned i) const {
    float sum = 0;
    for (unsigned part = 0; part < parts_; ++part) {
      sum += part_of(i / values, part).value(0, i % values);
    }
    return sum;
  }

  void kernel() {
    isa::describe_role("sum");
    const unsigned part = isa::cta_index();
    const Right::Params params = {counters_.data(), workspace_.data()};
    Right::Storage storage;
    Reduction<fault> reduction(params, storage, 0, 0);
    for (unsigned i = 0; i < tiles_; ++i) {
      WorkTile tile = {};
      tile.part = static_cast<int>(part);
      tile.parts = static_cast<int>(parts_);
      tile.slot = static_cast<int>(fault == one_slot ? 0 : i * parts_);
      const Sum sum = part_of(i, part);
      if (tile.finishes()) {
        store(i, reduction.collect(sum, tile));
      } else {
        reduction.deposit(sum, tile);
      }
    }
  }

  template <class Collected>
  void store(unsigned tile, const Collected& collected) {
    float sums[values] = {};
    if (collected.others.parts > 0) collected.others.sum(sums, 0);
    for (unsigned i = 0; i < values; ++i) {
      store_element<Space::Global>(&sums_[tile * values + i], sums[i] + collected.value(0, i));
    }
  }

  unsigned tiles_, parts_;
  std::vector<std::uint32_t> counters_;
  std::vector<float> workspace_;
  std::vector<float> sums_;
};

std::unique_ptr<Model> make(const Bound& bound, unsigned fault) {
  return with_constant<5>(fault + 1, [&]<unsigned fault_and_one>() -> std::unique_ptr<Model> {
    return std::make_unique<FixupModel<fault_and_one - 1>>(bound);
  });
}

}  // namespace

constinit const Protocol fixup = {"fixup",   "CTAs leave parts of sums, the last adds them up",
                                  {1, 3, 4}, {1, 8, 8},
                                  nullptr,   "tiles",
                                  "parts",   faults,
                                  make};

}  // namespace tw::prove
