// A tile of bytes with rows and columns exchanged: the tensor core takes 8-bit operands along k
// only.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/ptx/matrix.h"
#include "tilewright/isa/ptx/permute.h"
#include "tilewright/isa/ptx/warp_matrix.h"

namespace tw {

// `warps` warps write the tile `From` (row,column,span) as `To` (column,row,span), both in lines of
// 128 or 64 bytes. Of each 16 rows, which become 16 neighbours of a line, place 4 i + j is that of
// row (2 i, 2 i + 1, 8 + 2 i, 9 + 2 i)[j]: what a lane holds of the sums of a product stands there
// where the same lane holds A of the next (PackedRows), and no byte changes lanes.
template <class From, class To, unsigned warps>
class ByteTranspose {
  static constexpr unsigned rows = From::template static_extent<0>;
  static constexpr unsigned columns = To::template static_extent<0>;
  // Chunks of 16 bytes in a line.
  static constexpr unsigned from_line = From::template static_extent<1> / 16;
  static constexpr unsigned to_line = To::template static_extent<1> / 16;
  static_assert(sizeof(typename From::Value) == 1 && sizeof(typename To::Value) == 1);
  static_assert(rows % 32 == 0 && columns % (16 * from_line) == 0,
                "A warp transposes 32 rows of whole lines at a time, or two chunks of them.");
  static constexpr bool by_lines = rows == 32 * warps;
  static constexpr unsigned even = 0x6420, odd = 0x7531;

 public:
  TW_DEVICE explicit ByteTranspose(unsigned thread) : thread_(thread) {}
  TW_DEVICE unsigned thread() const { return thread_; }

  template <class Target, class Source>
  TW_DEVICE void transpose(const Target& to, const Source& from) const {
    // Lane 4 i + j gets bytes 2 i and 2 i + 1 of the chunks of rows 2 j and 2 j + 1. Half of the
    // lanes put together the even bytes first, the other half the odd: eight lines that are
    // written at once then lie in all banks.
    const unsigned lane = thread_ % 32;
    const unsigned first = lane < 16 ? even : odd, second = lane < 16 ? odd : even;
    const unsigned matrix = lane / 8, in_matrix = lane % 8;
    const unsigned lower = in_matrix < 4 ? 0 : 1;
    const unsigned line_of = 2 * in_matrix + (matrix % 2 == 0 ? lower : 1 - lower);
    const auto targets_of = [&](unsigned row) {
      const unsigned chunk = row / 16 + matrix / 2;
      return to.template chunks<16>().template steps_from<0, 16>(line_of, chunk % to_line,
                                                                 chunk / to_line);
    };
    // Two chunks of 16 columns, the first of them `chunk` of the span.
    const auto move = [&](const auto& targets, const auto& sources, unsigned span, unsigned chunk) {
      std::uint32_t bytes[2][4];
      TW_UNROLL
      for (unsigned j = 0; j < 2; ++j) {
        isa::ldmatrix_x4_transposed(bytes[j], sources.address(chunk + j));
      }
      TW_UNROLL
      for (unsigned j = 0; j < 2; ++j) {
        isa::stmatrix_x4(targets.address(16 * (span * from_line + chunk + j)),
                         isa::permute_bytes(bytes[j][0], bytes[j][1], first),
                         isa::permute_bytes(bytes[j][0], bytes[j][1], second),
                         isa::permute_bytes(bytes[j][2], bytes[j][3], first),
                         isa::permute_bytes(bytes[j][2], bytes[j][3], second));
      }
    };
    // Neither loop over chunks is unrolled: these warps have few registers.
    if constexpr (by_lines) {
      const unsigned row = 32 * (thread_ / 32);
      const auto targets = targets_of(row);
      TW_UNROLL
      for (unsigned span = 0; span < columns / (16 * from_line); ++span) {
        const auto sources =
            from.template chunks<16>().template steps_from<1, 1>(row + lane, 0u, span);
        TW_ROLL
        for (unsigned i = 0; i < from_line; i += 2) move(targets, sources, span, i);
      }
    } else {
      constexpr unsigned of_rows = columns / 32;
      TW_ROLL
      for (unsigned piece = thread_ / 32; piece < rows / 32 * of_rows; piece += warps) {
        const unsigned row = 32 * (piece / of_rows), chunk = 2 * (piece % of_rows);
        const unsigned span = chunk / from_line;
        const auto sources =
            from.template chunks<16>().template steps_from<1, 1>(row + lane, 0u, span);
        move(targets_of(row), sources, span, chunk % from_line);
      }
    }
  }

 private:
  unsigned thread_;
};

}  // namespace tw
