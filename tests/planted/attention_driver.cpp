// As driver.cpp, with attention whose queries pick one key each. Behind the sequence lies another,
// without queries, whose keys and values are no numbers; where keys are taken in parts there is
// none. CAUSAL above 1 is also the window.
//
// usage: planted QUERIES KEYS HEADS KEY_HEADS CAUSAL SMS LANDING SEED [CHECKER_TO_SWITCH_OFF...]
#include "tests/planted/attention_instance.h"
#include "tests/planted/words.h"

namespace tw::planted {
namespace {

int run(int count, char** arguments) {
  if (count < 9) throw std::runtime_error("Eight arguments are needed.");
  const auto number = [&](int i) { return std::stoi(arguments[i]); };
  vgpu::Options options;
  read_schedule(options, 7, count, arguments);
  programs::AttentionShape shape = {.heads = number(3),
                                    .key_heads = number(4),
                                    .columns = columns,
                                    .queries = {number(1), 0},
                                    .keys = {number(2), 64},
                                    .causal = number(5) != 0,
                                    .window = number(5) > 1 ? number(5) : 0,
                                    .ragged = true};
  if (in_parts) {
    shape.queries.pop_back();
    shape.keys.pop_back();
    shape.ragged = false;
  }
  programs::AttentionCase data(shape);
  data.fill_one_hot(options.seed);
  for (programs::HostHeads* tensor : {&data.k, &data.v}) {
    if (in_parts) continue;
    const std::size_t begin = tensor->index(number(2), 0, 0);
    std::fill(tensor->bits.begin() + static_cast<std::ptrdiff_t>(begin), tensor->bits.end(),
              programs::HostHeads::poison);
  }
  const vgpu::Report report = simulate(data, static_cast<unsigned>(number(6)), options);
  Comparison result;
  result.wrong = data.wrong_one_hot();
  result.first = "A row of the output is not the row of values that its query picks.";
  print(report, result);
  return 0;
}

}  // namespace
}  // namespace tw::planted

int main(int count, char** arguments) {
  return tw::planted::guarded(count, arguments, tw::planted::run);
}
