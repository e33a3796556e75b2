// The configuration of a matmul kernel: an aggregate of named fields, checked at compile time.
#pragma once

#include <type_traits>

#include "tilewright/base/require.h"
#include "tilewright/io/tiling.h"
#include "tilewright/kernel/roles.h"

namespace tw {

enum class Tracing : unsigned { Off, On };
// How the sum of a tile is made: by one CTA, in equal parts, in one stream of all k-tiles, or in
// parts by the CTAs of a cluster.
enum class Split : unsigned { Whole, Parts, Stream, Cluster };
// Who says what comes next: a formula, or whoever is done asks.
enum class Scheduling : unsigned { Static, Dynamic };
// The order of tiles: bands of a group of lines, or a Hilbert curve.
enum class TileSweep : unsigned { Grouped, Hilbert };

struct MatmulConfig {
  Tiling tiling = {};
  ElementType d_type = ElementType::Bf16;
  // Chunks of D that a group has on their way to memory. More than two are whole tiles, each of
  // which is stored at once: for short sums, whose products do not hide a store.
  unsigned output_buffers = 2;
  Consumers consumers = Consumers::Cooperative;
  unsigned multiply_groups = 2;
  // Stages by which each cooperative group starts behind the one before it.
  unsigned stagger = 0;
  // Stages whose products are added up by the tensor core before they join the sum; 0: all.
  unsigned promote_every = 0;
  Split split = Split::Whole;
  // Parts of a sum that finish a share of its tile each, a power of two; 1: the last part finishes
  // all of it.
  unsigned finishers = 1;
  Scheduling scheduling = Scheduling::Static;
  TileSweep sweep = TileSweep::Grouped;
  unsigned c_stages = 0;          // chunks of C that a role brings ahead of a group's epilogue
  unsigned initial_c = 0;         // 1: sums begin at C and the bias; relu, or nothing, is behind
  unsigned dependent_launch = 0;  // 1: the grid starts while the grid before it ends
  unsigned plain_epilogue = 0;    // 1: D = alpha * sums alone, which leaves registers to the sums
  Tracing tracing = Tracing::Off;

  constexpr unsigned groups_per_tile() const {
    return consumers == Consumers::Cooperative ? multiply_groups : 1;
  }
  constexpr unsigned group_rows() const { return tiling.m / groups_per_tile(); }
  // From one group's first row of a tile to the next group's.
  constexpr unsigned group_step() const {
    return consumers == Consumers::Cooperative ? group_rows() : 0;
  }
  // A tile's rows and columns of the caller's D.
  constexpr unsigned output_rows() const { return tiling.swap_ab != 0 ? tiling.n : tiling.m; }
  constexpr unsigned output_columns() const { return tiling.swap_ab != 0 ? tiling.m : tiling.n; }

  // A part that finishes is left in the workspace like the others.
  constexpr bool keeps_last_part() const {
    return finishers != 1 || scheduling == Scheduling::Dynamic;
  }

  consteval MatmulConfig checked() const {
    require(bytes_of(tiling.a_type) == bytes_of(tiling.b_type),
            "A and B must have elements of one size.");
    require(is_integer(tiling.a_type) == is_integer(tiling.b_type), "Integers multiply integers.");
    require(tiling.spans >= 1, "A stage must hold a k-tile.");
    require(output_buffers == 2 || (output_buffers > 2 && finishers == 1),
            "A group has two buffers for chunks of D, or more for tiles that it stores at once, of "
            "which nobody else finishes a share.");
    require(
        tiling.loaded_rows == 0 || (tiling.loaded_rows % 8 == 0 && tiling.loaded_rows < tiling.m &&
                                    tiling.a_major == Major::K && tiling.cluster.n == 1),
        "loaded_rows are a multiple of 8 below the tile's m of a K-major A that no CTAs share.");
    require(tiling.swap_ab == 0 || (tiling.a_type == tiling.b_type && tiling.a_major == Major::K &&
                                    tiling.b_major == Major::K && tiling.loaded_rows == 0 &&
                                    bytes_of(d_type) == 2 && c_stages == 0),
            "With swap_ab operands are K-major, of one type and loaded whole; D has elements "
            "of two bytes, and no role brings C.");
    require(stagger == 0 || consumers == Consumers::Cooperative,
            "stagger is for cooperative groups; ping-pong groups take turns.");
    require((split == Split::Cluster) == (tiling.cluster.k > 1),
            "A cluster has CTAs along k if and only if they split the sums.");
    require(split != Split::Cluster || consumers == Consumers::Cooperative,
            "Parts travel between the same warps of two CTAs: groups that take turns would mix.");
    require(split != Split::Stream || scheduling == Scheduling::Static,
            "Who finishes a sum waits for parts that were taken before: only a static schedule "
            "promises that.");
    require(split != Split::Parts || scheduling == Scheduling::Static ||
                (finishers == 1 && c_stages == 0),
            "Whose part comes last is known when it has come: nobody finishes a share, and no role "
            "brings C.");
    require(finishers == 1 || (split == Split::Parts && consumers == Consumers::Cooperative &&
                               c_stages == 0 && (finishers & (finishers - 1)) == 0),
            "Parts that finish shares are those of a split into parts, by groups that share tiles "
            "for which no role brings C; their number is a power of two.");
    require(consumers != Consumers::AlongK ||
                (multiply_groups > 1 && promote_every == 0 && initial_c == 0 && c_stages == 0 &&
                 finishers == 1 && (split == Split::Whole || split == Split::Parts)),
            "Groups that share k are several, and the first has the sums when the others have "
            "sent theirs: sums begin at zero, whole or in parts that one CTA finishes.");
    require(initial_c == 0 ||
                (split == Split::Whole && promote_every == 0 && plain_epilogue == 0 &&
                 tiling.swap_ab == 0 && bytes_of(d_type) == 2 && !is_integer(tiling.a_type)),
            "Sums that begin at C are whole, of numbers that are added up by the tensor core; D "
            "has elements of two bytes and lies as the sums do.");
    return *this;
  }
};
static_assert(std::has_unique_object_representations_v<MatmulConfig>);

}  // namespace tw
