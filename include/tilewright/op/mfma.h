// TileOp of single waves, CDNA3 and later: fragments by 16-byte reads of the lines as they lie, or
// by transposed reads where a line is of one k; products by mfma, sums in registers.
#pragma once

#include "tilewright/accumulator/wave.h"
#include "tilewright/isa/amdgcn/mfma.h"
#include "tilewright/isa/amdgcn/schedule.h"
#include "tilewright/isa/amdgcn/wave_memory.h"
#include "tilewright/isa/shared_memory.h"
#include "tilewright/number/fnuz.h"
#include "tilewright/op/wave_grid.h"

namespace tw {

enum class Cdna : unsigned { Three = 3, Four = 4 };

// `from_fnuz`: the loader makes fnuz of e4m3 (io/fnuz_copy.h), which is what CDNA3 multiplies.
template <Tiling tiling, WarpGrid waves, unsigned stage_bytes, Cdna generation,
          bool from_fnuz = false>
class MfmaOp : public WaveGrid<tiling, waves, stage_bytes> {
  using Base = WaveGrid<tiling, waves, stage_bytes>;
  using Base::column_;
  using Base::columns;
  using Base::lane_;
  using Base::row_;
  using Base::rows;
  using Base::stages_;
  using typename Base::Tensors;
  static constexpr bool is_fnuz =
      from_fnuz && tiling.a_type == ElementType::E4m3 && tiling.b_type == ElementType::E4m3;
  static constexpr MfmaType type_of(ElementType element) {
    switch (element) {
      case ElementType::Bf16: return MfmaType::Bf16;
      case ElementType::E4m3: return is_fnuz ? MfmaType::E4m3Fnuz : MfmaType::E4m3;
      case ElementType::E5m2: return MfmaType::E5m2;
      case ElementType::S8: return MfmaType::S8;
      default: return MfmaType::F16;
    }
  }
  static constexpr unsigned element_bytes = bytes_of(tiling.a_type);
  static_assert(element_bytes <= 2, "mfma multiplies elements of 8 and of 16 bits here.");
  static_assert(generation != Cdna::Three || element_bytes == 2 || is_integer(tiling.a_type) ||
                    is_fnuz,
                "8-bit floats of CDNA3 are fnuz: e4m3 must be made that by the loader, and e5m2 "
                "cannot be, for its infinities have no code there.");
  // Bytes of k that one product takes from each lane.
  static constexpr unsigned product_bytes = generation == Cdna::Four && element_bytes == 2 ? 16 : 8;
  // mfma multiplies B by A: what it leaves in a lane are neighbours of a row of D.
  static constexpr MfmaShape shape = {type_of(tiling.b_type), type_of(tiling.a_type), 16,
                                      4 * product_bytes / element_bytes};
  static constexpr bool transposes = tiling.a_major == Major::MN || tiling.b_major == Major::MN;
  static_assert(!transposes || (generation == Cdna::Four && element_bytes == 2),
                "A lane multiplies neighbours of k: operands must lie K-major in shared memory, "
                "unless transposed reads turn elements of 16 bits, which need CDNA4.");
  // Four groups of lanes read 16 bytes each. A product of 8 bytes takes the first, then the second
  // half of all of them: in another order of k, but the same of A and of B.
  static constexpr unsigned step_bytes = 64;
  static constexpr unsigned span_steps = Tiling::span_bytes / step_bytes;
  static constexpr unsigned products = 16 / product_bytes;  // per step

 public:
  using Accumulator = WaveAccumulator<rows / 32, columns, waves.n, isa::MfmaSum<shape>>;
  static constexpr unsigned steps = tiling.spans * span_steps;  // per stage

  TW_DEVICE MfmaOp(const Tensors& stages, unsigned /*first_row*/, unsigned thread)
      : Base(stages, thread) {}

  template <StageToRead Stage>
  TW_DEVICE void multiply(Accumulator& sum, const Stage& stage) {
    static_assert(is_stage_of<Stage, Tensors>,
                  "The stage is of another ring than this TileOp was made for.");
    if (!sum.started()) sum.clear();
    const unsigned slot = stage.slot();
    // The reads of a step are on their way while the products of the one before are made.
    Fragments fragments[2];
    load<transposes>(fragments[0], 0, slot);
    TW_UNROLL
    for (unsigned step = 0; step < steps; ++step) {
      const bool reads_on = step + 1 < steps;
      if (reads_on) load<transposes>(fragments[(step + 1) % 2], step + 1, slot);
      isa::schedule_barrier();
      if constexpr (transposes) {
        if (reads_on) isa::s_waitcnt<isa::any_vmcnt, reads_in_flight>();
        if (!reads_on) isa::s_waitcnt<isa::any_vmcnt, 0>();
      }
      multiply_step(sum, fragments[step % 2]);
    }
  }

