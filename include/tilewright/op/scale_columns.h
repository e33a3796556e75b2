// Accumulators in tensor memory with columns beside them, for scales that the tensor core reads
// there.
#pragma once

#include <bit>

#include "tilewright/base/annotate.h"
#include "tilewright/isa/ptx/shared_memory.h"
#include "tilewright/isa/ptx/tcgen05.h"
#include "tilewright/pipeline/tensor_accumulators.h"

namespace tw {

// `Sums` take the first `sum_columns` of their allocation, which is a power of two. What is left of
// it holds the scales; where that is nothing, so does an allocation of its own. (That comes first:
// a CTA's later allocations may not be larger, and Sums gives up the right to allocate.)
template <class Sums, unsigned sum_columns, unsigned group>
class WithScaleColumns : public Sums {
  static constexpr unsigned all_columns = 512;
  static constexpr unsigned of_sums = std::bit_ceil(sum_columns);
  static constexpr bool allocates = of_sums < all_columns;
  static constexpr unsigned allocation = std::bit_floor(all_columns - of_sums);

 public:
  static constexpr unsigned scale_columns = allocates ? allocation : of_sums - sum_columns;

  struct Storage : Sums::Storage {
    std::uint32_t scales;
  };

 private:
  // It begins before the sums' scope and ends after it.
  struct Allocation {
    TW_DEVICE explicit Allocation(Storage& storage) {
      if constexpr (allocates)
        isa::tcgen05_alloc<group>(isa::shared_address(&storage.scales), allocation);
    }
    Allocation(const Allocation&) = delete;
    TW_DEVICE ~Allocation() {
      if constexpr (allocates) isa::tcgen05_dealloc<group>(scales_, allocation);
    }
    TensorAddress scales_ = 0;
  };

 public:
  class [[nodiscard]] Scope : private Allocation, public Sums::Scope {
    using Allocation::scales_;

   public:
    TW_DEVICE explicit Scope(Storage& storage) : Allocation(storage), Sums::Scope(storage) {
      if constexpr (allocates)
        scales_ = isa::load_shared_4(isa::shared_address(&storage.scales));
      else
        scales_ = this->address() + sum_columns;
    }
    TW_DEVICE TensorAddress scales() const { return scales_; }
  };

  struct Accumulating : Sums::Accumulating {
    TensorAddress scales;  // the first of scale_columns
    // From the scales of B in a stage to those of the tile's first column, which need not begin a
    // block of them.
    unsigned to_first_column = 0;
  };

  class Writer : public Sums::Writer {
   public:
    TW_DEVICE Writer(Scope& scope, Storage& storage)
        : Sums::Writer(scope, storage), scales_(scope.scales()) {}
    [[nodiscard]] TW_DEVICE Accumulating acquire() { return {Sums::Writer::acquire(), scales_}; }

   private:
    TensorAddress scales_;
  };
};

// Sums of n columns, for stages whose scales take `slot_columns` each: two sums, if that leaves
// enough for four stages; else two that share `chunk` columns, if that does; else one.
template <unsigned n, unsigned group, class Trace, unsigned slot_columns, unsigned chunk>
struct ChosenSums {
  static constexpr bool apart = 2 * n + 4 * slot_columns <= 512;
  static constexpr bool overlap = !apart && 2 * n - chunk + 4 * slot_columns <= 512;
  static constexpr unsigned sums = apart || overlap ? 2 : 1;
  static constexpr unsigned shared = overlap ? chunk : 0;
  using Type = WithScaleColumns<TensorAccumulators<n, float, sums, group, Trace, 0, shared>,
                                sums * n - shared, group>;
};
template <unsigned n, unsigned group, class Trace, unsigned slot_columns, unsigned chunk>
using AccumulatorsWithScales = typename ChosenSums<n, group, Trace, slot_columns, chunk>::Type;

}  // namespace tw
