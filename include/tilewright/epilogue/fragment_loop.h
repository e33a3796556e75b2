// The one loop over sums: a thread's pairs of a group of columns go through the epilogue's nodes
// and to the store, group by group, chunk by chunk.
#pragma once

#include "tilewright/accumulator/fragment_layout.h"
#include "tilewright/epilogue/contracts.h"
#include "tilewright/epilogue/global_source.h"
#include "tilewright/epilogue/group_place.h"
#include "tilewright/epilogue/tree.h"

namespace tw {

// A loop that is unrolled or not: registers have no index, so that what picks them by number must
// be unrolled.
template <unsigned count, bool unrolled, class Use>
TW_DEVICE void for_each(const Use& use) {
  if constexpr (unrolled) {
    TW_UNROLL
    for (unsigned i = 0; i < count; ++i) use(i);
  } else {
    TW_ROLL
    for (unsigned i = 0; i < count; ++i) use(i);
  }
}

// `Epilogue` is a Tree or RuntimeEpilogue, `Store` a StagedStore, DirectStore,
// TransposedStore or TransposedRows.
template <class Epilogue, class Store>
class FragmentLoop {
  static_assert(TileEpilogue<Epilogue>);

 public:
  using Buffers = typename Store::Buffers;  // in shared memory
  using Trace = typename Store::OutputTrace;
  static constexpr bool once = Epilogue::once;
  static constexpr bool begins = Epilogue::begins;
  struct Params {
    typename Store::Params output;
    int m;
    int n;  // columns of sums: a gated output has half of them
    typename Epilogue::Params epilogue;
  };

  // `barrier` is a named barrier of this group of threads alone.
  TW_DEVICE FragmentLoop(const Params& params, Buffers& buffers, unsigned barrier,
                         unsigned thread_in_group, Trace trace)
      : params_(params),
        store_(params.output, buffers, barrier, thread_in_group, trace),
        thread_(thread_in_group) {}

  // Before the sums of a tile of so many columns are made.
  TW_DEVICE void prepare(const TileOrigin& place, unsigned columns) const {
    const int left = params_.n - place.column;
    const int inside = left < static_cast<int>(columns) ? left : static_cast<int>(columns);
    Epilogue::prepare(params_.epilogue,
                      {place.batch, place.row, place.column, place.m_end, params_.n}, inside,
                      thread_);
  }

  // Sums begin at what the epilogue adds to them. Of C in memory, all values of a block of rows are
  // on their way at once; of C that was brought, chunk by chunk.
  template <class Sums, class Sources>
  TW_DEVICE void begin(Sums& sum, const TileOrigin& place, Sources& sources) const {
    constexpr bool is_staged = decltype(sources.next(0, 0))::is_staged;
    constexpr unsigned columns = is_staged ? Store::chunk_columns : Sums::columns;
    const auto program = Epilogue::template beginning<Store::output>(params_.epilogue);
    TW_UNROLL
    for (unsigned first = 0; first < Sums::blocks * Sums::columns; first += columns) {
      const unsigned block = first / Sums::columns;
      const unsigned column = first % Sums::columns;
      const TileOrigin at = {place.batch, place.row + static_cast<int>(block * Sums::block_rows),
                             place.column + static_cast<int>(column), place.m_end};
      const GroupPlace<Sums, columns> place_of = {at, 0, params_.n, thread_};
      FragmentPair values[columns / 4];
      program.first(values, place_of, sources.next(at.row, at.column));
      auto& begun = sum.values(block);
      TW_UNROLL
      for (unsigned i = 0; i < columns / 4; ++i) {
        begun[column / 2 + 2 * i] = values[i].first;
        begun[column / 2 + 2 * i + 1] = values[i].second;
      }
    }
    sum.start();
  }

  // All threads of the group call it. `sources` is asked for a SourceChunk before each chunk.
  template <FragmentSums Sums, class Sources>
  TW_DEVICE void store(const Sums& sum, const TileOrigin& place, Sources& sources) {
    static_assert(Sums::columns % Store::chunk_columns == 0,
                  "The tile's columns must be whole chunks of the output's row.");
    using Chunk = decltype(sources.next(0, 0));
    Epilogue::template choose<typename Sums::Value, Store::output, Chunk>(
        params_.epilogue, params_.n % 2 == 0,
        [&](const auto& program) { run(program, sum, place, sources); });
  }
  template <FragmentSums Sums>
  TW_DEVICE void store(const Sums& sum, const TileOrigin& place) {
    GlobalSource global;
    store(sum, place, global);
  }

  TW_DEVICE void drain() { store_.drain(); }

