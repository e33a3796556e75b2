#include "src/run/case.h"

#include <fmt/format.h>

#include "src/family/run_line.h"
#include "src/matmul/names.h"

namespace tw {

AnyProblem::AnyProblem(const Description& description) : bytes_(description.size) {
  const std::size_t size = description.size;
  std::memcpy(data(), &size, sizeof size);
  for (const IntegerField& number : description.numbers) number.set(data(), number.usual);
  for (const RealField& real : description.reals) real.set(data(), real.usual);
  for (const TensorField& tensor : description.tensors) {
    tensor.set(data(), {nullptr, 0, 1, 0, static_cast<tw_type>(tensor.types.usual)});
  }
}

Case usual_case(const Trial& trial, const Instance& instance) {
  Case made = {&trial, &instance, AnyProblem(*trial.description)};
  trial.adopt(made.problem.data(), instance, [](const char*) { return false; });
  return made;
}

Case random_case(const Trial& trial, const Instance& instance, Random& random) {
  Case made = usual_case(trial, instance);
  trial.random(made.problem.data(), instance, random);
  for (const TensorField& tensor : trial.description->tensors) {
    tw_matrix matrix = tensor.get(made.problem.data());
    if (tensor.lines == TensorField::Lines::RowsOrColumns && random() % 2 == 0)
      matrix.column_stride = 0;
    tensor.set(made.problem.data(), matrix);
  }
  made.unaligned = random() % 4 == 0;
  constexpr Fill fills[] = {Fill::Normal, Fill::Integers, Fill::Normal, Fill::Position};
  made.fill = fills[random() % 4];
  made.seed = random() % 1000000;
  return made;
}

namespace {

// Without memory; batch 0 where the problem has no such tensor.
HostMatrix matrix_of(const TensorField& tensor, const Case& of) {
  const void* const problem = of.problem.data();
  const tw_matrix given = tensor.get(problem);
  const TensorExtents extents = tensor.extents(problem);
  const bool present = tensor.present == nullptr || tensor.present(problem);
  return HostMatrix(static_cast<ElementType>(given.type),
                    given.column_stride == 1 ? Major::K : Major::MN, present ? extents.batch : 0,
                    extents.rows, extents.columns, of.unaligned);
}

void place(AnyProblem& problem, const TensorField& tensor, const HostMatrix& matrix,
           void* address) {
  const bool by_rows = matrix.major == Major::K;
  tensor.set(problem.data(), {address, by_rows ? matrix.pitch : 1, by_rows ? 1 : matrix.pitch,
                              matrix.batch_pitch, static_cast<tw_type>(matrix.type)});
}

}  // namespace

AnyProblem problem_without_memory(const Case& of) {
  AnyProblem problem = of.problem;
  for (const TensorField& tensor : of.trial->description->tensors) {
    const HostMatrix matrix = matrix_of(tensor, of);
    const std::uintptr_t address = 65536 + matrix.first * bytes_of(matrix.type);
    place(problem, tensor, matrix, matrix.exists() ? reinterpret_cast<void*>(address) : nullptr);
  }
  return problem;
}

Status serves(const Case& of) {
  // Numbers out of range have no extents.
  Status status = check_stated(*of.trial->description, of.problem.data());
  if (!status.is_good()) return status;
  const AnyProblem problem = problem_without_memory(of);
  Checked checked;
  status = check(checked, *of.trial->description, problem.data());
  return status.is_good() ? of.instance->supports(checked) : status;
}

HostProblem::HostProblem(const Case& of) : trial_(of.trial), problem_(of.problem) {
  for (const TensorField& tensor : trial_->description->tensors) {
    tensors_.push_back(matrix_of(tensor, of));
    if (!tensors_.back().exists()) continue;
    tensors_.back().allocate();
    tensors_.back().poison();
  }
  trial_->fill(*this, of.fill, of.seed);
}

AnyProblem HostProblem::placed(const std::function<void*(std::size_t)>& address) const {
  AnyProblem problem = problem_;
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    place(problem, trial_->description->tensors[i], tensors_[i],
          tensors_[i].exists() ? address(i) : nullptr);
  }
  return problem;
}

AnyProblem HostProblem::placed() {
  return placed([this](std::size_t i) { return tensors_[i].data(); });
}

Verified::Verified(const Case& of) : case_(of), given_(of), expected_(given_) {
  const AnyProblem placed = expected_.placed();
  Checked checked;
  const Status status = check(checked, *of.trial->description, placed.data());
  if (status.is_good()) of.trial->reference(checked);
}

Comparison Verified::compare(const HostProblem& ran) const {
  Comparison result;
  result.exact = true;
  for (std::size_t i = 0; i < ran.tensors(); ++i) {
    if (!ran.is_written(i) || !ran.tensor(i).exists()) continue;
    compare_bits(result, case_.trial->description->tensors[i].title, ran.tensor(i),
                 expected_.tensor(i));
  }
  return result;
}

void compare_bits(Comparison& result, const char* name, const HostMatrix& found,
                  const HostMatrix& expected) {
  const auto judge = [&](std::int64_t batch, std::int64_t row, std::int64_t column) {
    const std::size_t index = found.index(batch, row, column);
    const std::uint32_t bits = read_bits(found.type, found.element(index));
    const std::uint32_t right = read_bits(found.type, expected.element(index));
    if (bits == right) return;
    if (bits == poison_bits(found.type, index)) ++result.unwritten;
    if (result.wrong++ > 0) return;
    result.first =
        fmt::format("The first: {} at batch {}, row {}, column {}: 0x{:x}, but must be 0x{:x}.",
                    name, batch, row, column, bits, right);
  };
  for (std::int64_t batch = 0; batch < found.batch; ++batch) {
    for (std::int64_t row = 0; row < found.rows; ++row) {
      for (std::int64_t column = 0; column < found.columns; ++column) judge(batch, row, column);
    }
  }
  result.padding_touched += found.padding_touched();
}

std::string run_line(const Case& of) {
  const Description& description = *of.trial->description;
  return fmt::format("./tw run {} --instance {}{}{} --data {} --seed {}", description.name,
                     of.instance->name, problem_words(description, of.problem.data()),
                     of.unaligned ? " --unaligned" : "", name_of(of.fill), of.seed);
}

}  // namespace tw
