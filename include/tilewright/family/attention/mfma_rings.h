// TileOps of waves, CDNA3 and later, whose operands do not share a stage: A and B of two rings, or
// A from registers. Operands are exchanged, so that a lane's sums are of two rows: its scores
// become the weights of the next product where they are.
#pragma once

#include "tilewright/family/attention/wave_rows.h"
#include "tilewright/isa/amdgcn/mfma.h"
#include "tilewright/isa/amdgcn/schedule.h"
#include "tilewright/isa/amdgcn/wave_memory.h"
#include "tilewright/isa/describe.h"
#include "tilewright/isa/shared_memory.h"
#include "tilewright/op/mfma.h"

namespace tw {

// Products of 16 by 16 of 16-bit elements. A lane has `words` of either operand: of 16 k on CDNA3,
// of 32 on CDNA4.
template <ElementType type, Cdna generation>
struct WaveProduct {
  static constexpr MfmaType element = type == ElementType::Bf16 ? MfmaType::Bf16 : MfmaType::F16;
  static constexpr unsigned words = generation == Cdna::Four ? 4 : 2;
  static constexpr MfmaShape shape = {element, element, 16, 8 * words};
  static constexpr unsigned count = 4 / words;  // for 16 bytes of a lane

  // sum += a b^T, of 16 bytes of each.
  static TW_DEVICE void add(float (&sum)[4], const std::uint32_t (&a)[4],
                            const std::uint32_t (&b)[4]) {
    TW_UNROLL
    for (unsigned i = 0; i < count; ++i) {
      using Words = const std::uint32_t(&)[words];
      isa::mfma<shape>(sum, reinterpret_cast<Words>(b[i * words]),
                       reinterpret_cast<Words>(a[i * words]));
    }
  }
};

// 64 rows of A by all of B, both K-major, into a sum that starts anew. The tensors' `rows` are
// (row,k,span,stage).
template <class TensorsA, class TensorsB, Cdna generation>
class MfmaOfTwoRings {
  using A = typename TensorsA::Rows;
  using B = typename TensorsB::Rows;
  using Product = WaveProduct<TensorsA::type, generation>;
  static constexpr unsigned columns = B::template static_extent<0>;
  static constexpr unsigned span_steps = 2;  // 64 bytes each
  static constexpr unsigned steps = A::template static_extent<2> * span_steps;

 public:
  using Accumulator = WaveRows<columns, WaveColumns::Together>;

  TW_DEVICE MfmaOfTwoRings(const TensorsA& a, const TensorsB& b, unsigned first_row,
                           unsigned thread)
      : a_(a.rows), b_(b.rows), row_(first_row + thread / 64 * 32), lane_(thread % 64) {}

  template <StageToRead StageA, StageToRead StageB>
  TW_DEVICE void issue(Accumulator& sum, const StageA& a, const StageB& b) const {
    static_assert(is_stage_of<StageA, TensorsA> && is_stage_of<StageB, TensorsB>,
                  "The stages are of other rings than this TileOp was made for.");
    isa::describe_no_step();
    sum.clear();
    // The reads of a step are on their way while the products of the one before are made.
    Fragments fragments[2];
    load(fragments[0], 0, a.slot(), b.slot());
    TW_UNROLL
    for (unsigned step = 0; step < steps; ++step) {
      if (step + 1 < steps) load(fragments[(step + 1) % 2], step + 1, a.slot(), b.slot());
      isa::schedule_barrier();
      const Fragments& read = fragments[step % 2];
      TW_UNROLL
      for (unsigned column = 0; column < columns / 16; ++column) {
        TW_UNROLL
        for (unsigned half = 0; half < 2; ++half) {
          Product::add(sum.fragment(half, column), read.a[half], read.b[column]);
        }
      }
    }
  }
  // Products are done when they are issued.
  template <unsigned>
  TW_DEVICE void wait(const Accumulator&) const {}
  template <unsigned>
  TW_DEVICE void settle(const Accumulator&) const {}

 private:
  // The operands of one step.
  struct Fragments {
    std::uint32_t a[2][4];
    std::uint32_t b[columns / 16][4];
  };
  TW_DEVICE void load(Fragments& fragments, unsigned step, unsigned slot_a, unsigned slot_b) const {
    load(fragments.a, a_, row_, step, slot_a);
    load(fragments.b, b_, 0, step, slot_b);
  }
  // 16 rows by 64 bytes of k: lane l has row l % 16 and the 16-byte chunk l / 16. Where a product
  // takes 8 of them, it takes the first, then the second half, of A and B alike.
  template <unsigned count, class Tensor>
  TW_DEVICE void load(std::uint32_t (&words)[count][4], const Tensor& operand, unsigned first_row,
                      unsigned step, unsigned slot) const {
    const auto chunks = operand.template chunks<16>();
    // Swizzles repeat within 16 rows: the reads differ by an offset alone.
    const SharedAddress first = isa::opaque(chunks.address(
        first_row + lane_ % 16, step % span_steps * 4 + lane_ / 16, step / span_steps, slot));
    TW_UNROLL
    for (unsigned i = 0; i < count; ++i) {
      isa::load_shared_16(
          words[i], first + (chunks.address(16 * i, 0u, 0u, 0u) - chunks.address(0u, 0u, 0u, 0u)));
    }
  }

