#include "src/library/command.h"

#include <fmt/format.h>

#include <cstring>

#include "src/instances/run_line.h"

namespace tw::library {

namespace {

std::string command_of(const Checked& problem, const Choice& choice, const char* on) {
  const Description& description = problem.description();
  std::vector<std::byte> copy(description.size);
  std::memcpy(copy.data(), problem.problem(), description.size);
  for (std::size_t i = 0; i < description.tensors.size(); ++i) {
    tw_matrix matrix = description.tensors[i].get(copy.data());
    matrix.column_stride = problem.tensor(i).by_rows ? 1 : 0;
    description.tensors[i].set(copy.data(), matrix);
  }
  Lists lists;
  std::string of_more, memory;
  if (description.product != nullptr && !problem.is_empty()) {
    const TensorLines& b = problem.tensor(description.product->b);
    if (b.batch > 1 && b.batch_pitch == 0) memory += " --shared-b";
    const MatmulProblem read = as_read(problem, product_facts(*choice.instance));
    const auto is_aligned = [&](const MatmulOperand& operand) {
      return alignment_of(operand.data, operand.pitch, read.batch, operand.batch_pitch,
                          operand.type) == 16;
    };
    if (read.k > 0 && !(is_aligned(read.a) && is_aligned(read.b))) memory += " --unaligned";
  }
  for (const ListField& list : description.lists) {
    const ListField::Guess guess = list.guess(copy.data());
    const auto named = static_cast<std::int64_t>(guess.first.size());
    if (named < guess.count)
      of_more += fmt::format("  # {} of {} {}", named, guess.count, list.many);
    lists.push_back(guess.first);
  }
  return fmt::format("./tw run {} --instance {}{}{}{} --data normal --seed 1 --on {}{}",
                     description.name, choice.instance->name,
                     problem_words(description, copy.data(), lists), memory,
                     order_words(choice.order), on, of_more);
}

}  // namespace

std::string command(const Stated& stated, const Choice& choice, const char* on) {
  std::string line = command_of(stated.stated(), choice, on);
  const auto copies = stated.copies();
  if (copies.empty()) return line;
  return line + (copies.size() == 1 ? fmt::format("  # behind a copy of {}", copies[0].title)
                                    : fmt::format("  # behind copies of {} and {}", copies[0].title,
                                                  copies[1].title));
}

}  // namespace tw::library
