// What the lanes of a warp do together. All lanes take part: a mask that names fewer has no model.
#include "vgpu/machine/engine.h"
#include "vgpu/ptx/run/operation.h"

namespace tw::vgpu::ptx {
namespace {

constexpr std::uint32_t all_lanes = 0xffff'ffff;

void require_all_lanes(const Frame& frame, Slot mask) {
  if (get<std::uint32_t>(frame, mask) != all_lanes) {
    stop_incomplete(frame, "names some lanes of its warp, which has no model yet");
  }
}

enum class Source : std::uint8_t { Index, Up, Down, Butterfly };

// shfl d|p, a, b, c, mask. The lanes of a segment exchange among themselves: c has their mask in
// its upper bits, and the last lane, or of .up the first, in its lower ones.
template <Source source, bool pair>
void shuffle(Frame& frame, const Step& step) {
  const Slot* const from = step.slots + (pair ? 2 : 1);
  const auto value = get<std::uint32_t>(frame, from[0]);
  const int lane = static_cast<int>(engine().current().lane);
  const int by = static_cast<int>(get<std::uint32_t>(frame, from[1]) & 31);
  const auto limits = get<std::uint32_t>(frame, from[2]);
  require_all_lanes(frame, from[3]);
  const int segment = static_cast<int>(limits >> 8 & 31), clamp = static_cast<int>(limits & 31);
  const int most = (lane & segment) | (clamp & ~segment), least = lane & segment;
  int wanted = 0;
  bool in_range = false;
  switch (source) {
    case Source::Index:
      wanted = least | (by & ~segment);
      in_range = wanted <= most;
      break;
    case Source::Up:
      wanted = lane - by;
      in_range = wanted >= most;
      break;
    case Source::Down:
      wanted = lane + by;
      in_range = wanted <= most;
      break;
    case Source::Butterfly:
      wanted = lane ^ by;
      in_range = wanted <= most;
      break;
  }
  const std::uint32_t got = model::shuffle(value, static_cast<unsigned>(in_range ? wanted : lane));
  put(frame, step.slots[0], got);
  if constexpr (pair) put_predicate(frame, step.slots[1], in_range);
}

// Joins what all lanes bring, by exchanges between halves.
template <class Join>
std::uint32_t joined(const Frame& frame, std::uint32_t value, const Join& join) {
  const Thread& thread = engine().current();
  if (thread.warp->lanes != first_lanes(32)) {
    stop_incomplete(frame, "joins a warp of fewer than 32 lanes, which has no model yet");
  }
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    value = join(value, model::shuffle(value, thread.lane ^ distance));
  }
  return value;
}

std::uint32_t ballot(const Frame& frame, bool vote) {
  return joined(frame, vote ? 1u << engine().current().lane : 0,
                [](std::uint32_t a, std::uint32_t b) { return a | b; });
}

void vote_ballot(Frame& frame, const Step& step) {
  require_all_lanes(frame, step.slots[2]);
  put(frame, step.slots[0], ballot(frame, get_predicate(frame, step.slots[1])));
}
enum class Vote : std::uint8_t { Any, All, Uniform };
template <Vote vote>
void vote_predicate(Frame& frame, const Step& step) {
  require_all_lanes(frame, step.slots[2]);
  const std::uint32_t votes = ballot(frame, get_predicate(frame, step.slots[1]));
  const bool none = votes == 0, all = votes == all_lanes;
  put_predicate(frame, step.slots[0],
                vote == Vote::Any   ? !none
                : vote == Vote::All ? all
                                    : none || all);
}

template <class T, class Operation>
void reduce(Frame& frame, const Step& step) {
  require_all_lanes(frame, step.slots[2]);
  put(frame, step.slots[0],
      joined(frame, get<std::uint32_t>(frame, step.slots[1]), [](std::uint32_t a, std::uint32_t b) {
        return static_cast<std::uint32_t>(Operation::of(static_cast<T>(a), static_cast<T>(b)));
      }));
}
struct Sum {
  template <class T>
  static std::uint32_t of(T a, T b) {
    return static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b);
  }
};
struct Least {
  template <class T>
  static T of(T a, T b) {
    return a < b ? a : b;
  }
};
struct Most {
  template <class T>
  static T of(T a, T b) {
    return a > b ? a : b;
  }
};
struct And {
  static std::uint32_t of(std::uint32_t a, std::uint32_t b) { return a & b; }
};
struct Or {
  static std::uint32_t of(std::uint32_t a, std::uint32_t b) { return a | b; }
};
struct Xor {
  static std::uint32_t of(std::uint32_t a, std::uint32_t b) { return a ^ b; }
};

// elect d|p, mask: the lane that the model chooses is lane 0.
void elect(Frame& frame, const Step& step) {
  require_all_lanes(frame, step.slots[2]);
  put<std::uint32_t>(frame, step.slots[0], 0);
  put_predicate(frame, step.slots[1], model::elect_one());
}

void warp_sync(Frame& frame, const Step& step) {
  require_all_lanes(frame, step.slots[0]);
  model::warp_sync();
}

// setmaxnreg n: detail says whether there are more.
void set_registers(Frame& frame, const Step& step) {
  model::setmaxnreg(get<std::uint32_t>(frame, step.slots[0]), step.detail != 0);
}

template <Source source>
void add_shuffle(FormTable& table, const std::string& name) {
  table.add("shfl.sync." + name + ".b32", "44444", shuffle<source, false>);
  table.add("shfl.sync." + name + ".b32", "4|14444", shuffle<source, true>);
}

}  // namespace

void add_warps(FormTable& table) {
  add_shuffle<Source::Index>(table, "idx");
  add_shuffle<Source::Up>(table, "up");
  add_shuffle<Source::Down>(table, "down");
  add_shuffle<Source::Butterfly>(table, "bfly");
  table.add("vote.sync.ballot.b32", "414", vote_ballot);
  table.add("vote.sync.any.pred", "114", vote_predicate<Vote::Any>);
  table.add("vote.sync.all.pred", "114", vote_predicate<Vote::All>);
  table.add("vote.sync.uni.pred", "114", vote_predicate<Vote::Uniform>);
  table.add("redux.sync.add.u32", "444", reduce<std::uint32_t, Sum>);
  table.add("redux.sync.add.s32", "444", reduce<std::uint32_t, Sum>);
  table.add("redux.sync.min.u32", "444", reduce<std::uint32_t, Least>);
  table.add("redux.sync.min.s32", "444", reduce<std::int32_t, Least>);
  table.add("redux.sync.max.u32", "444", reduce<std::uint32_t, Most>);
  table.add("redux.sync.max.s32", "444", reduce<std::int32_t, Most>);
  table.add("redux.sync.and.b32", "444", reduce<std::uint32_t, And>);
  table.add("redux.sync.or.b32", "444", reduce<std::uint32_t, Or>);
  table.add("redux.sync.xor.b32", "444", reduce<std::uint32_t, Xor>);
  table.add("elect.sync", "4|14", elect);
  table.add("bar.warp.sync", "4", warp_sync);
  table.add("setmaxnreg.inc.sync.aligned.u32", "4", set_registers, 1);
  table.add("setmaxnreg.dec.sync.aligned.u32", "4", set_registers, 0);
}

}  // namespace tw::vgpu::ptx