  A a_;
  B b_;
  unsigned row_;
  unsigned lane_;
};

// Adds 64 rows of weights, in registers, by all of B, which is N-major. The tensors' `rows` are
// (k,n,span of n,stage); there are `k` weights in a row. Of 32 k, 8 are a lane's, where g = l / 16:
// 4 g to 4 g + 3 of the first and of the second 16, as scores leave them.
template <class TensorsB, unsigned k, Cdna generation>
class MfmaOfRegisters {
  using B = typename TensorsB::Rows;
  using Product = WaveProduct<TensorsB::type, generation>;
  static constexpr unsigned span_columns = B::template static_extent<1>;
  static constexpr unsigned spans = B::template static_extent<2>;
  static constexpr unsigned columns = span_columns * spans;
  static constexpr bool reads_transposed = generation == Cdna::Four;
  static_assert(k % 32 == 0 && span_columns == 64);

 public:
  using Accumulator =
      WaveRows<columns, reads_transposed ? WaveColumns::Together : WaveColumns::Turned>;
  using Operand = WaveWeights<k, TensorsB::type>;
  static constexpr bool elected = false;
  static constexpr Release release = Release::Warp;
  static constexpr unsigned releases = 2;  // arrivals by each group
  static TW_DEVICE unsigned speaker(unsigned thread) { return thread % 64; }

  TW_DEVICE MfmaOfRegisters(const TensorsB& b, unsigned thread) : b_(b.rows), lane_(thread % 64) {}

  template <StageToRead Stage>
  TW_DEVICE void issue(Accumulator& sum, const Operand& a, const Stage& stage) const {
    static_assert(is_stage_of<Stage, TensorsB>,
                  "The stage is of another ring than this TileOp was made for.");
    isa::describe_no_step();
    SharedAddress firsts[4];
    TW_UNROLL
    for (unsigned i = 0; i < 4; ++i) firsts[i] = isa::opaque(first_of(i, stage.slot()));
    // The reads of a part are on their way while the products of the one before are made.
    std::uint32_t parts[2][4][4];
    read(parts[0], firsts, 0);
    constexpr unsigned count = Operand::steps * spans;
    TW_UNROLL
    for (unsigned part = 0; part < count; ++part) {
      const bool reads_on = part + 1 < count;
      if (reads_on) read(parts[(part + 1) % 2], firsts, part + 1);
      if constexpr (reads_transposed) {
        if (reads_on) isa::s_waitcnt<isa::any_vmcnt, 8>();
        if (!reads_on) isa::s_waitcnt<isa::any_vmcnt, 0>();
      } else {
        isa::schedule_barrier();
      }
      TW_UNROLL
      for (unsigned product = 0; product < 4; ++product) {
        TW_UNROLL
        for (unsigned half = 0; half < 2; ++half) {
          Product::add(sum.fragment(half, part % spans * 4 + product),
                       a.registers(part / spans, half), parts[part % 2][product]);
        }
      }
    }
  }
  template <unsigned>
  TW_DEVICE void wait(const Accumulator&, const Operand&) const {}
  TW_DEVICE void correct(Accumulator& sum, const RowPair& factors) const {
    sum.scale_rows(factors);
  }
  TW_DEVICE void finish(const Accumulator&) const {}

 private:
  // Eight reads of 8 bytes bring 32 k by 64 columns, B of four products: for each 16 k read i of
  // these. Swizzles repeat within 16 rows, so that the others differ from the first by an offset.
  TW_DEVICE SharedAddress first_of(unsigned i, unsigned slot) const {
    if constexpr (reads_transposed) {
      // Four lanes read 16 neighbours of one k, and lane l gets column l % 16 of four k.
      return b_.address(lane_ / 4, 16 * i + 4 * (lane_ % 4), 0u, slot);
    } else {
      // 16 lanes read the line of one k, four columns each: row 4 g + r of a product is of the lane
      // whose sums are column 32 (r / 2) + 8 g + 4 (r % 2).
      const unsigned column = lane_ % 4 / 2 * 32 + lane_ % 16 / 4 * 8 + lane_ % 2 * 4;
      return b_.address(lane_ / 16 * 4 + i, column, 0u, slot);
    }
  }
  TW_DEVICE void read(std::uint32_t (&part)[4][4], const SharedAddress (&firsts)[4],
                      unsigned index) const {
    TW_UNROLL
    for (unsigned half = 0; half < 2; ++half) {
      const SharedAddress offset =
          b_.address(32 * (index / spans) + 16 * half, 0u, index % spans, 0u) -
          b_.address(0u, 0u, 0u, 0u);
      if constexpr (reads_transposed) {
        TW_UNROLL
        for (unsigned i = 0; i < 4; ++i) {
          isa::ds_read_b64_tr_b16(reinterpret_cast<std::uint32_t(&)[2]>(part[i][2 * half]),
                                  firsts[i] + offset);
        }
      } else {
        std::uint32_t rows[4][2];
        TW_UNROLL
        for (unsigned i = 0; i < 4; ++i) isa::load_shared_8(rows[i], firsts[i] + offset);
        // Four k by four columns, turned.
        TW_UNROLL
        for (unsigned product = 0; product < 4; ++product) {
          TW_UNROLL
          for (unsigned i = 0; i < 2; ++i) {
            part[product][2 * half + i] = pair(product, rows[2 * i], rows[2 * i + 1]);
          }
        }
      }
    }
  }
  // Element `column` of two rows of four.
  static TW_DEVICE std::uint32_t pair(unsigned column, const std::uint32_t (&first)[2],
                                      const std::uint32_t (&second)[2]) {
    const std::uint32_t lower = first[column / 2], upper = second[column / 2];
    return column % 2 == 0 ? (lower & 0xffffu) | upper << 16 : lower >> 16 | (upper & 0xffff0000u);
  }

  B b_;
  unsigned lane_;
};

}  // namespace tw
