// Announcements: the schedule role of each of two CTAs draws tickets from a counter in global
// memory and tells every role which work comes next. Its parts are pipeline/announcement.h and
// schedule/dynamic.h.
#include "tilewright/pipeline/announcement.h"

#include <algorithm>

#include "src/prove_tool/protocol.h"
#include "tilewright/schedule/dynamic.h"
#include "vgpu/machine/counter.h"

namespace tw::prove {
namespace {

constexpr Fault faults[] = {
    {"listener-short", "the empty barriers expect one listener less than there are"},
    {"never-begun", "the load role does not say that it has begun"},
    {"split-ticket", "the ticket is read and written back by two instructions"},
    {"early-reset", "the first ticket past the end resets the counter"},
};
enum : unsigned { none, listener_short, never_begun, split_ticket, early_reset };

constexpr ClusterShape alone = {};
constexpr unsigned ctas = 2;

struct NoMap {
  struct Params {};
};
using Right = AtomicTickets<alone, NoMap>;

// The source of tickets, or one with a mistake.
template <unsigned fault>
struct Tickets : Right {
  static void send(const Params& params, SharedAddress message, SharedAddress full) {
    if constexpr (fault == split_ticket || fault == early_reset) {
      const auto work = static_cast<std::uint32_t>(params.work);
      std::uint32_t ticket;
      if constexpr (fault == split_ticket) {
        ticket = model::global_load_acquire(params.counter, nullptr);
        isa::global_store_release(params.counter, ticket + 1);
        if (ticket + 1 == work) isa::global_store_release(params.counter, 0);
      } else {
        ticket = isa::global_fetch_add(params.counter, 1);
        if (ticket + ctas == work) isa::global_store_release(params.counter, 0);
      }
      const std::uint32_t words[4] = {ticket + ctas < work ? 1u : 0u, ticket + ctas, 0, 0};
      isa::st_async(message, words, full);
    } else {
      Right::send(params, message, full);
    }
  }
};

template <unsigned slots, unsigned listeners, unsigned fault>
class AnnouncementModel final : public Model {
  static constexpr unsigned threads = 1 + listeners;
  // The schedule role listens, too.
  using Board = Announcements<slots, threads, alone>;
  using Initialised = Announcements<slots, threads - (fault == listener_short ? 1 : 0), alone>;
  using Source = Tickets<fault>;
  static_assert(sizeof(typename Board::Storage) == sizeof(typename Initialised::Storage));

 public:
  explicit AnnouncementModel(unsigned work) : work_(work), times_(work * threads) {}

  vgpu::Outcome run(const vgpu::Options& options) override {
    counter_ = 0;
    std::ranges::fill(times_, 0u);
    const vgpu::GlobalRange memory[] = {{&counter_, sizeof counter_, "counter", true, true},
                                        {times_.data(), times_.size() * 4, "times", true, true}};
    vgpu::Launch launch = {ctas, 1, threads, sizeof(typename Board::Storage), [this] { kernel(); }};
    launch.lanes = 1;
    vgpu::Outcome outcome = {vgpu::run(launch, memory, options)};
    // Every role heard of every work once, and the next launch finds the counter as this one did.
    outcome.right =
        counter_ == 0 && std::ranges::all_of(times_, [](auto times) { return times == 1; });
    return outcome;
  }

 private:
  void kernel() {
    auto* const storage = static_cast<typename Board::Storage*>(isa::dynamic_shared());
    const unsigned thread = isa::thread_index();
    start_together<false>(thread, threads, [&] {
      Initialised::init(*reinterpret_cast<typename Initialised::Storage*>(storage));
    });
    isa::describe_role(thread == 0 ? "schedule" : thread == 1 ? "load" : "multiply");
    Listener<Board, Release::Thread> listener(*storage, 0);
    Speaker<Board> speaker(*storage);
    const typename Source::Params params = {{}, &counter_, static_cast<int>(work_)};
    // The first work needs no message.
    for (int work = static_cast<int>(isa::cta_index()); work >= 0;) {
      if (work < static_cast<int>(work_)) hear(thread, static_cast<unsigned>(work));
      if (thread == 0) {
        speaker.wait_until_begun();
        speaker.announce([&](SharedAddress message, SharedAddress full) {
          Source::send(params, message, full);
        });
      } else if (thread == 1 && fault != never_begun) {
        listener.begin();
      }
      const Message message = listener.next();
      work = Source::more(message) ? Source::index(message) : -1;
    }
    if (thread == 0) speaker.drain();
  }

  void hear(unsigned thread, unsigned work) {
    isa::global_fetch_add(&times_[thread * work_ + work], 1);
  }

  unsigned work_;
  std::uint32_t counter_ = 0;
  std::vector<std::uint32_t> times_;
};

}  // namespace

constinit const Protocol announcement = {
    "announcement",
    "schedule roles of two CTAs draw tickets and announce them",
    {2, 4, 1},
    {2, 16, 2},
    "slots",
    "works",
    "listeners",
    faults,
    model_of<AnnouncementModel, 2, 2, 4>};

}  // namespace tw::prove
