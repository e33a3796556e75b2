// Convolutions, behind the functions of tilewright.h.
#include "src/dispatch/conv2d.h"

#include "src/conv2d/task.h"
#include "src/library/apart.h"
#include "src/library/calls.h"
#include "tilewright/host/conv2d_check.h"

namespace tw::library {

namespace {

Conv2dAxis axis_of(const tw_conv2d_axis& given) {
  return {given.extent, given.filter, given.stride, given.dilation, given.pad_low, given.pad_high};
}

void check_good(const Status& status) {
  if (!status.is_good()) throw Failure{TW_INVALID, status.sentence()};
}

// Backward, D's gradient lies where the image or the filter would.
void check_apart(const Conv2dProblem& problem) {
  using enum Conv2dDirection;
  const std::int64_t filters = problem.positions() * (problem.c / problem.groups);
  const std::int64_t rows = problem.n * problem.pixels();
  const auto dense = [&](const char* name, const void* data, std::int64_t lines,
                         std::int64_t length) {
    check_span(name, lines, length, 1, 0);
    return memory_of(name, data, problem.type, lines, length, length);
  };
  Touched touched;
  touched.reads(
      problem.direction == BackwardData
          ? dense("the image", problem.image, rows, problem.k)
          : dense("the image", problem.image, problem.n * problem.image_pixels(), problem.c));
  touched.reads(problem.direction == BackwardFilter
                    ? dense("the filter", problem.filter, rows, problem.k)
                    : dense("the filter", problem.filter, problem.k, filters));
  const MatmulProblem output = output_of(problem);
  check_span("D", output.m, output.n, 1, 0);
  add_outputs(touched, output);
  touched.check_apart();
}

Conv2dProblem converted(const tw_conv2d_problem* given) {
  check_struct("problem", given, "tw_conv2d_init");
  const auto direction = static_cast<unsigned>(given->direction);
  if (direction > TW_BACKWARD_FILTER) {
    throw Failure{TW_INVALID,
                  fmt::format("The direction is {}, but a tw_direction is between 0 and {}.",
                              direction, static_cast<int>(TW_BACKWARD_FILTER))};
  }
  Conv2dProblem problem;
  problem.n = given->n;
  problem.c = given->c;
  problem.k = given->k;
  problem.groups = given->groups;
  problem.h = axis_of(given->h);
  problem.w = axis_of(given->w);
  problem.depth = axis_of(given->depth);
  problem.direction = static_cast<Conv2dDirection>(direction);
  problem.image = given->image;
  problem.filter = given->filter;
  problem.d = given->d;
  problem.type = type_of("the image", given->type);
  problem.d_type = type_of("D", given->d_type);
  // Extents first: those of the epilogue follow from them.
  check_good(check(problem));
  const MatmulProblem output = output_of(problem);
  problem.epilogue = epilogue_of(given->epilogue, output.m, output.n, 1);
  check_good(check(problem));
  if (output.m != 0 && output.n != 0) check_apart(problem);
  return problem;
}

Conv2dShape conv2d_shape_of(const Conv2dProblem& problem) {
  Conv2dShape shape;
  shape.n = problem.n;
  shape.c = problem.c;
  shape.k = problem.k;
  shape.groups = problem.groups;
  shape.h = problem.h;
  shape.w = problem.w;
  shape.depth = problem.depth;
  shape.direction = problem.direction;
  shape.type = problem.type;
  shape.d_type = problem.d_type;
  shape.epilogue.column_bias = problem.epilogue.column_bias != nullptr;
  shape.epilogue.activation = problem.epilogue.activation;
  shape.epilogue.beta = problem.epilogue.source == nullptr ? 0.0f : problem.epilogue.beta;
  return shape;
}

struct Conv2dFamily : KernelFamily<Conv2dProblem, Conv2dInstance> {
  static constexpr const char* name = "conv2d";
  static auto instances() { return conv2d_instances(); }
  using Given = tw_conv2d_problem;
  static void initialise(Given& problem) {
    problem.n = problem.groups = 1;
    problem.h = problem.w = problem.depth = {1, 1, 1, 1, 0, 0};
    problem.epilogue.alpha = problem.epilogue.output_scale = 1.0f;
  }
  template <class Visit>
  static constexpr void words(const Given& given, const Visit& visit) {
    visit("The direction", nullptr, given.direction);
    visit("n", nullptr, given.n);
    visit("c", nullptr, given.c);
    visit("k", nullptr, given.k);
    visit("groups", nullptr, given.groups);
    for (const tw_conv2d_axis* axis : {&given.h, &given.w, &given.depth}) {
      visit("An extent", nullptr, axis->extent);
      visit("The extent of a filter", nullptr, axis->filter);
      visit("A stride", nullptr, axis->stride);
      visit("A dilation", nullptr, axis->dilation);
      visit("A lower padding", nullptr, axis->pad_low);
      visit("An upper padding", nullptr, axis->pad_high);
    }
    visit("The alignment", "the image", alignment_word(given.image));
    visit("The alignment", "the filter", alignment_word(given.filter));
    visit("The alignment", "D", alignment_word(given.d));
    visit("The type", nullptr, given.type);
    visit("The type", "D", given.d_type);
    epilogue_words(given.epilogue, visit);
  }
  static Problem convert(const Given* given) { return converted(given); }
  static Choice decide(const Problem& problem, const DispatchRequest& request) {
    return choose_or_throw("a convolution", problem, request);
  }
  static std::string command(const Problem& problem, const Choice& choice, const char*) {
    return run_line(*choice.instance, conv2d_shape_of(problem), Fill::Integers, 1, choice.order);
  }
};

const Registered registered_conv2d(Calls<Conv2dFamily>::table);

}  // namespace

}  // namespace tw::library
