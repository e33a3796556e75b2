// TileOps on Hopper whose A is e4m3 in a ring: it becomes bf16 in registers, on its way to the
// products.
#pragma once

#include "tilewright/family/attention/wgmma_rings.h"
#include "tilewright/family/attention/wgmma_swapped.h"
#include "tilewright/isa/convert.h"
#include "tilewright/isa/ptx/permute.h"
#include "tilewright/isa/ptx/warp_matrix.h"

namespace tw {

// A of `blocks` blocks of 64 rows by `steps` of 16 along k, as bf16 in the registers that wgmma
// takes. While a product that reads them is in flight they belong to the tensor core.
template <unsigned blocks, unsigned steps>
class ConvertedRows {
 public:
  TW_DEVICE ConvertedRows() {}
  ConvertedRows(const ConvertedRows&) = delete;
  ConvertedRows& operator=(const ConvertedRows&) = delete;

  TW_DEVICE void begin() { isa::fragment_access(registers_, blocks * steps * 4); }
  // Bytes 0 and 1 are the upper row's first pair along k, 2 and 3 the second; `lower`: likewise.
  TW_DEVICE void take(unsigned block, unsigned step, std::uint32_t upper, std::uint32_t lower) {
    std::uint32_t(&to)[4] = registers_[block][step];
    to[0] = isa::cvt_bf16x2_e4m3x2(static_cast<std::uint16_t>(upper));
    to[1] = isa::cvt_bf16x2_e4m3x2(static_cast<std::uint16_t>(lower));
    to[2] = isa::cvt_bf16x2_e4m3x2(static_cast<std::uint16_t>(upper >> 16));
    to[3] = isa::cvt_bf16x2_e4m3x2(static_cast<std::uint16_t>(lower >> 16));
  }
  TW_DEVICE const std::uint32_t (&of(unsigned block, unsigned step) const)[4] {
    return registers_[block][step];
  }
  // Behind the wait for the products that read them.
  TW_DEVICE void settle() {
    TW_UNROLL
    for (auto& of_block : registers_) {
      TW_UNROLL
      for (std::uint32_t(&of_step)[4] : of_block) isa::wgmma_registers(of_step);
    }
  }

 private:
  std::uint32_t registers_[blocks][steps][4];
};

// Scores of `rows` keys, A, by all queries, B, K-major, into a sum that starts anew. A lane reads
// four neighbouring bytes of a row, where A has two pairs that are eight apart: of every 16
// columns, arrange() puts the queries' even pairs before the odd ones, so that nothing changes
// lanes.
template <class TensorsA, class TensorsB, unsigned rows, unsigned columns>
class WgmmaOfConvertedKeys {
  using B = typename TensorsB::Operand;
  static_assert(TensorsA::type == ElementType::E4m3 && TensorsB::type == ElementType::Bf16);
  static constexpr unsigned blocks = rows / 64;
  static constexpr unsigned line = 8;  // chunks of 16 bytes
  static constexpr unsigned steps = TensorsA::Rows::template static_extent<2> * line;
  static constexpr unsigned span_steps = B::template static_extent<1> / 16;
  using BlocksB = OperandBlocks<B, Major::K, columns, 16>;

 public:
  using Accumulator = RegisterAccumulator<blocks, columns>;
  static constexpr bool arranges_queries = true;

  TW_DEVICE WgmmaOfConvertedKeys(const TensorsA& a, const TensorsB& b, unsigned /*first_row*/,
                                 unsigned thread)
      : a_(a.rows), b_(in_descriptor(b.operand.address())), thread_(thread) {}

  // All threads of the group call it for a stage of queries, before the products; then comes a
  // fence for the tensor core.
  template <class Rows>
  static TW_DEVICE void arrange(const Rows& queries, unsigned slot, unsigned thread) {
    const auto chunks = queries.template chunks<16>();
    constexpr unsigned spans = Rows::template static_extent<2>;
    for (unsigned i = thread; i < columns * spans * line / 2; i += 128) {
      const unsigned row = i / (spans * line / 2), pair = i % (line / 2);
      const unsigned span = i / (line / 2) % spans;
      const SharedAddress first = chunks.address(row, 2 * pair, span, slot);
      const SharedAddress second = chunks.address(row, 2 * pair + 1, span, slot);
      std::uint32_t from[2][4];
      isa::load_shared_16(from[0], first);
      isa::load_shared_16(from[1], second);
      const std::uint32_t even[4] = {from[0][0], from[0][2], from[1][0], from[1][2]};
      const std::uint32_t odd[4] = {from[0][1], from[0][3], from[1][1], from[1][3]};
      isa::store_shared_16(first, even);
      isa::store_shared_16(second, odd);
    }
  }

