#include "src/families/conv2d.h"

#include <cmath>

#include "src/verify/instance_words.h"
#include "src/verify/product.h"
#include "tilewright/family/conv2d/launch.h"

namespace tw {

namespace {

using Family = Conv2dFamily;
using Problem = Family::Problem;

const Conv2dFacts& facts_of_instance(const Instance& instance) {
  return *static_cast<const Conv2dFacts*>(instance.facts);
}

void adopt(void* given, const Instance& instance,
           const std::function<bool(const char*)>& is_given) {
  const MatmulConfig& config = config_of(instance);
  Problem& problem = *static_cast<Problem*>(given);
  if (!is_given("image_type")) problem.type = static_cast<tw_type>(config.tiling.a_type);
  if (!is_given("d_type")) problem.d_type = static_cast<tw_type>(config.d_type);
  if (!is_given("direction")) problem.direction = direction_of(config);
}

// The last numbers are w's and, of more than one, those before h's; one is that of both.
Status settle(void* given, const Lists& lists, const Instance&) {
  Problem& problem = *static_cast<Problem*>(given);
  const std::vector<std::int64_t>&stride = lists[Family::stride],
        &dilation = lists[Family::dilation], &pad = lists[Family::pad];
  for (const unsigned list : {Family::stride, Family::dilation}) {
    if (lists[list].empty() || lists[list].size() > 3) {
      return Status::refused(sentence("--{} has {} numbers, but must have 1, 2 or 3.",
                                      Family::lists[list].name, lists[list].size()));
    }
  }
  if (pad.empty() || pad.size() == 3 || pad.size() == 5 || pad.size() > 6) {
    return Status::refused(
        sentence("--pad has {} numbers, but must have 1, 2, 4 or 6.", pad.size()));
  }
  const auto before_last = [](const std::vector<std::int64_t>& numbers, std::size_t i) {
    return numbers[numbers.size() > i ? numbers.size() - 1 - i : 0];
  };
  const std::size_t sides = pad.size() >= 4 ? 1 : 0;
  const auto set = [](tw_conv2d_axis& axis, std::int64_t stride, std::int64_t dilation,
                      std::int64_t low, std::int64_t high) {
    axis = {axis.extent, axis.filter, stride, dilation, low, high};
  };
  set(problem.w, stride.back(), dilation.back(), before_last(pad, sides), pad.back());
  set(problem.h, before_last(stride, 1), before_last(dilation, 1), before_last(pad, 1 + 2 * sides),
      before_last(pad, 1 + sides));
  set(problem.depth, stride.size() == 3 ? stride[0] : 1, dilation.size() == 3 ? dilation[0] : 1,
      pad.size() == 6 ? pad[0] : 0, pad.size() == 6 ? pad[1] : 0);
  return Status::good();
}

// Sets the --stride/--pad/--dilation lists from the problem's axes.
void state_lists(Case& made) {
  for (std::size_t i = 0; i < made.lists.size(); ++i) {
    made.lists[i] = Family::lists[i].guess(made.problem.data()).first;
  }
}

// Kernel 1 to 7, stride 1 to 3, padding 0 to 3 on each side, dilation 1 to 3, any size that is
// left.
tw_conv2d_axis random_axis(Random& random) {
  tw_conv2d_axis axis = {1, between(random, 1, random() % 3 == 0 ? 7 : 3), 1, 1, 0, 0};
  axis.stride = between(random, 1, 3);
  axis.dilation = between(random, 1, 3);
  axis.pad_low = between(random, 0, 3);
  axis.pad_high = between(random, 0, 3);
  const std::int64_t least =
      std::max<std::int64_t>(1, reach_of(axis) + 1 - axis.pad_low - axis.pad_high);
  axis.extent = between(random, least, least + 16);
  return axis;
}

// The fewest channels that TMA takes.
std::int64_t piece_of(const Problem& problem) {
  return 16 / bytes_of(static_cast<ElementType>(problem.type));
}

// What is loaded by threads has any channels, in groups, and steps beyond those of TMA.
void make_groups(Problem& problem, Random& random) {
  const std::int64_t most = problem.h.filter * problem.w.filter > 9 ? 12 : 40;
  const std::int64_t few = between(random, 1, most);  // channels of a group
  // By cp.async, or element by element; one of each: depthwise.
  const std::int64_t channels = random() % 4 == 0   ? 1
                                : random() % 2 == 0 ? piece_of(problem) * few
                                                    : few;
  problem.groups = random() % 2 == 0 ? 1 : between(random, 2, 5);
  problem.c = channels * problem.groups;
  problem.k = between(random, 1, problem.groups == 1 ? 140 : 40) * problem.groups;
  const bool in_phases = problem.direction == TW_BACKWARD_DATA;
  const auto stride = [&] { return in_phases ? between(random, 4, 8) : between(random, 9, 12); };
  if (random() % 4 == 0) problem.h.stride = stride();
  if (random() % 4 == 0) {
    problem.w.pad_low = between(random, 129, 140);
    problem.w.stride = stride();
  }
}

// Each channel for itself; shapes for which there is code of their own come often.
void make_depthwise(Problem& problem, Random& random) {
  problem.c = random() % 3 == 0 ? between(random, 1, 150) : 8 * between(random, 1, 20);
  problem.groups = problem.c;
  problem.k = problem.c * (random() % 4 == 0 ? between(random, 2, 3) : 1);
  if (random() % 2 == 0) return;
  problem.w.filter = 3 + 2 * between(random, 0, 2);
  problem.w.stride = between(random, 1, 2);
  problem.w.dilation = 1;
  problem.w.extent += reach_of(problem.w);
  if (problem.w.filter == 3) {
    problem.h.extent += 2 * problem.h.dilation;
    problem.h.filter = 3;
  }
}

void random_problem(Case& made, Random& random) {
  const Conv2dFacts& facts = facts_of_instance(*made.instance);
  Problem& problem = made.as<Problem>();
  problem.h = random_axis(random);
  problem.w = random_axis(random);
  if (facts.by_lines) {
    problem.w = {problem.w.extent + line_positions - 1,
                 line_positions,
                 1,
                 1,
                 problem.w.pad_low,
                 problem.w.pad_high};
  }
  // Channels of less than a k-tile, of one, of several, and of several and a bit.
  const std::int64_t piece = piece_of(problem);
  problem.c = piece * between(random, 1, problem.h.filter * problem.w.filter > 9 ? 10 : 20);
  const bool forward = problem.direction == TW_FORWARD;
  problem.k = forward ? between(random, 1, 140) : piece * between(random, 1, 17);
  if (facts.depthwise) {
    make_depthwise(problem, random);
  } else if (facts.spans_groups && !facts.by_threads) {
    // TMA brings groups that share a tile where they fill a k-tile together.
    const std::int64_t channels = std::int64_t{2} << between(random, 0, 4);
    problem.c = 64 * between(random, 1, 3);
    problem.groups = problem.c / channels;
    problem.k = problem.groups * between(random, 1, channels);
  } else if (facts.by_threads) {
    make_groups(problem, random);
  } else if (problem.direction != TW_BACKWARD_FILTER && random() % 4 == 0) {
    // TMA takes groups of whole k-tiles or, where channels are counted, of whole products.
    problem.groups = 2;
    problem.c = 2 * (facts.counts_channels ? 2 * piece * between(random, 1, 9)
                                           : facts.product.config.tiling.k());
    problem.k = 2 * between(random, 1, 70);
    if (!forward) {
      problem.k = problem.c;
      problem.c = 2 * piece * between(random, 1, 9);
    }
  }
  // Sometimes a third side, where the kernel takes it; few pixels of what is made.
  const auto side = [&](const tw_conv2d_axis& axis) {
    return problem.direction == TW_BACKWARD_DATA ? axis.extent : outputs_of(axis);
  };
  if (random() % 6 == 0) {
    Case deep = made;
    deep.as<Problem>().depth = {between(random, 2, 4), between(random, 1, 2),
                                between(random, 1, 2), 1,
                                between(random, 0, 1), between(random, 0, 1)};
    state_lists(deep);
    if (serves(deep).is_good()) problem.depth = deep.as<Problem>().depth;
  }
  const std::int64_t pixels = side(problem.h) * side(problem.w) * side(problem.depth);
  problem.n = between(random, 1, std::max<std::int64_t>(1, 400 / pixels));
  state_lists(made);
}

// Each column of the output selects one of the elements that it sums up; every element of the image
// (or of D's gradient in its place) tells its own place. Each result is then one element, and a
// wrong place shows.
void fill_positions(HostProblem& data, const Problem& problem, Random& random) {
  data.tensor(Family::image).fill([&](auto, auto, auto) {
    return static_cast<int>(random() % 201) - 100;
  });
  const std::int64_t positions = positions_of(problem), filters = problem.k / problem.groups;
  const std::int64_t channels = problem.c / problem.groups;
  const std::int64_t summed = std::max<std::int64_t>(1, Family::summed_of(problem));
  const auto first = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(summed));
  data.tensor(Family::filter).fill([&](auto, std::int64_t row, std::int64_t column) {
    std::int64_t selects = row / positions;  // column of the output
    std::int64_t element = row % positions * channels + column;
    if (problem.direction == TW_BACKWARD_DATA) {
      selects = column;
      element = row % positions * filters + row / positions % filters;
    } else if (problem.direction == TW_BACKWARD_FILTER) {
      selects = column;
      element = row;
    }
    return element == (first + selects * 61) % summed ? 1.0 : 0.0;
  });
}

void fill(HostProblem& data, const Case& of) {
  MatmulShape outputs = product_shape(of);
  // Integers whose sums stay exact: of 8-bit floats Hopper keeps 14 bits.
  const bool long_sums = sum_bits(outputs.a_type) < 24 &&
                         Family::summed_of(of.problem.as<Problem>()) > 2048;
  const int limit = long_sums ? 1 : 3;
  outputs.k = 0;
  MatmulData epilogue = make_matmul_data(outputs, of.fill, of.seed);
  epilogue.a = data.tensor(Family::image);
  epilogue.b = transposed(data.tensor(Family::filter));
  epilogue.d = data.tensor(Family::d);
  take_product(data, std::move(epilogue));
  Random random(of.seed);
  if (of.fill == Fill::Position) {
    return fill_positions(data, of.problem.as<Problem>(), random);
  }
  std::normal_distribution<double> normal;
  for (const unsigned operand : {Family::image, Family::filter}) {
    data.tensor(operand).fill([&](auto, auto, auto) {
      const auto below = static_cast<unsigned>(2 * limit + 1);
      return of.fill == Fill::Normal ? normal(random) : static_cast<int>(random() % below) - limit;
    });
  }
}

// Output `i` of an axis at one of the filter's positions; -1: outside of the image.
std::int64_t met(const tw_conv2d_axis& axis, std::int64_t i, std::int64_t position) {
  const std::int64_t at = i * axis.stride + position * axis.dilation - axis.pad_low;
  return at < 0 || at >= axis.extent ? -1 : at;
}

// visit(pixel of the image, filter position, pixel of D), wherever these meet.
template <class Visit>
void for_each_meeting(const Problem& problem, const Visit& visit) {
  const tw_conv2d_axis &depth = problem.depth, &h = problem.h, &w = problem.w;
  std::int64_t output = 0;
  for (std::int64_t image = 0; image < problem.n; ++image) {
    for (std::int64_t o = 0; o < outputs_of(depth); ++o) {
      for (std::int64_t p = 0; p < outputs_of(h); ++p) {
        for (std::int64_t q = 0; q < outputs_of(w); ++q, ++output) {
          for (std::int64_t position = 0; position < positions_of(problem); ++position) {
            const std::int64_t z = met(depth, o, position / w.filter / h.filter);
            const std::int64_t y = met(h, p, position / w.filter % h.filter);
            const std::int64_t x = met(w, q, position % w.filter);
            if (z < 0 || y < 0 || x < 0) continue;
            visit(((image * depth.extent + z) * h.extent + y) * w.extent + x, position, output);
          }
        }
      }
    }
  }
}

// (row,column), without gaps.
std::vector<double> numbers(const HostMatrix& matrix) {
  std::vector<double> result;
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    for (std::int64_t column = 0; column < matrix.columns; ++column) {
      result.push_back(matrix.at(0, row, column));
    }
  }
  return result;
}