 private:
  // Columns whose values a thread works on together: as many as a program asks for. Those of a row
  // arrive by 32.
  template <class Program, class Sums>
  static constexpr unsigned columns_together() {
    if constexpr (Program::block_columns > 0) {
      static_assert(Store::chunk_columns % Program::block_columns == 0,
                    "A chunk of the output's row must be whole blocks of what a program works on.");
      return Program::block_columns;
    } else if constexpr (Store::transposes) {
      return Store::columns_together;
    } else if constexpr (Store::chunk_columns < 32) {
      return Store::chunk_columns;
    } else {
      return Sums::layout == FragmentLayout::Row || Store::chunk_columns < 64 ? 32 : 64;
    }
  }

  template <class Sums, unsigned columns>
  using GroupPlace = tw::GroupPlace<Sums, columns, Store::transposes>;

  template <class Program, class Sums, class Sources>
  TW_DEVICE void run(const Program& program, const Sums& sum, const TileOrigin& place,
                     Sources& sources) {
    constexpr unsigned chunks = Sums::blocks * (Sums::columns / Store::chunk_columns);
    typename Program::State state{};
    if constexpr (Store::stores_tiles) {
      store_tile<chunks>(program, state, sum, place, sources);
    } else {
      for_each<chunks, Program::unrolled>([&](unsigned chunk) TW_LOOP_BODY {
        store_chunk(program, state, sum, chunk, place, sources);
      });
    }
    if constexpr (requires { sum.is_read(); }) sum.is_read();
    program.finish(state, thread_ % isa::warp_lanes());
  }

  template <class Program, class Sums, class Sources>
  TW_DEVICE void store_chunk(const Program& program, typename Program::State& state,
                             const Sums& sum, unsigned index, const TileOrigin& tile,
                             Sources& sources) {
    if constexpr (requires { sum.finishes(index); }) {
      if (!sum.finishes(index)) return;  // others do
    }
    constexpr unsigned chunks_in_row = Sums::columns / Store::chunk_columns;
    unsigned chunk = index;
    if constexpr (OverlappedSums<Sums>) chunk = sum.chunk_at(index, chunks_in_row);
    const bool gates = program.gates();
    // Where the chunk begins, in columns of sums and of the output.
    const TileOrigin sums_at = sums_place<Sums>(chunk, tile);
    const TileOrigin output_at = output_place(sums_at, gates);
    auto buffer = store_.open();
    write_chunk(program, state, sum, chunk, sums_at, output_at, buffer, sources);
    if constexpr (OverlappedSums<Sums>) {
      static_assert(Sums::shared_columns % Store::chunk_columns == 0,
                    "What two sums share must be whole chunks.");
    }
    if constexpr (requires { sum.has_read(0u); }) {
      sum.has_read((index + 1) * Store::chunk_columns);
    }
    if constexpr (Store::transposes) {
      store_.close(buffer, output_at, params_.n, gates ? params_.m >> 1 : params_.m, gates);
    } else {
      store_.close(buffer, output_at, params_.m, gates ? params_.n >> 1 : params_.n, gates);
    }
  }

  // All chunks are written before the first is stored: the group meets once.
  template <unsigned chunks, class Program, class Sums, class Sources>
  TW_DEVICE void store_tile(const Program& program, typename Program::State& state, const Sums& sum,
                            const TileOrigin& tile, Sources& sources) {
    static_assert(in_registers<Sums>, "Who stores a whole tile has its sums in registers.");
    auto buffers = store_.template open_tile<chunks>();
    const bool gates = program.gates();
    for_each<chunks, Program::unrolled>([&](unsigned chunk) TW_LOOP_BODY {
      const TileOrigin sums_at = sums_place<Sums>(chunk, tile);
      write_chunk(program, state, sum, chunk, sums_at, output_place(sums_at, gates),
                  buffers.buffer(chunk), sources);
    });
    const bool stores = buffers.publish();
    TW_ROLL
    for (unsigned chunk = 0; chunk < chunks; ++chunk) {
      const TileOrigin output_at = output_place(sums_place<Sums>(chunk, tile), gates);
      store_.put(buffers.buffer(chunk), output_at, params_.m, gates ? params_.n >> 1 : params_.n,
                 gates, stores);
    }
  }

  template <class Sums>
  static TW_DEVICE TileOrigin sums_place(unsigned chunk, const TileOrigin& tile) {
    constexpr unsigned chunks_in_row = Sums::columns / Store::chunk_columns;
    const unsigned block = Sums::blocks == 1 ? 0 : chunk / chunks_in_row;
    const unsigned first_column = (chunk - block * chunks_in_row) * Store::chunk_columns;
    return {tile.batch, tile.row + static_cast<int>(block * Sums::block_rows),
            tile.column + static_cast<int>(first_column), tile.m_end};
  }

  template <class Program, class Sums, class Buffer, class Sources>
  TW_DEVICE void write_chunk(const Program& program, typename Program::State& state,
                             const Sums& sum, unsigned chunk, const TileOrigin& sums_at,
                             const TileOrigin& output_at, const Buffer& buffer, Sources& sources) {
    constexpr unsigned groups = Store::chunk_columns / columns_together<Program, Sums>();
    const auto source = sources.next(output_at.row, output_at.column);
    for_each<groups, Program::unrolled>([&](unsigned group) TW_LOOP_BODY {
      write_group(program, state, sum, chunk * groups + group, sums_at, buffer, source);
    });
  }

