// Which pixels of an image the filter of a convolution meets: what loaders are told, and stores of
// what lies between other pixels.
#pragma once

#include <cstdint>

#include "tilewright/base/annotate.h"
#include "tilewright/io/divisor.h"
#include "tilewright/io/tiling.h"

namespace tw {

// Along one side of the image: output i meets it at i * stride - pad + offset, and from there on at
// every `dilation` one for each of the filter's positions. Which positions, the phase tells.
template <unsigned most_phases>
struct Im2colAxis {
  struct Phase {
    Divisor filter;
    int offset = 0;
    int stored = 0;  // where the filter has its first position, in memory
  };
  Divisor outputs;
  int extent;  // the image's
  int stride;
  int pad;
  int dilation;
  int stored_step;  // from one of the filter's positions to the next, in memory
  Divisor num_phases;
  Phase phases[most_phases];

  TW_DEVICE int first(unsigned output) const { return static_cast<int>(output) * stride - pad; }
  // Leaves the phases of further sides.
  TW_DEVICE const Phase& phase(unsigned& index) const {
    if constexpr (most_phases == 1) return phases[0];
    return phases[num_phases.split(index)];
  }
};

// All sides: w, h, depth. Only backward data has more than one phase of each: every stride-th pixel
// meets the same of the filter's positions.
template <unsigned most_phases>
struct Im2colAxes {
  Im2colAxis<most_phases> axes[3];
  Divisor groups;  // the batch counts groups, and these for each phase

  // The phase and the group.
  TW_DEVICE Divisor::Divided batch(int index) const {
    if constexpr (most_phases == 1) return {0, static_cast<unsigned>(index)};
    return groups.divide(static_cast<unsigned>(index));
  }
  // Counted in all images; negative: outside, or there is no such position.
  TW_DEVICE std::int64_t pixel(unsigned output, unsigned position, unsigned phases) const {
    std::int64_t at = 0, pitch = 1;
    TW_UNROLL
    for (const Im2colAxis<most_phases>& axis : axes) {
      const auto& phase = axis.phase(phases);
      const int begin = axis.first(axis.outputs.split(output)) + phase.offset;
      const int here = begin + static_cast<int>(phase.filter.split(position)) * axis.dilation;
      if (here < 0 || here >= axis.extent) return -1;
      at += here * pitch;
      pitch *= axis.extent;
    }
    return position != 0 ? -1 : at + output * pitch;
  }
  // Where the filter has a position, in memory; negative: there is no such position.
  TW_DEVICE int stored(unsigned position, unsigned phases) const {
    int at = 0;
    TW_UNROLL
    for (const Im2colAxis<most_phases>& axis : axes) {
      const auto& phase = axis.phase(phases);
      at += phase.stored + static_cast<int>(phase.filter.split(position)) * axis.stored_step;
    }
    return position != 0 ? -1 : at;
  }
};

// So many has a line of the filters whose pixels are loaded once for a line.
inline constexpr unsigned line_positions = 3;

// Phases of a side at most: one for each step of the stride, backward data alone.
constexpr unsigned phases_of(const Tiling& tiling) {
  return tiling.a_major == Major::K && tiling.b_major == Major::MN ? 8 : 1;
}

}  // namespace tw
