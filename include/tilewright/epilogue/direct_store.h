// Stores pairs straight from the threads that hold them: no shared memory, no barrier, no TMA.
#pragma once

#include "tilewright/accumulator/fragment_layout.h"
#include "tilewright/epilogue/contracts.h"
#include "tilewright/epilogue/element.h"

namespace tw {

// `columns` are evaluated together.
template <ElementType output_type, class Trace, unsigned columns = 32>
class DirectStore : public UsualStore {
 public:
  static constexpr ElementType output = output_type;
  static constexpr unsigned chunk_columns = columns;
  struct Buffers {};
  using OutputTrace = Trace;

  struct Params {
    void* d;
    std::int64_t pitch;  // in elements
    std::int64_t batch_pitch;
  };

  TW_DEVICE DirectStore(const Params& params, Buffers&, unsigned /*barrier*/,
                        unsigned /*thread_in_group*/, Trace)
      : d_{params.d, params.pitch, params.batch_pitch} {}

  struct NoBuffer {};
  TW_DEVICE NoBuffer open() { return {}; }

  template <FragmentSums Sums, class Pair, unsigned pairs, class PlaceOf>
  TW_DEVICE void write(const NoBuffer&, const Pair (&values)[pairs], unsigned /*column*/,
                       bool gates, const PlaceOf& place_of) {
    if (gates) {
      TW_UNROLL
      for (unsigned i = 0; i < pairs; ++i) {
        write_pair<output>(d_, gated(place_of(i)), values[i], false);
      }
    } else if (d_.template in_pairs<output>() && place_of.columns_inside()) {
      TW_UNROLL
      for (unsigned i = 0; i < pairs; ++i) write_pair<output>(d_, place_of(i), values[i], true);
    } else {
      TW_UNROLL
      for (unsigned i = 0; i < pairs; ++i) write_pair<output>(d_, place_of(i), values[i], false);
    }
  }

  TW_DEVICE void close(const NoBuffer&, const TileOrigin&, int /*m*/, int /*n*/, bool /*gates*/) {}
  TW_DEVICE void drain() {}

 private:
  GlobalMatrix d_;
};

}  // namespace tw
