// Accumulators in tensor memory: a ring between the multiply role, which writes them, and the
// epilogue role, which reads them. The multiply role owns the memory: it allocates, announces, and
// frees when the last sum has been read.
#pragma once

#include "tilewright/accumulator/tensor.h"
#include "tilewright/base/annotate.h"
#include "tilewright/isa/ptx/cluster_memory.h"
#include "tilewright/isa/ptx/shared_memory.h"
#include "tilewright/isa/ptx/tcgen05.h"
#include "tilewright/isa/ptx/threads.h"
#include "tilewright/layout/tile_tensor.h"
#include "tilewright/pipeline/mbarrier.h"
#include "tilewright/pipeline/ring.h"

namespace tw {

// Sums of 128 rows by n columns, `stages` of them; group: CTAs that multiply as one. Two sums may
// overlap, so that columns are left for something else:
//
//   first sum    [   own   | shared ]
//   second sum             [ shared |   own   ]
//
// The epilogue reads the shared columns first and then lets go of the sum, long before it has read
// the rest: the next product may begin, for what it overwrites beside the shared columns was read
// in the sum before. So such a ring has one stage, and its two places take turns.
//
// `readers` warpgroups read a sum, each its share of the columns.
template <unsigned n, class SumValue, unsigned stages, unsigned group, class Trace, int promote = 0,
          unsigned shared = 0, unsigned readers = 1>
class TensorAccumulators {
  static constexpr unsigned group_threads = 128;  // a thread for each lane of tensor memory
  static constexpr unsigned epilogue_warps = 4 * readers;
  static constexpr unsigned read_columns = n / readers;
  static_assert(n % (32 * readers) == 0, "Warpgroups read equal shares of 32 columns each.");
  static constexpr bool overlapped = shared != 0;
  static_assert(!overlapped || (stages == 2 && readers == 1), "Two sums overlap, for one reader.");
  static_assert(shared < n, "Sums that overlap have columns of their own, too.");
  static constexpr unsigned stride = n - shared;
  static constexpr unsigned ring_stages = overlapped ? 1 : stages;
  // (lane,column,sum) of tensor memory, whose addresses have the lane in their upper half.
  using Sums =
      TileTensor<SumValue, Space::Tensor,
                 append(append(single(128, 1 << 16), single(n, 1)), single(stages, stride))>;
  // The readers of both CTAs of a pair answer to the leader.
  struct Payload {
    static constexpr Space space = Space::Tensor;
    static constexpr const char* name = "accumulator";
    static constexpr const char* full_name = "accumulator.full";
    static constexpr const char* empty_name = "accumulator.empty";
    struct Tiles {};  // nothing in shared memory
    static constexpr Part parts[1] = {
        {0, Completion::Commit, {Role::Multiply, 1}, {{Role::Epilogue, epilogue_warps* group}}}};
  };
  // Only a pair concerns other CTAs: accumulators are nobody else's.
  static constexpr ClusterShape sharers = group == 1 ? ClusterShape{1, 1} : ClusterShape{group, 1};
  using Ring = tw::Ring<Payload, ring_stages, Mbarriers, sharers, group>;
  using Token = typename Producer<Ring, Role::Multiply, Trace>::Token;

  static constexpr unsigned used_columns = stages * n - shared;
  static_assert(used_columns <= 512, "Tensor memory has 512 columns.");
  static constexpr unsigned allocation() {
    unsigned columns = 32;
    while (columns < used_columns) columns *= 2;
    return columns;
  }
  static constexpr unsigned columns = allocation();
  // Barrier 0 is the CTA's, and those behind it are the epilogue's.
  static constexpr unsigned announcing_barrier = 1 + readers;
  static constexpr unsigned announcing_threads = 32 * (1 + epilogue_warps);
  // Before the memory is freed. All of a pair's warps meet in any case.
  static constexpr bool meets_readers = overlapped && group == 1;

  // The sum that a token stands for.
  class SumPlace {
   public:
    TW_DEVICE unsigned of(unsigned slot) {
      if constexpr (!overlapped) return slot;
      return std::exchange(next_, 1 - next_);
    }

   private:
    unsigned next_ = 0;
  };

 public:
  static constexpr int promote_every = promote;
  using Sum = TensorSums<read_columns, SumValue>;
  // Where warpgroups share the registers of an SM, a thread has fewer: loads of 32 would spill.
  using Promoted = PromotedRow<read_columns, SumValue, readers == 1 ? 32 : 16>;

  struct Storage {
    typename Ring::Barriers barriers;
    std::uint32_t address;
    typename Payload::Tiles tiles[ring_stages];
  };
  static TW_DEVICE void init(Storage& storage) { Mbarriers::init<Ring>(storage.barriers); }

