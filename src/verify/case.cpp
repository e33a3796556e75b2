#include "src/verify/case.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <sstream>

#include "src/instances/names.h"
#include "src/verify/product.h"
#include "src/verify/random_epilogue.h"

namespace tw {

AnyProblem::AnyProblem(const Description& description) : bytes_(description.size) {
  const std::size_t size = description.size;
  std::memcpy(data(), &size, sizeof size);
  for (const IntegerField& number : description.numbers) number.set(data(), number.usual);
  for (const RealField& real : description.reals) real.set(data(), real.usual);
  for (const TensorField& tensor : description.tensors) {
    tensor.set(data(), {nullptr, 0, tensor.is_usually_by_rows() ? 1 : 0, 0,
                        static_cast<tw_type>(tensor.types.usual)});
  }
  if (description.product != nullptr) description.product->initialise(data());
}

void* some_address() {
  alignas(256) static std::byte somewhere[16];
  return somewhere;
}

tw_matrix matrix_at(void* address, const HostMatrix& matrix) {
  const bool by_rows = matrix.major == Major::K;
  return {address, by_rows ? matrix.pitch : 1, by_rows ? 1 : matrix.pitch, matrix.batch_pitch,
          static_cast<tw_type>(matrix.type)};
}

Case usual_case(const Trial& trial, const Instance& instance) {
  Case made = {&trial, &instance, AnyProblem(*trial.description)};
  for (const ListField& list : trial.description->lists) {
    std::vector<std::int64_t>& values = made.lists.emplace_back();
    std::stringstream usual(list.usual);
    for (std::string value; std::getline(usual, value, ',');) values.push_back(std::stoll(value));
  }
  if (trial.description->product != nullptr) {
    made.order.stream_k = config_of(instance).split == Split::Stream;
  }
  trial.adopt(made.problem.data(), instance, [](const char*) { return false; });
  return made;
}

namespace {

void add_random_epilogue(Case& of, Random& random) {
  Dice dice(random);
  if (!of.settle().is_good()) return;
  MatmulShape shape = product_shape(of);
  shape.epilogue = random_epilogue(dice);
  if (dice.one_in(4)) shape.epilogue.source_type = shape.epilogue.bias_type = shape.d_type;
  if (shape.n % 2 != 0) shape.epilogue.gated = false;
  if (config_of(*of.instance).c_stages != 0) {  // C is staged as D is
    shape.epilogue.source_type = shape.d_type;
    if (shape.epilogue.beta != 0.0f) shape.epilogue.gated = false;
  }
  shape.epilogue.output_scale = fitting_output_scale(shape, of.fill);
  if (config_of(*of.instance).initial_c != 0) shape.epilogue = shape.epilogue.begun(shape.d_type);
  const auto is_taken = [&] {
    set_epilogue(of.trial->description->product->epilogue_of(of.problem.data()), shape.epilogue);
    return serves(of).is_good();
  };
  if (is_taken()) return;
  // What not every kernel takes.
  shape.epilogue.gated = false;
  shape.epilogue.output_scale = 1.0f;
  if (is_taken()) return;
  shape.epilogue.source_type = shape.d_type;
  if (is_taken()) return;
  shape.epilogue.beta = 0.0f;
  if (is_taken()) return;
  shape.epilogue = {};
  is_taken();
}

// Any order of tiles, and as many parts of sums as there is room to count.
void add_random_order(Case& of, Random& random) {
  of.order.group = static_cast<int>(random() % 5);
  of.order.raster = random() % 2 == 0 ? Raster::AlongM : Raster::AlongN;
  if (config_of(*of.instance).split != Split::Parts) return;
  of.order.split_k = static_cast<int>(between(random, 1, 6));
  while (of.order.split_k > 1 && !serves(of).is_good()) --of.order.split_k;
}

}  // namespace

Case random_case(const Trial& trial, const Instance& instance, Random& random,
                 std::int64_t largest) {
  Case made = usual_case(trial, instance);
  made.largest = largest;
  constexpr Fill fills[] = {Fill::Normal, Fill::Integers, Fill::Normal, Fill::Position};
  made.fill = fills[random() % 4];
  made.seed = random() % 1000000;
  trial.random(made, random);
  if (trial.description->product != nullptr) {
    add_random_epilogue(made, random);
    add_random_order(made, random);
  }
  // What not every kernel takes.
  const auto attempt = [&](const auto& change) {
    if (random() % 4 != 0) return;
    Case changed = made;
    change(changed);
    if (serves(changed).is_good()) made = changed;
  };
  for (const TensorField& tensor : trial.description->tensors) {
    if (!tensor.has_either_side()) continue;
    attempt([&](Case& one) {
      tw_matrix matrix = tensor.get(one.problem.data());
      matrix.column_stride = 1 - matrix.column_stride;
      tensor.set(one.problem.data(), matrix);
    });
  }
  for (const TensorField& tensor : trial.description->tensors) {
    if (!tensor.optional) continue;
    attempt([&](Case& one) {
      tw_matrix matrix = tensor.get(one.problem.data());
      matrix.data = some_address();
      tensor.set(one.problem.data(), matrix);
    });
  }
  attempt([](Case& one) { one.unaligned = true; });
  attempt([&](Case& one) {
    constexpr Spacing near[] = {Spacing::FourBytes, Spacing::EightBytes, Spacing::Gaps};
    one.spacing = near[random() % std::size(near)];
  });
  for (std::size_t i = 0; i < trial.description->tensors.size(); ++i) {
    if (!trial.description->tensors[i].is_small) continue;
    attempt([&](Case& one) { one.unaligned_small |= std::uint32_t{1} << i; });
  }
  attempt([](Case& one) { one.shared_b = has_batches_of_b(one); });
  return made;
}

namespace {

// Without memory; batch 0 where the problem has no such tensor. Those of an epilogue come last.
std::vector<HostMatrix> outline_of(const Case& of) {
  const Description& description = *of.trial->description;
  const void* const problem = of.problem.data();
  std::vector<HostMatrix> tensors;
  for (const TensorField& tensor : description.tensors) {
    const tw_matrix given = tensor.get(problem);
    const TensorExtents extents = tensor.extents(problem);
    const bool present = detail::is_present(tensor, problem);
    const std::size_t index = tensors.size();
    const bool shared =
        of.shared_b &&
        (tensor.is_of_b || (description.product != nullptr && index == description.product->b));
    const bool unaligned = of.unaligned || (of.unaligned_small >> index & 1) != 0;
    const std::int64_t batch = shared ? std::min<std::int64_t>(extents.batch, 1) : extents.batch;
    HostMatrix& matrix = tensors.emplace_back(
        static_cast<ElementType>(given.type), given.column_stride == 1 ? Major::K : Major::MN,
        present ? batch : 0, extents.rows, extents.columns, unaligned,
        tensor.dense ? Spacing::Usual : of.spacing);
    if (shared) matrix.batch_pitch = 0;
    if (tensor.dense) matrix.pitch = matrix.columns;
  }
  if (description.product == nullptr) return tensors;
  for (const HostMatrix& part : outline_of_epilogue(product_shape(of))) tensors.push_back(part);
  return tensors;
}

AnyProblem placed_at(AnyProblem problem, const Description& description,
                     const std::vector<HostMatrix>& tensors,
                     const std::function<void*(std::size_t)>& address) {
  const std::size_t own = description.tensors.size();
  for (std::size_t i = 0; i < own; ++i) {
    description.tensors[i].set(problem.data(),
                               matrix_at(tensors[i].exists() ? address(i) : nullptr, tensors[i]));
  }
  if (description.product != nullptr) {
    place_epilogue(description.product->epilogue_of(problem.data()), tensors.data() + own,
                   [&](std::size_t i) { return address(own + i); });
  }
  return problem;
}

}  // namespace

AnyProblem problem_without_memory(const Case& of) {
  const std::vector<HostMatrix> tensors = outline_of(of);
  return placed_at(of.problem, *of.trial->description, tensors, [&](std::size_t i) {
    return reinterpret_cast<void*>(65536 + tensors[i].offset());
  });
}

namespace {

bool has_infinities(ElementType type) { return !is_integer(type) && bits_in(type) >= 16; }

// What becomes of an infinity by other epilogues is not said.
Status takes_infinity(const Case& of) {
  if (of.trial->description->product == nullptr) {
    return Status::refused("One element of A is infinite in products only.");
  }
  const MatmulShape shape = product_shape(of);
  const EpilogueShape& epilogue = shape.epilogue;
  if (!has_infinities(shape.a_type) || !has_infinities(shape.d_type)) {
    return Status::refused(sentence("A is of {} and D of {}, but both must have infinities.",
                                    name_of(shape.a_type), name_of(shape.d_type)));
  }
  if (epilogue.activation != Activation::None || epilogue.gated || epilogue.amax) {
    return Status::refused("An infinity goes through epilogues without activation and amax only.");
  }
  return Status::good();
}

void make_infinite(HostMatrix& matrix, Random random) {
  const auto place = [&](std::int64_t extent) { return between(random, 0, extent - 1); };
  if (matrix.batch == 0 || matrix.rows == 0 || matrix.columns == 0) return;
  const std::int64_t batch = place(matrix.batch), row = place(matrix.rows);
  matrix.set(batch, row, place(matrix.columns), std::numeric_limits<double>::infinity());
}

}  // namespace

Status serves(Case& of) {
  if (Status status = of.settle(); !status.is_good()) return status;
  // Numbers out of range have no extents.
  Status status = check_stated(*of.trial->description, of.problem.data());
  if (!status.is_good()) return status;
  if (of.infinite) status = takes_infinity(of);
  if (!status.is_good()) return status;
  const AnyProblem problem = problem_without_memory(of);
  Checked checked;
  status = check(checked, *of.trial->description, problem.data());
  return status.is_good() ? of.instance->supports(checked, {of.order}) : status;
}

void try_infinity(Case& of, Random& random) {
  Case changed = of;
  changed.infinite = random() % 4 == 0;
  if (serves(changed).is_good()) of = changed;
}

void try_far(Case& of, Random& random) {
  Case changed = of;
  if (random() % 8 != 0) return;
  changed.spacing = Spacing::Far;
  changed.unaligned = false;
  if (serves(changed).is_good()) of = changed;
}

HostProblem::HostProblem(const Case& of)
    : trial_(of.trial), problem_(of.problem), tensors_(outline_of(of)) {
  for (HostMatrix& tensor : tensors_) {
    if (!tensor.exists()) continue;
    tensor.allocate();
    tensor.poison();
  }
  trial_->fill(*this, of);
  if (of.infinite) make_infinite(tensors_[description().product->a], Random(of.seed));
}

bool HostProblem::is_written(std::size_t index) const {
  const std::span<const TensorField> own = description().tensors;
  if (index < own.size()) return own[index].flow == TensorField::Flow::Written;
  const auto part = epilogue_tensors[index - own.size()];
  return part == &MatmulData::auxiliary || part == &MatmulData::amax;
}

AnyProblem HostProblem::placed(const std::function<void*(std::size_t)>& address) const {
  return placed_at(problem_, description(), tensors_, address);
}

AnyProblem HostProblem::placed() {
  return placed([this](std::size_t i) { return tensors_[i].data(); });
}

namespace {

Case settled(Case of) {
  static_cast<void>(of.settle());  // serves() says what is wrong
  return of;
}

class ExactAnswer : public Answer {
 public:
  explicit ExactAnswer(HostProblem expected) : expected_(std::move(expected)) {}
  Comparison compare(const HostProblem& ran) const override {
    Comparison result;
    result.exact = true;
    for (std::size_t i = 0; i < ran.tensors(); ++i) {
      if (!ran.is_written(i) || !ran.tensor(i).exists()) continue;
      compare_bits(result, ran.description().tensors[i].title, ran.tensor(i), expected_.tensor(i));
    }
    return result;
  }

