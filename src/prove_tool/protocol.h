// A protocol to prove: a tiny kernel of production parts, in which every role is one thread.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "vgpu/explore/exploration.h"

namespace tw::prove {

// How far a protocol is explored; what the three numbers count, the protocol says.
struct Bound {
  unsigned stages = 2;
  unsigned steps = 5;
  unsigned consumers = 2;
};

// A mistake that can be planted in the protocol, to see it refuted.
struct Fault {
  const char* name;
  const char* what;
};

// The kernel with its memory.
class Model {
 public:
  virtual ~Model() = default;
  // One run from fresh memory.
  virtual vgpu::Outcome run(const vgpu::Options& options) = 0;
};

struct Protocol {
  const char* name;
  const char* what;
  Bound usual;
  Bound most;              // what is compiled, and the most steps
  const char* stages_are;  // null: it has none
  const char* steps_are;
  const char* consumers_are;
  std::span<const Fault> faults;
  // `fault` counts from 1 in `faults`; 0: none.
  std::unique_ptr<Model> (*make)(const Bound& bound, unsigned fault);
};

extern const Protocol ring, announcement, turn, fixup;

// make.template operator()<n>() for the n in 1 .. most that is `value`.
template <unsigned most, class Make>
auto with_constant(unsigned value, const Make& make) {
  if constexpr (most > 1) {
    if (value < most) return with_constant<most - 1>(value, make);
  }
  return make.template operator()<most>();
}

// The Made<stages, consumers, fault> of a bound, each up to its largest.
template <template <unsigned, unsigned, unsigned> class Made, unsigned most_stages,
          unsigned most_consumers, unsigned most_faults>
std::unique_ptr<Model> model_of(const Bound& bound, unsigned fault) {
  return with_constant<most_stages>(bound.stages, [&]<unsigned stages> {
    return with_constant<most_consumers>(bound.consumers, [&]<unsigned consumers> {
      return with_constant<most_faults + 1>(
          fault + 1, [&]<unsigned fault_and_one>() -> std::unique_ptr<Model> {
            return std::make_unique<Made<stages, consumers, fault_and_one - 1>>(bound.steps);
          });
    });
  });
}

}  // namespace tw::prove
