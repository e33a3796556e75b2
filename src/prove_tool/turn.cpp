// Turns: groups take alternate tiles of one ring and skip the stages of the others. Its parts are
// pipeline/turns.h and the ring's.
#include "src/prove_tool/input.h"
#include "src/prove_tool/protocol.h"
#include "tilewright/kernel/left_out.h"
#include "tilewright/pipeline/turns.h"

namespace tw::prove {
namespace {

constexpr Fault faults[] = {
    {"no-turns", "no group waits for its turn"},
    {"early-turn", "a group passes the turn on before it has consumed its stages"},
    {"kept-turn", "the barriers of turns expect one arrival more than there is"},
};
enum : unsigned { none, no_turns, early_turn, kept_turn };

template <unsigned stages, unsigned groups, unsigned fault>
class TurnModel final : public Model {
  // A stage is one group's.
  using InputRing = Ring<Payload<1>, stages, Mbarriers>;
  using Order =
      std::conditional_t<fault == no_turns, NoTurns, Turns<groups, fault == kept_turn ? 2 : 1>>;
  struct Shared {
    typename InputRing::Tiles tiles[stages];
    typename InputRing::Barriers input;
    typename Order::Barriers turns;
  };
  static constexpr unsigned threads = 1 + groups;
  static constexpr unsigned k_tiles = stages;  // a tile has: every group sees every stage

 public:
  explicit TurnModel(unsigned tiles) : tiles_(tiles), input_(tiles * k_tiles) {}

  vgpu::Outcome run(const vgpu::Options& options) override {
    return input_.run(options, threads, sizeof(Shared), [this] { kernel(); });
  }

 private:
  void kernel() {
    Shared& shared = *static_cast<Shared*>(isa::dynamic_shared());
    const unsigned thread = isa::thread_index();
    start_together<false>(thread, threads, [&] {
      InputRing::init(shared.input, shared.tiles);
      Order::init(shared.turns);
    });
    if (thread == 0) {
      input_.template load<InputRing>(shared.input, shared.tiles);
    } else {
      consume(shared, thread - 1);
    }
  }

  void consume(Shared& shared, unsigned group) {
    isa::describe_role(read_role.name);
    Consumer<InputRing, Release::Warp, NoTrace> input(shared.input, 0, no_trace);
    Order order(shared.turns, group, 0);
    for (unsigned tile = 0; tile < tiles_; ++tile) {
      if (tile % groups != group) {
        input.skip(k_tiles);
        continue;
      }
      if constexpr (fault == early_turn) {
        { [[maybe_unused]] const auto turn = order.take(); }
        consume_tile(shared, input, tile);
      } else {
        [[maybe_unused]] const auto turn = order.take();
        consume_tile(shared, input, tile);
      }
    }
  }

  template <class Input>
  void consume_tile(Shared& shared, Input& input, unsigned tile) {
    for (unsigned k = 0; k < k_tiles; ++k) {
      const auto stage = input.consume();
      input_.see(tile * k_tiles + k, shared.tiles[stage.slot()]);
    }
  }

  unsigned tiles_;
  Input input_;
};

}  // namespace

constinit const Protocol turn = {"turn",
                                 "groups take alternate tiles of one ring",
                                 {2, 4, 2},
                                 {2, 32, 3},
                                 "stages",
                                 "tiles",
                                 "groups",
                                 faults,
                                 model_of<TurnModel, 2, 3, 3>};

}  // namespace tw::prove
