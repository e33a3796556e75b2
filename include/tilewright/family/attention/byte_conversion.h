// A tile of e4m3 as bf16, for products that take both operands as 16 bits from shared memory.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/convert.h"
#include "tilewright/isa/shared_memory.h"

namespace tw {

// `warps` warps write the tile `From` (row,column,span) of e4m3 as `To` of bf16: bf16 has every
// number of e4m3. Rows of both lie in swizzled lines of 128 bytes, those of `From` in half as many.
template <class From, class To, unsigned warps>
class ByteConversion {
  static constexpr unsigned rows = From::template static_extent<0>;
  static_assert(sizeof(typename From::Value) == 1 && sizeof(typename To::Value) == 2);
  static_assert(rows % (8 * warps) == 0, "A warp converts eight rows at a time.");
  static constexpr unsigned line = 8;  // chunks of 16 bytes

 public:
  TW_DEVICE explicit ByteConversion(unsigned thread) : thread_(thread) {}

  // The first `columns` columns of each row.
  template <unsigned columns, class Target, class Source>
  TW_DEVICE void convert(const Target& to, const Source& from) const {
    static_assert(columns % 64 == 0, "A lane converts a chunk of each 64 columns.");
    constexpr unsigned turns = rows / (8 * warps), quarters = columns / 64;
    const auto sources = from.template chunks<16>();
    const auto targets = to.template chunks<16>();
    const unsigned lane = thread_ % 32;
    // Eight lanes read and write at once: four chunks of one row and four of the row whose place
    // in the swizzle differs by 5. Those that are read lie in other banks, and so do the even, and
    // the odd, ones of those that are written.
    const unsigned of_eight = lane / 8 ^ lane / 4 % 2 * 5;
    std::uint32_t bytes[turns][quarters][4];
    TW_UNROLL
    for (unsigned turn = 0; turn < turns; ++turn) {
      TW_UNROLL
      for (unsigned quarter = 0; quarter < quarters; ++quarter) {
        const unsigned chunk = 4 * quarter + lane % 4;
        isa::load_shared_16(bytes[turn][quarter],
                            sources.address(row(turn, of_eight), chunk % line, chunk / line));
      }
    }
    TW_UNROLL
    for (unsigned turn = 0; turn < turns; ++turn) {
      TW_UNROLL
      for (unsigned quarter = 0; quarter < quarters; ++quarter) {
        TW_UNROLL
        for (unsigned half = 0; half < 2; ++half) {
          std::uint32_t words[4];
          TW_UNROLL
          for (unsigned i = 0; i < 4; ++i) {
            const std::uint32_t four = bytes[turn][quarter][2 * half + i / 2];
            words[i] = isa::cvt_bf16x2_e4m3x2(static_cast<std::uint16_t>(four >> i % 2 * 16));
          }
          isa::store_shared_16(targets.address(row(turn, of_eight), 2 * (lane % 4) + half, quarter),
                               words);
        }
      }
    }
  }

 private:
  TW_DEVICE unsigned row(unsigned turn, unsigned of_eight) const {
    return 8 * (turn * warps + thread_ / 32) + of_eight;
  }

  unsigned thread_;
};

}  // namespace tw
