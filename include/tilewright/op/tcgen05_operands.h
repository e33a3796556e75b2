// What TileOps of tcgen05 have in common: where a stage's operands lie for the tensor core, and
// that one thread of a CTA, or of a pair, multiplies.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/io/stage.h"
#include "tilewright/isa/ptx/tcgen05_descriptor.h"
#include "tilewright/isa/ptx/threads.h"
#include "tilewright/op/contracts.h"
#include "tilewright/op/operand_descriptor.h"
#include "tilewright/pipeline/payload.h"

namespace tw {

// Stages lie `stage_bytes` apart. A product takes 32 bytes of k.
template <Tiling tiling, unsigned stage_bytes>
class Tcgen05Operands : public UsualOp {
 protected:
  static constexpr unsigned step_units = 32 / bytes_of(tiling.a_type);
  static constexpr unsigned steps = tiling.span_units() / step_units;  // per span

  using Tensors = OperandTensors<tiling, stage_bytes>;
  using BlocksA = OperandBlocks<typename Tensors::A, tiling.a_major, tiling.m, step_units>;
  using BlocksB = OperandBlocks<typename Tensors::B, tiling.b_major, tiling.b_rows(), step_units>;
  // A descriptor without its address.
  static constexpr std::uint64_t descriptor(const DescribedLayout& layout) {
    return isa::tcgen05_matrix_descriptor(0, layout.leading_bytes, layout.stride_bytes,
                                          isa::operand_swizzle(layout.line_bytes));
  }
  static constexpr std::uint64_t a_descriptor = descriptor(BlocksA::layout);
  static constexpr std::uint64_t b_descriptor = descriptor(BlocksB::layout);

  template <class Stages>
  TW_DEVICE explicit Tcgen05Operands(const Stages& stages)
      : first_stage_(in_descriptor(stages.a.address())) {}

  unsigned first_stage_;  // units of 16 bytes

 public:
  static constexpr bool elected = true;
  static constexpr Release release = Release::Commit;
  static constexpr unsigned stages_held = 0;  // the commit waits for the products by itself
  static constexpr unsigned releases = 1;
  static TW_DEVICE unsigned speaker(unsigned) { return 0; }

  // In a pair only the CTA of even rank multiplies, and copies scales in both.
  TW_DEVICE bool leads() const {
    if constexpr (tiling.group == 1)
      return true;
    else
      return isa::cluster_rank() % tiling.group == 0;
  }
  template <class Sum>
  TW_DEVICE void finish(Sum&) {}
};

}  // namespace tw