  // A gate makes one column of the output of two.
  static TW_DEVICE TileOrigin output_place(const TileOrigin& sums, bool gates) {
    if constexpr (Store::transposes) {
      return {sums.batch, gates ? sums.row >> 1 : sums.row, sums.column, sums.m_end};
    } else {
      return {sums.batch, sums.row, gates ? sums.column >> 1 : sums.column, sums.m_end};
    }
  }

  // Group `index` of all groups of the tile, row by row of blocks.
  template <class Program, class Sums, class Buffer, class SourceChunk>
  TW_DEVICE void write_group(const Program& program, typename Program::State& state,
                             const Sums& sum, unsigned index, const TileOrigin& chunk,
                             const Buffer& buffer, const SourceChunk& source) {
    constexpr unsigned columns = columns_together<Program, Sums>();
    constexpr bool is_row = Sums::layout == FragmentLayout::Row;
    constexpr unsigned pairs = is_row ? columns / 2 : columns / 4;
    using Pair = std::conditional_t<Program::passes_integers, IntegerPair, FragmentPair>;
    const unsigned column = index * columns % Store::chunk_columns;
    const GroupPlace<Sums, columns> place_of = {chunk, static_cast<int>(column),
                                                Store::transposes ? params_.m : params_.n, thread_};
    Pair values[pairs];
    take(values, program, sum, index);
    if constexpr (!Program::passes_integers) program.evaluate(state, values, place_of, source);
    store_.template write<Sums>(buffer, values, column, program.gates(), place_of);
  }

  // Registers have no index: an index that is only known at run time is compared with each.
  template <class Program, class Pair, unsigned pairs, class Sums>
  TW_DEVICE void take(Pair (&values)[pairs], const Program& program, const Sums& sum,
                      unsigned index) {
    using Value = typename Sums::Value;
    using Number = decltype(Pair::first);
    constexpr unsigned columns = columns_together<Program, Sums>();
    constexpr unsigned groups_in_row = Sums::columns / columns;
    // What others added to the sums of this group.
    constexpr bool has_others = MatrixSums<Sums> && requires { sum.others.parts; };
    Value others[2 * pairs];
    bool with_others = false;
    if constexpr (has_others) {
      with_others = sum.others.parts > 0;
      if (with_others) sum.others.sum(others, index * (2 * pairs));
    }
    const auto whole = [&](unsigned i, Value own) {
      if constexpr (has_others) return with_others ? others[i] + own : own;
      return own;
    };
    const auto begin = [&](unsigned i, Value first, Value second) {
      values[i] = program.begin(Pair{static_cast<Number>(whole(2 * i, first)),
                                     static_cast<Number>(whole(2 * i + 1, second))});
    };
    const auto each = [&](unsigned group, const auto& use) {
      if constexpr (Sums::layout == FragmentLayout::Row) {
        static_assert(columns % 32 == 0);
        TW_UNROLL
        for (unsigned first = 0; first < columns; first += 32) {
          Value loaded[32];
          sum.load(static_cast<int>(group * columns + first), loaded);
          TW_UNROLL
          for (unsigned i = 0; i < 16; ++i) {
            use(first / 2 + i, loaded[2 * i], loaded[2 * i + 1]);
          }
        }
      } else {
        const unsigned block = group / groups_in_row;
        const unsigned first = group % groups_in_row * (2 * pairs);
        TW_UNROLL
        for (unsigned i = 0; i < pairs; ++i) {
          use(i, sum.value(block, first + 2 * i), sum.value(block, first + 2 * i + 1));
        }
      }
    };
    if constexpr (Program::unrolled || !in_registers<Sums>) {
      each(index, begin);
    } else if constexpr (std::is_same_v<Value, float>) {
      // With begin() in the branch it stays a branch: a selection would cost a move per group.
      TW_UNROLL
      for (unsigned group = 0; group < Sums::blocks * groups_in_row; ++group) {
        if (group == index) each(group, begin);
      }
    } else {
      // Conversions would be moved out of the loop over groups, all at once.
      Value chosen[pairs][2] = {};
      TW_UNROLL
      for (unsigned group = 0; group < Sums::blocks * groups_in_row; ++group) {
        if (group != index) continue;
        each(group, [&](unsigned i, Value first, Value second) {
          chosen[i][0] = first;
          chosen[i][1] = second;
        });
      }
      TW_UNROLL
      for (unsigned i = 0; i < pairs; ++i) begin(i, chosen[i][0], chosen[i][1]);
    }
  }

  const Params& params_;
  Store store_;
  unsigned thread_;
};

}  // namespace tw