  // 16 bytes of k of a row, as the products take them.
  struct Fragment {
    std::uint32_t words[4];
    TW_DEVICE const std::uint32_t (&product(unsigned i) const)[product_bytes / 4] {
      return reinterpret_cast<const std::uint32_t(&)[product_bytes / 4]>(
          words[i * (product_bytes / 4)]);
    }
  };

  // The operands of one step.
  struct Fragments {
    Fragment a[rows / 16];
    Fragment b[columns / 16];
  };

  // For programs that wait for reads by themselves: the fragments of a step are on their way.
  TW_DEVICE void read_step(Fragments& fragments, unsigned step, unsigned slot) const {
    load<true>(fragments, step, slot);
  }
  TW_DEVICE void multiply_step(Accumulator& sum, const Fragments& fragments) const {
    TW_UNROLL
    for (unsigned column = 0; column < columns / 16; ++column) {
      TW_UNROLL
      for (unsigned product = 0; product < products; ++product) {
        TW_UNROLL
        for (unsigned row = 0; row < rows / 16; ++row) {
          isa::mfma<shape>(sum.fragment(row, column), fragments.b[column].product(product),
                           fragments.a[row].product(product));
        }
      }
    }
  }

  TW_DEVICE void finish(Accumulator& sum) {
    if (!sum.started()) sum.clear();
    if constexpr (is_fnuz) sum.scale(e4m3_over_fnuz * e4m3_over_fnuz);
  }

 private:
  // A step is read while the one before is multiplied; lgkmcnt counts to 15.
  static constexpr unsigned step_reads = rows / 16 * (tiling.a_major == Major::K ? 1 : 2) +
                                         columns / 16 * (tiling.b_major == Major::K ? 1 : 2);
  static constexpr unsigned reads_in_flight =
      step_reads < isa::any_lgkmcnt ? step_reads : isa::any_lgkmcnt - 1;

  template <bool in_flight>
  TW_DEVICE void load(Fragments& fragments, unsigned step, unsigned slot) const {
    load<in_flight, tiling.a_major>(fragments.a, stages_.a, row_, step, slot);
    load<in_flight, tiling.b_major>(fragments.b, stages_.b, column_, step, slot);
  }
  // 16 rows (of A, or of B) by 64 bytes of k: lane l has row l % 16 and the 16-byte chunk l / 16.
  // Where lines are of one k, 16 lanes read four k of 16 rows, four lanes each, and lane l gets row
  // l % 16 of all of them.
  template <bool in_flight, Major major, unsigned count, class Tensor>
  TW_DEVICE void load(Fragment (&fragments)[count], const Tensor& operand, unsigned first_row,
                      unsigned step, unsigned slot) const {
    const unsigned span = step / span_steps, in_span = step % span_steps;
    if constexpr (major == Major::K) {
      const auto chunks = operand.template chunks<16>();
      const unsigned chunk = 4 * in_span + lane_ / 16;
      // Swizzles repeat within 16 rows: the reads differ by an offset alone.
      const SharedAddress first =
          isa::opaque(chunks.address(first_row + lane_ % 16, chunk, span, slot));
      TW_UNROLL
      for (unsigned i = 0; i < count; ++i) {
        const SharedAddress address =
            first + (chunks.address(16 * i, 0u, 0u, 0u) - chunks.address(0u, 0u, 0u, 0u));
        if constexpr (in_flight) {
          isa::ds_read_b128(fragments[i].words, address);
        } else {
          isa::load_shared_16(fragments[i].words, address);
        }
      }
    } else {
      const unsigned k = 32 * in_span + 8 * (lane_ / 16) + lane_ / 4 % 4;
      TW_UNROLL
      for (unsigned i = 0; i < count; ++i) {
        const unsigned row = first_row + 16 * i + 4 * (lane_ % 4);
        TW_UNROLL
        for (unsigned half = 0; half < 2; ++half) {
          isa::ds_read_b64_tr_b16(
              reinterpret_cast<std::uint32_t(&)[2]>(fragments[i].words[2 * half]),
              operand.address(row, k + 4 * half, span, slot));
        }
      }
    }
  }
};

}  // namespace tw
