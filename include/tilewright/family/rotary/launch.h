// The launch that rotates heads and stores keys and values into a cache.
#pragma once

#include <algorithm>

#include "tilewright/family/rotary/family.h"
#include "tilewright/family/rotary/kernel.h"
#include "tilewright/launch/row_alignment.h"

namespace tw {

struct RotaryLaunch {
  using Family = RotaryFamily;

  template <class Kernel>
  static constexpr RotaryConfig facts = Kernel::config;

  // Why a kernel cannot take the problem.
  template <class Kernel>
  static Status supports(const Checked& checked) {
    using Stream = typename Kernel::Stream;
    const std::int64_t size = checked.as<Family::Problem>().head_size;
    constexpr std::int64_t of_thread = 2 * Stream::length, most = of_thread * Stream::threads;
    if (size % of_thread != 0 || size > most) {
      return Status::refused(
          sentence("head_size = {} must be a multiple of {}, at most {}.", size, of_thread, most));
    }
    if (checked.as<Family::Problem>().all_positions == 0) {
      return Status::refused("all_positions = 0, but each token takes a row of cosines and sines.");
    }
    return rows_begin_at_16_bytes(
        checked, {Family::qkv, Family::cosines, Family::sines, Family::q, Family::k, Family::v});
  }

  // `max_ctas`: how many the device holds at once. The kernel takes the problem, which is not
  // empty.
  template <class Kernel>
  static void plan(typename kernel::Streaming<Kernel>::Params& params, unsigned& ctas,
                   const Checked& checked, unsigned max_ctas) {
    using Stream = typename Kernel::Stream;
    const Family::Problem& problem = checked.as<Family::Problem>();
    const auto place = [&]<class Element>(typename Stream::template Matrix<Element>& matrix,
                                          unsigned tensor) {
      const TensorLines& lines = checked.tensor(tensor);
      matrix = {static_cast<Element*>(lines.data), lines.pitch};
    };
    auto& stream = params.stream;
    place(stream.qkv, Family::qkv);
    place(stream.cosines, Family::cosines);
    place(stream.sines, Family::sines);
    place(stream.q, Family::q);
    place(stream.k, Family::k);
    place(stream.v, Family::v);
    stream.positions = problem.positions;
    stream.slots = problem.slots;
    stream.heads = static_cast<unsigned>(problem.heads);
    stream.key_heads = static_cast<unsigned>(problem.key_heads);
    stream.head_size = static_cast<unsigned>(problem.head_size);
    stream.rows = static_cast<unsigned>(problem.rows);
    stream.last_position = static_cast<int>(problem.all_positions) - 1;
    stream.type = checked.tensor(Family::qkv).type;
    params.tiles = static_cast<unsigned>(problem.tokens);
    // Tokens whose heads take several rounds of loads have a CTA each, up to a number that every
    // target can launch: who is done makes room for the next.
    const unsigned at_once = Stream::threads / (stream.head_size / 2 / Stream::length);
    const bool each = stream.heads + 2 * stream.key_heads > Stream::pieces * at_once;
    ctas = std::min(params.tiles, each ? 1u << 20 : std::max(1u, max_ctas));
  }
};

}  // namespace tw
