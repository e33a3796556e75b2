// Sums that are made in parts in any order: every part is left in the workspace, and the CTA that
// comes last finishes the tile. Nobody waits for work that may not have been taken yet.
#pragma once

#include "tilewright/isa/shared_memory.h"
#include "tilewright/pipeline/together.h"
#include "tilewright/schedule/reduction.h"

namespace tw {

// The parts of a sum in their order, whoever adds them up.
template <class Sum>
struct LeftSums : SumsLike<Sum> {
  using Value = typename Sum::Value;
  static constexpr bool in_registers = tw::in_registers<Sum>;
  const Sum& own;
  PartValues<Value> all;
  TW_DEVICE void load(int first_column, Value (&values)[32]) const {
    if (all.parts == 1) return own.load(first_column, values);
    all.sum(values, static_cast<unsigned>(first_column));
  }
};

// The warps of an epilogue, which has the named barrier 1 for itself, leave a part together: what
// they store, they store together.
template <unsigned warps, unsigned values, unsigned lanes>
class LastFinish : WorkspaceReduction<0, warps, values, lanes> {
  using Base = WorkspaceReduction<0, warps, values, lanes>;
  static constexpr unsigned barrier = 1;
  static constexpr unsigned threads = warps * lanes;
  static_assert(warps >= 2, "A tile has two counters among those of its warps.");

 public:
  using Base::counter_bytes;
  using Base::drain;
  using Base::in_parts;
  static constexpr bool in_shares = true;
  using Base::part_bytes;
  using typename Base::Params;
  struct Storage : Base::Storage {
    std::uint32_t is_last;
  };
  static TW_DEVICE void init(Storage&) {}

  TW_DEVICE LastFinish(const Params& params, Storage& storage, unsigned group, unsigned thread)
      : Base(params, storage, group, thread),
        flag_(isa::shared_address(&storage.is_last)),
        speaks_(thread == 0) {}

  // Known once the part is left.
  TW_DEVICE bool finishes(const WorkTile&) const { return is_last_; }

  template <class Sum>
  TW_DEVICE void deposit(const Sum& sum, const WorkTile& tile) {
    is_last_ = tile.parts == 1;
    if (is_last_) return;
    write_for_threads(barrier, threads,
                      [&] { this->write(sum, tile, [](unsigned) { return true; }); });
    write_for_threads(barrier, threads, [&] {
      if (speaks_) isa::store_shared_4(flag_, comes_last(tile) ? 1 : 0);
    });
    is_last_ = isa::load_shared_4(flag_) != 0;
  }

  template <class Sum>
  TW_DEVICE LeftSums<Sum> collect(const Sum& sum, const WorkTile& tile) const {
    using Value = typename Sum::Value;
    static_assert(Sum::layout == FragmentLayout::Row, "Threads of an epilogue have whole rows.");
    return {{}, sum, {this->template first_of<Value>(tile), this->part_stride(tile), tile.parts}};
  }

 private:
  // left: arrives one thread of each part's CTA; publishes the part; waited by the last.
  // came: counts who has left a part; its last drawer finds all parts left, or on their way.
  // Both are 0 before the launch, and again after it.
  TW_DEVICE bool comes_last(const WorkTile& tile) const {
    const unsigned parts = static_cast<unsigned>(tile.parts);
    std::uint32_t* const left = this->params_.counters + std::int64_t{tile.slot} * warps;
    std::uint32_t* const came = left + 1;
    isa::global_add_release(left, 1);
    if (isa::global_fetch_add(came, 1) + 1 != parts) return false;
    isa::global_wait_at_least(left, parts);
    isa::global_store_release(left, 0);
    isa::global_store_release(came, 0);
    return true;
  }

  SharedAddress flag_;
  bool speaks_;
  bool is_last_ = false;
};

}  // namespace tw