  // Whole warps enter and leave it: the memory is freed when it dies, so that nobody forgets.
  class [[nodiscard]] Scope {
   public:
    TW_DEVICE explicit Scope(Storage& storage) {
      isa::tcgen05_alloc<group>(isa::shared_address(&storage.address), columns);
      isa::tcgen05_relinquish_alloc_permit<group>();
      isa::tcgen05_fence_before_thread_sync();
      isa::barrier_sync(announcing_barrier, announcing_threads);
      address_ = isa::load_shared_4(isa::shared_address(&storage.address));
    }
    Scope(const Scope&) = delete;
    TW_DEVICE TensorAddress address() const { return address_; }
    // Neither CTA of a pair may free what the other's products or readers still use; and who reads
    // a sum that overlaps has let go of it before the end.
    TW_DEVICE ~Scope() {
      isa::warp_sync();
      leave();
      if constexpr (meets_readers) {
        isa::barrier_sync(announcing_barrier, announcing_threads);
        isa::tcgen05_fence_after_thread_sync();
      }
      isa::tcgen05_dealloc<group>(address_, columns);
    }

   private:
    TensorAddress address_;
  };
  // Every warp that does not multiply calls it when it is done.
  static TW_DEVICE void leave() {
    if constexpr (group > 1) {
      isa::warp_sync();
      isa::tcgen05_fence_before_thread_sync();
      isa::cluster_arrive_release();
      isa::cluster_wait();
      isa::tcgen05_fence_after_thread_sync();
    }
  }

  // What the tensor core adds up; committed when it dies.
  struct Accumulating {
    Token token;
    TensorAddress address;
    unsigned started = 0;
  };

  // The one thread that multiplies.
  class Writer {
   public:
    TW_DEVICE Writer(Scope& scope, Storage& storage)
        : sums_(scope.address()),
          ring_(storage.barriers, storage.tiles, Trace(typename Trace::Params{}, 0, false)) {}
    [[nodiscard]] TW_DEVICE Accumulating acquire() {
      Token token = ring_.produce();
      const TensorAddress address = sums_.address(0u, 0u, place_.of(token.slot()));
      return {std::move(token), address};
    }
    TW_DEVICE void drain(bool leads) {
      if (leads) ring_.drain();
    }

   private:
    Sums sums_;
    SumPlace place_;
    Producer<Ring, Role::Multiply, Trace> ring_;
  };

  using ReadingToken = typename Consumer<Ring, Release::Warp, Trace>::Token;

  // A sum that is being read; released behind the last load of a loop that says what it has read,
  // before that is stored, or when it dies.
  struct WholeReading : Sum {
    mutable ReadingToken token;
    TW_DEVICE WholeReading(const Sum& sum, unsigned /*place*/, ReadingToken&& held)
        : Sum(sum), token(std::move(held)) {}
    TW_DEVICE void has_read(unsigned columns_read) const {
      if (columns_read == read_columns) token.let_go();
    }
    TW_DEVICE void is_read() const { token.forget(); }
  };
  // The same of sums that overlap; released as soon as the shared columns have been read.
  struct OverlappedReading : Sum {
    static constexpr unsigned shared_columns = shared;
    bool first;  // it is the first of the two: the shared columns are its last
    mutable ReadingToken token;
    TW_DEVICE OverlappedReading(const Sum& sum, unsigned place, ReadingToken&& held)
        : Sum(sum), first(place == 0), token(std::move(held)) {}

    TW_DEVICE unsigned chunk_at(unsigned index, unsigned chunks) const {
      return first ? chunks - 1 - index : index;
    }
    TW_DEVICE void has_read(unsigned columns_read) const {
      if (columns_read == shared) const ReadingToken released = std::move(token);
    }
  };
  using Reading = std::conditional_t<overlapped, OverlappedReading, WholeReading>;

  // The warps of the epilogue.
  class Reader {
   public:
    TW_DEVICE Reader(Storage& storage, unsigned thread)
        : ring_(storage.barriers, thread % 32, Trace(typename Trace::Params{}, 0, false)) {
      isa::barrier_sync(announcing_barrier, announcing_threads);
      isa::tcgen05_fence_after_thread_sync();
      // A warp reaches the lanes of its place in the warpgroup.
      const unsigned in_group = readers == 1 ? thread : thread % group_threads;
      const unsigned first_column = readers == 1 ? 0 : thread / group_threads * read_columns;
      address_ = Sums(isa::load_shared_4(isa::shared_address(&storage.address)))
                     .address(in_group / 32 * 32, first_column, 0u);
    }
    TW_DEVICE ~Reader() {
      if constexpr (meets_readers) {
        isa::warp_sync();
        isa::tcgen05_fence_before_thread_sync();
        isa::barrier_arrive(announcing_barrier, announcing_threads);
      }
    }
    Reader(const Reader&) = delete;
    [[nodiscard]] TW_DEVICE Reading consume(bool multiplied) {
      ReadingToken token = ring_.consume();
      const unsigned place = place_.of(token.slot());
      return {{address_ + place * stride, multiplied}, place, std::move(token)};
    }

   private:
    TensorAddress address_;
    SumPlace place_;
    Consumer<Ring, Release::Warp, Trace> ring_;
  };
};

}  // namespace tw
