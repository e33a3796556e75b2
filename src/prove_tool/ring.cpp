// A ring of stages: one thread loads k-tiles by TMA, others read them. Its parts are
// pipeline/ring.h and pipeline/mbarrier.h.
#include "tilewright/pipeline/ring.h"

#include "src/prove_tool/input.h"
#include "src/prove_tool/protocol.h"

namespace tw::prove {
namespace {

constexpr Fault faults[] = {
    {"arrival-short", "the empty barriers expect one arrival less than there are readers"},
    {"same-phase", "everybody waits for the same phase on every lap"},
    {"early-release", "a reader lets go of its stage before it has read it"},
};
enum : unsigned { none, arrival_short, same_phase, early_release };

// The signal of the ring, or one with a mistake.
template <unsigned fault>
struct Signal : Mbarriers {
  template <class Ring>
  struct Miscounted : Ring {
    static constexpr unsigned empty_arrivals =
        Ring::empty_arrivals - (fault == arrival_short ? 1 : 0);
  };
  template <class Ring>
  static void init(Storage<Ring::stages>& storage) {
    Mbarriers::init<Miscounted<Ring>>(storage);
  }
  static constexpr unsigned next_lap(unsigned lap) {
    return fault == same_phase ? lap : Mbarriers::next_lap(lap);
  }
};

template <unsigned stages, unsigned readers, unsigned fault>
class RingModel final : public Model {
  using InputRing = Ring<Payload<readers>, stages, Signal<fault>>;
  struct Shared {
    typename InputRing::Tiles tiles[stages];
    typename InputRing::Barriers input;
  };
  static constexpr unsigned threads = 1 + readers;

 public:
  explicit RingModel(unsigned k_tiles) : k_tiles_(k_tiles), input_(k_tiles, readers) {}

  vgpu::Outcome run(const vgpu::Options& options) override {
    return input_.run(options, threads, sizeof(Shared), [this] { kernel(); });
  }

 private:
  void kernel() {
    Shared& shared = *static_cast<Shared*>(isa::dynamic_shared());
    const unsigned thread = isa::thread_index();
    start_together<false>(thread, threads, [&] { InputRing::init(shared.input, shared.tiles); });
    if (thread == 0) {
      input_.template load<InputRing>(shared.input, shared.tiles);
    } else {
      consume(shared, thread - 1);
    }
  }

  void consume(Shared& shared, unsigned reader) {
    isa::describe_role(read_role.name);
    Consumer<InputRing, Release::Warp, NoTrace> input(shared.input, 0, no_trace);
    for (unsigned k = 0; k < k_tiles_; ++k) {
      auto stage = input.consume();
      const unsigned slot = stage.slot();
      if (fault == early_release) auto gone = std::move(stage);
      input_.see(k, shared.tiles[slot], reader);
    }
  }

  unsigned k_tiles_;
  Input input_;
};

}  // namespace

constinit const Protocol ring = {"ring",
                                 "one thread loads stages by TMA, others read them",
                                 {2, 5, 2},
                                 {3, 32, 3},
                                 "stages",
                                 "k-tiles",
                                 "readers",
                                 faults,
                                 model_of<RingModel, 3, 3, 3>};

}  // namespace tw::prove
