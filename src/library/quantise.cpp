// The functions of tilewright.h that quantise for FP8 with scales of blocks.
#include "tilewright/host/quantise.h"

#include <algorithm>

#include "src/library/apart.h"
#include "src/library/calls.h"
#include "src/quantise/task.h"

namespace tw::library {

namespace {

void must(const Status& status) {
  if (!status.is_good()) throw Failure{TW_INVALID, status.sentence()};
}

// How a matrix lies in memory: in rows, along k, or in columns.
struct Lines {
  Major major;
  std::int64_t pitch;
  std::int64_t batch_pitch;
};

Lines lines_of(const char* name, const tw_matrix& given, std::int64_t rows, std::int64_t columns,
               std::int64_t batch) {
  const bool by_rows = columns <= 1 || given.column_stride == 1;
  const std::int64_t lines = by_rows ? rows : columns;
  const std::int64_t batch_pitch = batch > 1 ? given.batch_stride : 0;
  std::int64_t pitch = by_rows ? given.row_stride : given.column_stride;
  // Nobody says how far a single row is from the next: as far as that of the next matrix, so that
  // they may be one; or so that it spoils no alignment.
  if (lines <= 1) pitch = batch > 1 ? batch_pitch : (columns + 15) / 16 * 16;
  check_span(fmt::format("The memory of {}", name).c_str(), lines, pitch, batch, batch_pitch);
  return {by_rows ? Major::K : Major::MN, pitch, batch_pitch};
}

Lines rows_of(const char* name, const tw_matrix& given, const QuantiseProblem& problem) {
  const Lines lines = lines_of(name, given, problem.m, problem.k, problem.batch);
  if (lines.major == Major::K) return lines;
  throw Failure{TW_INVALID,
                fmt::format("The column_stride of {} is {}, but must be 1: rows are contiguous.",
                            name, given.column_stride)};
}

Lines scales_of(const tw_matrix& given, const QuantiseProblem& problem) {
  if (const ElementType type = type_of("the scales", given.type); type != ElementType::Fp32) {
    throw Failure{TW_INVALID, fmt::format("The scales are {}, but must be fp32.", name_of(type))};
  }
  const std::int64_t rows = problem.scale_lines();
  const Lines lines = lines_of("the scales", given, rows, problem.k_blocks(), problem.batch);
  if (lines.major == Major::K || rows <= 1 || given.row_stride == 1) return lines;
  throw Failure{TW_INVALID, fmt::format("The scales have a row_stride of {} and a column_stride of "
                                        "{}, but one of them must be 1.",
                                        given.row_stride, given.column_stride)};
}

// Matrices whose rows lie one behind the other are one, where no block reaches over two of them.
void stack(QuantiseProblem& problem) {
  const std::int64_t m = problem.m, limit = std::int64_t{1} << 30;
  const std::int64_t scale_pitch = problem.scales_major == Major::K ? problem.scales_pitch : 1;
  if (problem.batch > 1 && m % problem.scale_rows == 0 && m < limit / problem.batch &&
      problem.source_pitch >= problem.k && problem.source_batch_pitch == m * problem.source_pitch &&
      problem.elements_batch_pitch == m * problem.elements_pitch &&
      problem.scales_batch_pitch == problem.scale_lines() * scale_pitch) {
    problem.m *= problem.batch;
    problem.batch = 1;
  }
}

QuantiseProblem converted(const tw_quantise_problem* given) {
  check_struct("problem", given, "tw_quantise_init");
  QuantiseProblem problem;
  problem.m = given->m;
  problem.k = given->k;
  problem.source_type = type_of("the source", given->source.type);
  problem.element_type = type_of("the elements", given->elements.type);
  problem.scale_rows = given->scale_rows;
  problem.rule = given->powers_of_two != 0 ? BlockScale::power_of_two : BlockScale::real;
  // Extents and types first: of no matrix, so that no address is asked for.
  problem.batch = std::min<std::int64_t>(given->batch, 0);
  must(check(problem));
  problem.batch = given->batch;
  if (problem.is_empty()) return problem;
  const Lines source = rows_of("the source", given->source, problem);
  const Lines elements = rows_of("the elements", given->elements, problem);
  const Lines scales = scales_of(given->scales, problem);
  problem.source = given->source.data;
  problem.source_pitch = source.pitch;
  problem.source_batch_pitch = source.batch_pitch;
  problem.elements = given->elements.data;
  problem.elements_pitch = elements.pitch;
  problem.elements_batch_pitch = elements.batch_pitch;
  problem.scales = static_cast<float*>(given->scales.data);
  problem.scales_pitch = scales.pitch;
  problem.scales_batch_pitch = scales.batch_pitch;
  problem.scales_major = scales.major;
  must(check(problem));
  const bool by_k = problem.scales_major == Major::K;
  const std::int64_t rows = problem.scale_lines(), blocks = problem.k_blocks();
  Touched touched;
  touched.reads(memory_of("the source", problem.source, problem.source_type, problem.m, problem.k,
                          problem.source_pitch, problem.batch, problem.source_batch_pitch));
  touched.writes(memory_of("the matrix of elements", problem.elements, problem.element_type,
                           problem.m, problem.k, problem.elements_pitch, problem.batch,
                           problem.elements_batch_pitch));
  touched.writes(memory_of("the matrix of scales", problem.scales, ElementType::Fp32,
                           by_k ? rows : blocks, by_k ? blocks : rows, problem.scales_pitch,
                           problem.batch, problem.scales_batch_pitch));
  touched.check_apart();
  stack(problem);
  return problem;
}

struct QuantiseFamily : KernelFamily<QuantiseProblem, QuantiseInstance> {
  static constexpr const char* name = "quantise";
  static auto instances() { return quantise_instances(); }
  using Given = tw_quantise_problem;
  template <class Visit>
  static constexpr void words(const Given& given, const Visit& visit) {
    visit("m", nullptr, given.m);
    visit("k", nullptr, given.k);
    visit("batch", nullptr, given.batch);
    visit("scale_rows", nullptr, given.scale_rows);
    visit("powers_of_two", nullptr, given.powers_of_two != 0);
    matrix_words("the source", given.source, true, visit);
    matrix_words("the elements", given.elements, true, visit);
    matrix_words("the scales", given.scales, true, visit);
  }
  static Problem convert(const Given* given) { return converted(given); }
  // The first kernel of the device whose scales are of as many rows: there are no others.
  static Choice decide(const Problem& problem, const DispatchRequest& request) {
    std::string sentence = "There is none for this device.";
    for (const QuantiseInstance& instance : quantise_instances()) {
      if (request.instance != nullptr && std::strcmp(instance.name, request.instance) != 0) {
        continue;
      }
      if (!runs_on(instance.target, request.target)) continue;
      const Status status = check(problem, instance.scale_rows, instance.tile_rows);
      if (status.is_good()) return {&instance, {}};
      sentence = std::string(instance.name) + ": " + status.sentence();
    }
    throw Failure{TW_UNSUPPORTED, fmt::format("No compiled kernel quantises this on {}. {}",
                                              request.target, sentence)};
  }
  static std::string command(const Problem& problem, const Choice& choice, const char*) {
    QuantiseShape shape;
    shape.m = problem.m;
    shape.k = problem.k;
    shape.batch = problem.batch;
    shape.source_type = problem.source_type;
    shape.element_type = problem.element_type;
    shape.scales = problem.scales_major;
    shape.rule = problem.rule;
    return run_line(*choice.instance, shape, Fill::Normal, 1);
  }
  static Status workspace(std::size_t& bytes, const Problem&, const Choice&) {
    bytes = 0;
    return Status::good();
  }
  static Status launch(const Problem& problem, const Choice& choice, const Workspace&,
                       void* stream) {
    return choice.instance->launch(problem, stream);
  }
  static Status simulate(const Problem& problem, const Choice& choice, vgpu::Report& report) {
    return choice.instance->simulate(problem, {}, report);
  }
};

using QuantiseCalls = Calls<QuantiseFamily>;

}  // namespace

}  // namespace tw::library

TW_DEFINE_CALLS(quantise, tw::library::QuantiseCalls)

extern "C" void tw_quantise_init(tw_quantise_problem* problem, tw_quantise_options* options) {
  tw_matmul_init(nullptr, options);
  if (problem == nullptr) return;
  *problem = {};
  problem->size = sizeof *problem;
  problem->batch = problem->scale_rows = 1;
  problem->elements.type = TW_E4M3;
  problem->scales.type = TW_FP32;
}
