// A role of its own brings C (or a residual) to the epilogue: the chunks are in shared memory by
// the time they are wanted.
#pragma once

#include "tilewright/epilogue/fragment.h"
#include "tilewright/epilogue/source.h"
#include "tilewright/epilogue/staged_layout.h"
#include "tilewright/io/completion.h"
#include "tilewright/io/operand_layout.h"
#include "tilewright/isa/model.h"
#include "tilewright/isa/ptx/tma.h"
#include "tilewright/layout/shared_tile.h"
#include "tilewright/pipeline/mbarrier.h"
#include "tilewright/pipeline/ring.h"

namespace tw {

// The sources of one storing group: a ring of `staged` chunks, each like one of D. A tile has
// `num_chunks` of them: row_chunks side by side, then the next rows.
template <ElementType type, unsigned lines, unsigned line_bytes, unsigned num_chunks,
          unsigned row_chunks, unsigned reading_warps, unsigned staged>
struct StagedSources {
  static constexpr bool has_role = true;
  static constexpr unsigned chunks = num_chunks;
  static constexpr unsigned chunk_columns = line_bytes / bytes_of(type);
  static constexpr unsigned chunk_rows = lines;
  static constexpr unsigned chunk_bytes = lines * line_bytes;
  static constexpr Layout layout = staged_layout(lines, bytes_of(type), line_bytes);

  struct Payload {
    static constexpr Space space = Space::Shared;
    static constexpr const char* name = "source";
    static constexpr const char* full_name = "source.full";
    static constexpr const char* empty_name = "source.empty";
    struct Tiles {
      alignas(1024) unsigned char chunk[chunk_bytes];
    };
    struct StageTensors {
      SharedTile<Element<type>, layout> chunk;
      TW_DEVICE explicit StageTensors(SharedAddress tiles) : chunk(tiles) {}
    };
    static constexpr Part parts[1] = {{sizeof(Tiles),
                                       Completion::TransactionBytes,
                                       {Role::Source, 1},
                                       {{Role::Epilogue, reading_warps}}}};
  };
  using Ring = tw::Ring<Payload, staged, Mbarriers>;

  struct Params {
    TensorMap map;     // C is (n, m, batch), a box (chunk_columns, lines, 1), like the output's
    unsigned present;  // 0: there is no C, and nobody asks for it
  };
  struct Storage {
    typename Payload::Tiles tiles[Ring::stages];
    typename Ring::Barriers barriers;
  };
  static TW_DEVICE void init(Storage& storage) { Ring::init(storage.barriers, storage.tiles); }

  // The role that loads: one thread.
  template <class Trace>
  class Loader {
   public:
    TW_DEVICE Loader(const Params& params, Storage& storage, Trace trace)
        : params_(params), ring_(storage.barriers, storage.tiles, trace) {}
    // Chunk `index` of the tile that stands at `place`.
    TW_DEVICE void load(const TileOrigin& place, unsigned index) {
      auto stage = ring_.produce();
      const int at[3] = {place.column + static_cast<int>(index % row_chunks * chunk_columns),
                         place.row + static_cast<int>(index / row_chunks * lines), place.batch};
      isa::cp_async_bulk_tensor_load(stage.tensors().chunk.address(), &params_.map, stage.full(),
                                     at, isa::CacheHint::EvictFirst);
    }
    TW_DEVICE void drain() { ring_.drain(); }

   private:
    const Params& params_;
    Producer<Ring, Role::Source, Trace> ring_;
  };

  // The epilogue. A chunk is released when all its values are read.
  class Reader {
    using Input = Consumer<Ring, Release::Warp, NoTrace>;

   public:
    struct Chunk : StagedSource<lines, line_bytes> {
      typename Input::Token token;
    };
    TW_DEVICE Reader(const Params& params, Storage& storage, unsigned thread)
        : present_(params.present != 0),
          chunks_(isa::shared_address(storage.tiles)),
          ring_(storage.barriers, thread % 32, NoTrace({}, 0, false)) {}
    TW_DEVICE Chunk next(int row, int column) {
      if (!present_) return {};
      auto token = ring_.consume();
      const auto chunk = chunks_.slice(whole, whole, token.slot());
      return {{chunk.address(), row, column}, std::move(token)};
    }

   private:
    bool present_;
    // (line,element,stage)
    SharedTile<Element<type>, in_stages(layout, sizeof(typename Payload::Tiles), bytes_of(type))>
        chunks_;
    Input ring_;
  };
};

}  // namespace tw
