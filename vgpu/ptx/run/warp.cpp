// What the lanes of a warp do together: those that a mask names.
#include <bit>

#include "vgpu/machine/warp_collective.h"
#include "vgpu/ptx/run/operation.h"

namespace tw::vgpu::ptx {
namespace {

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
  const auto mask = get<std::uint32_t>(frame, from[3]);
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
  const auto read_from = static_cast<unsigned>(in_range ? wanted : lane);
  if ((mask >> read_from & 1) == 0) {
    Engine& machine = engine();
    machine.report(Checker::Divergence, -1, "shuffle", [&] {
      return "The " + who(machine.current()) + " shuffles from lane " + std::to_string(read_from) +
             ", which its mask does not name.";
    });
    machine.abandon();
  }
  const std::uint32_t got = meet_among(
      mask, value,
      [](const Warp& warp, unsigned at, std::uint32_t) {
        return warp.brought[warp.source_lane[at]];
      },
      read_from);
  put(frame, step.slots[0], got);
  if constexpr (pair) put_predicate(frame, step.slots[1], in_range);
}

// Visits what the lanes of the mask brought.
template <class Visit>
void each_brought(const Warp& warp, std::uint32_t mask, const Visit& visit) {
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    if ((mask >> lane & 1) != 0) visit(lane, warp.brought[lane]);
  }
}
std::uint32_t lanes_that_voted(const Warp& warp, unsigned, std::uint32_t mask) {
  std::uint32_t votes = 0;
  each_brought(warp, mask, [&](unsigned lane, std::uint32_t vote) { votes |= vote << lane; });
  return votes;
}

std::uint32_t mask_in(const Frame& frame, Slot slot) { return get<std::uint32_t>(frame, slot); }

// A predicate may stand negated.
bool vote_in(const Frame& frame, const Step& step) {
  return get_predicate(frame, step.slots[1]) != (step.detail != 0);
}
void vote_ballot(Frame& frame, const Step& step) {
  put(frame, step.slots[0],
      meet_among(mask_in(frame, step.slots[2]), vote_in(frame, step) ? 1 : 0, lanes_that_voted));
}
enum class Vote : std::uint8_t { Any, All, Uniform };
template <Vote vote>
void vote_predicate(Frame& frame, const Step& step) {
  const std::uint32_t mask = mask_in(frame, step.slots[2]);
  const std::uint32_t votes = meet_among(mask, vote_in(frame, step) ? 1 : 0, lanes_that_voted);
  const bool none = votes == 0, all = votes == mask;
  put_predicate(frame, step.slots[0],
                vote == Vote::Any   ? !none
                : vote == Vote::All ? all
                                    : none || all);
}

// match d, a, mask: the lanes that bring the same; of .all the mask if all do, or none.
std::uint32_t lanes_alike(const Warp& warp, unsigned lane, std::uint32_t mask) {
  std::uint32_t alike = 0;
  each_brought(warp, mask, [&](unsigned other, std::uint32_t value) {
    if (value == warp.brought[lane]) alike |= 1u << other;
  });
  return alike;
}
// 64 bits meet twice.
template <class T>
std::uint32_t match(const Frame& frame, Slot value, std::uint32_t mask) {
  const auto bits = static_cast<std::uint64_t>(get<T>(frame, value));
  std::uint32_t alike = meet_among(mask, static_cast<std::uint32_t>(bits), lanes_alike);
  if (sizeof(T) == 8) {
    alike &= meet_among(mask, static_cast<std::uint32_t>(bits >> 32), lanes_alike);
  }
  return alike;
}
template <class T>
void match_any(Frame& frame, const Step& step) {
  put(frame, step.slots[0], match<T>(frame, step.slots[1], mask_in(frame, step.slots[2])));
}
template <class T, bool pair>
void match_all(Frame& frame, const Step& step) {
  const Slot* const from = step.slots + (pair ? 2 : 1);
  const std::uint32_t mask = mask_in(frame, from[1]);
  const bool all = match<T>(frame, from[0], mask) == mask;
  put<std::uint32_t>(frame, step.slots[0], all ? mask : 0);
  if constexpr (pair) put_predicate(frame, step.slots[1], all);
}

template <class T, class Operation>
void reduce(Frame& frame, const Step& step) {
  const auto join = [](const Warp& warp, unsigned, std::uint32_t mask) {
    std::uint32_t joined = warp.brought[static_cast<unsigned>(std::countr_zero(mask))];
    each_brought(warp, mask & (mask - 1), [&](unsigned, std::uint32_t value) {
      joined =
          static_cast<std::uint32_t>(Operation::of(static_cast<T>(joined), static_cast<T>(value)));
    });
    return joined;
  };
  put(frame, step.slots[0],
      meet_among(mask_in(frame, step.slots[2]), get<std::uint32_t>(frame, step.slots[1]), join));
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

// elect d|p, mask: any of the lanes may be the one. Each that the mask names takes its lowest.
void elect(Frame& frame, const Step& step) {
  const auto chosen =
      static_cast<unsigned>(std::countr_zero(get<std::uint32_t>(frame, step.slots[2])));
  put<std::uint32_t>(frame, step.slots[0], chosen);
  put_predicate(frame, step.slots[1], engine().enter().lane == chosen);
}

std::uint32_t nothing(const Warp&, unsigned, std::uint32_t) { return 0; }
void warp_sync(Frame& frame, const Step& step) {
  meet_among(mask_in(frame, step.slots[0]), 0, nothing, 0, Collective::Sync);
}
// activemask: here lanes go their own ways, and each is alone.
void active_mask(Frame& frame, const Step& step) {
  put<std::uint32_t>(frame, step.slots[0], 1u << engine().current().lane);
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
  for (const bool negated : {false, true}) {
    const std::string vote = negated ? "!1" : "1";
    table.add("vote.sync.ballot.b32", "4" + vote + "4", vote_ballot, negated ? 1 : 0);
    table.add("vote.sync.any.pred", "1" + vote + "4", vote_predicate<Vote::Any>, negated ? 1 : 0);
    table.add("vote.sync.all.pred", "1" + vote + "4", vote_predicate<Vote::All>, negated ? 1 : 0);
    table.add("vote.sync.uni.pred", "1" + vote + "4", vote_predicate<Vote::Uniform>,
              negated ? 1 : 0);
  }
  table.add("match.any.sync.b32", "444", match_any<std::uint32_t>);
  table.add("match.any.sync.b64", "484", match_any<std::uint64_t>);
  table.add("match.all.sync.b32", "444", match_all<std::uint32_t, false>);
  table.add("match.all.sync.b64", "484", match_all<std::uint64_t, false>);
  table.add("match.all.sync.b32", "4|144", match_all<std::uint32_t, true>);
  table.add("match.all.sync.b64", "4|184", match_all<std::uint64_t, true>);
  table.add("activemask.b32", "4", active_mask);
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
