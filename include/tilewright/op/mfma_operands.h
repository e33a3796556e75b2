// Operands of mfma as the lanes of a wave read them: by 16-byte reads of the lines as they lie, or
// by transposed reads where a line is of one k.
#pragma once

#include "tilewright/io/stage.h"
#include "tilewright/isa/amdgcn/mfma.h"
#include "tilewright/isa/amdgcn/schedule.h"
#include "tilewright/isa/amdgcn/wave_memory.h"
#include "tilewright/isa/shared_memory.h"

namespace tw {

enum class Cdna : unsigned { Three = 3, Four = 4 };

// `from_fnuz`: the loader makes fnuz of e4m3 (io/fnuz_copy.h), which is what CDNA3 multiplies.
template <Tiling tiling, Cdna generation, bool from_fnuz>
struct MfmaOperands {
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
  // Bytes of k that one product takes from each lane: the longest there is, for its rate is the
  // highest.
  static constexpr unsigned product_bytes =
      generation == Cdna::Three ? 8 : element_bytes == 2 ? 16 : is_integer(tiling.a_type) ? 8 : 32;
  // mfma multiplies B by A: what it leaves in a lane are neighbours of a row of D.
  static constexpr MfmaShape shape = {type_of(tiling.b_type), type_of(tiling.a_type), 16,
                                      4 * product_bytes / element_bytes};
  static constexpr bool transposes = tiling.a_major == Major::MN || tiling.b_major == Major::MN;
  static_assert(!transposes || (generation == Cdna::Four && element_bytes == 2),
                "A lane multiplies neighbours of k: operands must lie K-major in shared memory, "
                "unless transposed reads turn elements of 16 bits, which need CDNA4.");
  // Four groups of lanes read 16 bytes each.
  static constexpr unsigned read_bytes = 64;
  static constexpr unsigned span_reads = Tiling::span_bytes / read_bytes;

  // A lane's share of a row, by so many reads, as the products take it. A product of 8 bytes takes
  // the first, then the second half of what all lanes read: in another order of k, but the same of
  // A and of B. One of 32 bytes takes two reads, which is the order of the instruction.
  template <unsigned reads>
  struct Fragment {
    static constexpr unsigned products = 16 * reads / product_bytes;
    std::uint32_t words[4 * reads];
    TW_DEVICE const std::uint32_t (&product(unsigned i) const)[product_bytes / 4] {
      return reinterpret_cast<const std::uint32_t(&)[product_bytes / 4]>(
          words[i * (product_bytes / 4)]);
    }
  };

  // Rows (of A, or of B) from first_row + `to_row` on, 16 for each fragment: lane l has row l % 16
  // and the 16-byte chunk l / 16 of each read. Reads count the 64-byte pieces of k of a stage.
  // Where lines are of one k, 16 lanes read four k of 16 rows, four lanes each, and lane l gets row
  // l % 16 of all of them. `in_flight`: the program waits for them.
  template <bool in_flight, Major major, unsigned to_row, unsigned reads, unsigned count,
            class Tensor>
  static TW_DEVICE void read(Fragment<reads> (&fragments)[count], const Tensor& operand,
                             unsigned first_row, unsigned first_read, unsigned slot,
                             unsigned lane) {
    TW_UNROLL
    for (unsigned i = 0; i < reads; ++i) {
      const unsigned span = (first_read + i) / span_reads, in_span = (first_read + i) % span_reads;
      const auto words = [&](unsigned fragment, unsigned word) {
        return fragments[fragment].words + 4 * i + word;
      };
      if constexpr (major == Major::K) {
        read_lines<in_flight, to_row, count>(words, operand, first_row, in_span, span, slot, lane);
      } else {
        read_turned<to_row, count>(words, operand, first_row, in_span, span, slot, lane);
      }
    }
  }

 private:
  template <bool in_flight, unsigned to_row, unsigned count, class Words, class Tensor>
  static TW_DEVICE void read_lines(const Words& words, const Tensor& operand, unsigned first_row,
                                   unsigned in_span, unsigned span, unsigned slot, unsigned lane) {
    const auto chunks = operand.template chunks<16>();
    const unsigned chunk = 4 * in_span + lane / 16;
    // Swizzles repeat within 16 rows: the reads differ by an offset alone.
    const SharedAddress first =
        isa::opaque(chunks.address(first_row + lane % 16, chunk, span, slot));
    TW_UNROLL
    for (unsigned i = 0; i < count; ++i) {
      const SharedAddress address =
          first + (chunks.address(to_row + 16 * i, 0u, 0u, 0u) - chunks.address(0u, 0u, 0u, 0u));
      auto& to = *reinterpret_cast<std::uint32_t(*)[4]>(words(i, 0));
      if constexpr (in_flight) {
        isa::ds_read_b128(to, address);
      } else {
        isa::load_shared_16(to, address);
      }
    }
  }
  template <unsigned to_row, unsigned count, class Words, class Tensor>
  static TW_DEVICE void read_turned(const Words& words, const Tensor& operand, unsigned first_row,
                                    unsigned in_span, unsigned span, unsigned slot, unsigned lane) {
    const unsigned k = 32 * in_span + 8 * (lane / 16) + lane / 4 % 4;
    TW_UNROLL
    for (unsigned i = 0; i < count; ++i) {
      const unsigned row = first_row + to_row + 16 * i + 4 * (lane % 4);
      TW_UNROLL
      for (unsigned half = 0; half < 2; ++half) {
        isa::ds_read_b64_tr_b16(*reinterpret_cast<std::uint32_t(*)[2]>(words(i, 2 * half)),
                                operand.address(row, k + 4 * half, span, slot));
      }
    }
  }
};

}  // namespace tw