 private:
  HostProblem expected_;
};

}  // namespace

Verified::Verified(Case of, bool on_gpu)
    : case_(settled(std::move(of))),
      given_(case_),
      answer_(on_gpu && case_.trial->answer_on_gpu != nullptr
                  ? case_.trial->answer_on_gpu(case_, given_)
                  : case_.trial->answer(case_, given_)) {}

bool same_outputs(const HostProblem& first, const HostProblem& second) {
  for (std::size_t i = 0; i < first.tensors(); ++i) {
    if (first.is_written(i) && !first.tensor(i).same_bytes(second.tensor(i))) return false;
  }
  return true;
}

std::shared_ptr<const Answer> exact_answer(const HostProblem& given,
                                           void (*reference)(const Checked& on_host)) {
  HostProblem expected = given;
  const AnyProblem placed = expected.placed();
  Checked checked;
  const Status status = check(checked, given.description(), placed.data());
  if (status.is_good()) reference(checked);
  return std::make_shared<ExactAnswer>(std::move(expected));
}

void compare_bits(Comparison& result, const char* name, const HostMatrix& found,
                  const HostMatrix& expected) {
  const auto judge = [&](std::int64_t batch, std::int64_t row, std::int64_t column) {
    const std::size_t index = found.index(batch, row, column);
    const std::uint32_t bits = found.code(index);
    const std::uint32_t right = expected.code(index);
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

namespace {

// Lines of memory that are usual of the family, but not of the instance that a line names: an
// extent of 1 lets a kernel read either.
std::string side_words(const Case& of) {
  std::string words;
  const Case usual = usual_case(*of.trial, *of.instance);
  const auto by_rows = [](const TensorField& tensor, const Case& one) {
    return tensor.get(one.problem.data()).column_stride == 1;
  };
  for (const TensorField& tensor : of.trial->description->tensors) {
    const bool is_usual = by_rows(tensor, of) == tensor.is_usually_by_rows();
    if (!tensor.has_either_side() || !detail::is_present(tensor, of.problem.data())) continue;
    if (!is_usual || by_rows(tensor, of) == by_rows(tensor, usual)) continue;
    words += fmt::format(" {} {}", option_of(tensor.name), by_rows(tensor, of) ? "row" : "column");
  }
  return words;
}

}  // namespace

std::string run_line(const Case& of) {
  const Description& description = *of.trial->description;
  std::string unaligned = of.unaligned ? " --unaligned" : "";
  unaligned += spacing_words(of.spacing);
  for (std::size_t i = 0; i < description.tensors.size(); ++i) {
    if ((of.unaligned_small >> i & 1) == 0) continue;
    unaligned += fmt::format(" --unaligned-{}", option_of(description.tensors[i].name).substr(2));
  }
  return fmt::format("{} run {} --instance {}{}{}{}{}{}{} --data {} --seed {}", program_name(),
                     description.name, of.instance->name,
                     problem_words(description, of.problem.data(), of.lists), side_words(of),
                     of.shared_b ? " --shared-b" : "", unaligned, order_words(of.order),
                     of.infinite ? " --infinite" : "", name_of(of.fill), of.seed);
}

}  // namespace tw