std::shared_ptr<const Answer> answer(const Case& of, const HostProblem& given) {
  const Problem& problem = of.problem.as<Problem>();
  const std::vector<double> a = numbers(given.tensor(Family::image)),
                            b = numbers(given.tensor(Family::filter));
  const MatmulShape shape = product_shape(of);
  MatmulSums sums;
  sums.value.resize(static_cast<std::size_t>(shape.m * shape.n));
  sums.magnitude.resize(sums.value.size());
  const auto add = [&](std::int64_t to, std::int64_t a_at, std::int64_t b_at) {
    const double product = a[static_cast<std::size_t>(a_at)] * b[static_cast<std::size_t>(b_at)];
    sums.value[static_cast<std::size_t>(to)] += product;
    sums.magnitude[static_cast<std::size_t>(to)] += std::abs(product);
  };
  for_each_meeting(problem, [&](std::int64_t pixel, std::int64_t position, std::int64_t output) {
    const std::int64_t channels = problem.c / problem.groups;
    for (std::int64_t k = 0; k < problem.k; ++k) {
      const std::int64_t group = k / (problem.k / problem.groups);
      for (std::int64_t c = 0; c < channels; ++c) {
        const std::int64_t image_at = pixel * problem.c + group * channels + c;
        const std::int64_t filter_at = (k * positions_of(problem) + position) * channels + c;
        const std::int64_t d_at = output * problem.k + k;
        switch (problem.direction) {
          case TW_FORWARD: add(d_at, image_at, filter_at); break;
          case TW_BACKWARD_DATA: add(image_at, d_at, filter_at); break;
          case TW_BACKWARD_FILTER: add(filter_at, image_at, d_at); break;
        }
      }
    }
  });
  return std::make_shared<ProductAnswer>(reference_of(sums, product_data(given, of.fill), shape),
                                         of.fill, ProductAnswer::Judge());
}

InstanceWords list(const Instance& instance) {
  InstanceWords words = words_of(instance);
  words.layout = Family::directions[direction_of(config_of(instance))];
  const std::string none = "-";
  if (facts_of_instance(instance).depthwise) words.tile = words.consumers = none;
  return words;
}

}  // namespace

const Trial conv2d_trial = {.description = &Family::description,
                            .instances = conv2d_instances,
                            .adopt = adopt,
                            .settle = settle,
                            .random = random_problem,
                            .fill = fill,
                            .answer = answer,
                            .list = list};

Case conv2d_case(const Instance& instance, const tw_conv2d_problem& problem) {
  Case made = usual_case(conv2d_trial, instance);
  made.problem = AnyProblem(problem);
  state_lists(made);
  return made;
}

}  // namespace tw