  template <StageToRead StageA, StageToRead StageB>
  TW_DEVICE void issue(Accumulator& sum, const StageA& a, const StageB& b) {
    static_assert(is_stage_of<StageA, TensorsA> && is_stage_of<StageB, TensorsB>,
                  "The stages are of other rings than this TileOp was made for.");
    isa::describe_no_step();
    const auto chunks = a_.template chunks<16>();
    const unsigned lane = thread_ % 32, row = thread_ / 32 * 16 + lane % 16;
    registers_.begin();
    TW_UNROLL
    for (unsigned block = 0; block < blocks; ++block) {
      TW_UNROLL
      for (unsigned step = 0; step < steps; step += 2) {
        // The upper and the lower eight rows of one chunk, and of the next.
        std::uint32_t bytes[4];
        isa::ldmatrix_x4(bytes, chunks.address(64 * block + row, (step + lane / 16) % line,
                                               step / line, a.slot()));
        registers_.take(block, step, bytes[0], bytes[1]);
        registers_.take(block, step + 1, bytes[2], bytes[3]);
      }
    }
    const StageDescriptors<BlocksB> of_b(b_, b.slot());
    isa::wgmma_fence();
    TW_UNROLL
    for (unsigned step = 0; step < steps; ++step) {
      TW_UNROLL
      for (unsigned block = 0; block < blocks; ++block) {
        isa::wgmma_register<ElementType::Bf16, columns>(
            sum.fragment(block), registers_.of(block, step),
            of_b.of(step % span_steps, step / span_steps), step > 0);
      }
    }
    isa::wgmma_commit_group();
  }
  // Until no more than so many calls of issue() are in flight, none of them on `sum`.
  template <unsigned issued>
  TW_DEVICE void wait(Accumulator& sum) {
    isa::wgmma_wait_group<issued>();
    registers_.settle();
    TW_UNROLL
    for (unsigned block = 0; block < blocks; ++block) isa::wgmma_registers(sum.fragment(block));
  }

 private:
  typename TensorsA::Rows a_;
  std::uint32_t b_;  // units of 16 bytes
  unsigned thread_;
  ConvertedRows<blocks, steps> registers_;
};

// Adds the products of all columns of values, the rows of A, by the weights of all keys. A lane
// reads two neighbouring columns of two keys: row i of each 8 is column 2 i of 16, the row 8 behind
// it the one beside (rows_are_paired).
template <class TensorsA, class Weights, unsigned columns>
class WgmmaOfConvertedValues : public ValueSums<Weights, columns> {
  using B = typename Weights::Tensors::Operand;
  static constexpr unsigned blocks = columns / 64;
  static constexpr unsigned line = 8;  // chunks of 16 bytes
  static constexpr unsigned steps = TensorsA::Rows::template static_extent<0> / 16;
  static constexpr unsigned span_steps = B::template static_extent<1> / 16;
  static constexpr unsigned even = 0x6420, odd = 0x7531;
  using BlocksB = OperandBlocks<B, Major::K, Weights::rows, 16>;

 public:
  using typename ValueSums<Weights, columns>::Accumulator;
  static constexpr bool rows_are_paired = true;
  // Lanes read the stages of keys and values by themselves.
  static constexpr Release release = Release::Warp;
  static constexpr unsigned releases = 4;  // arrivals by each group
  static TW_DEVICE unsigned speaker(unsigned thread) { return thread % 32; }

  TW_DEVICE WgmmaOfConvertedValues(const TensorsA& a, const Weights& weights, unsigned thread)
      : a_(a.rows), b_(in_descriptor(weights.tensors().operand.address())), thread_(thread) {}

  template <StageToRead Stage>
  TW_DEVICE void issue(Accumulator& sum, const Stage& stage, const Weights& weights) {
    static_assert(is_stage_of<Stage, TensorsA>,
                  "The stage is of another ring than this TileOp was made for.");
    isa::describe_no_step();
    const auto chunks = a_.template chunks<16>();
    registers_.begin();
    TW_UNROLL
    for (unsigned block = 0; block < blocks; ++block) {
      const unsigned chunk = 4 * block + thread_ / 32;
      TW_UNROLL
      for (unsigned step = 0; step < steps; step += 2) {
        // Eight keys after eight, 32 of them.
        std::uint32_t bytes[4];
        isa::ldmatrix_x4_transposed(bytes, chunks.address(16 * step + thread_ % 32, chunk % line,
                                                          chunk / line, stage.slot()));
        TW_UNROLL
        for (unsigned i = 0; i < 2; ++i) {
          registers_.take(block, step + i, isa::permute_bytes(bytes[2 * i], bytes[2 * i + 1], even),
                          isa::permute_bytes(bytes[2 * i], bytes[2 * i + 1], odd));
        }
      }
    }
    const StageDescriptors<BlocksB> of_b(b_, weights.slot());
    isa::wgmma_fence();
    TW_UNROLL
    for (unsigned step = 0; step < steps; ++step) {
      TW_UNROLL
      for (unsigned block = 0; block < blocks; ++block) {
        isa::wgmma_register<ElementType::Bf16, Weights::rows>(
            sum.fragment(block), registers_.of(block, step),
            of_b.of(step % span_steps, step / span_steps), step > 0 || sum.started());
      }
    }
    isa::wgmma_commit_group();
    sum.start();
  }
  // Until no products are in flight.
  TW_DEVICE void wait(Accumulator& sum) {
    isa::wgmma_wait_group<0>();
    registers_.settle();
    TW_UNROLL
    for (unsigned block = 0; block < blocks; ++block) isa::wgmma_registers(sum.fragment(block));
  }

 private:
  typename TensorsA::Rows a_;
  std::uint32_t b_;  // units of 16 bytes
  unsigned thread_;
  ConvertedRows<blocks, steps> registers_;
};

}  // namespace tw
