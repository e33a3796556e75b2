#include "src/cli/described.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <fstream>
#include <map>

#include "src/cli/family_request.h"
#include "src/cli/instance_wish.h"
#include "src/cli/number_list.h"
#include "src/cli/run_once.h"
#include "src/cli/shrink.h"
#include "src/instances/names.h"
#include "src/instances/run_line.h"
#include "src/verify/instance_words.h"
#include "src/verify/on_gpu.h"
#include "src/verify/product.h"
#include "src/verify/virtual.h"

namespace tw::cli {

namespace {

constexpr std::int64_t largest_extent = 65536;
// Sizes are none below 0; numbers that have an end of their own, as exponents, may be.
std::int64_t least(const IntegerField& number) {
  return number.limit <= largest_extent ? std::min<std::int64_t>(number.low, 0) : 0;
}

// What follows from a description as options.
struct DescribedRequest : FamilyRequest, EpilogueRequest {
  DescribedRequest(const Trial& trial, const Families& families)
      : trial(trial), families(families) {}

  const Trial& trial;
  const Families families;
  CaseAction action;  // null: verified runs
  std::vector<std::int64_t> numbers;
  std::vector<std::string> words;  // values of numbers that are choices
  std::vector<double> reals;
  Lists lists;
  std::vector<std::string> types;  // one for each tensor
  std::vector<std::string> lines;  // row or column
  std::vector<char> present;       // one for each tensor that is optional
  bool unaligned = false;
  std::string spacing = "usual";
  std::deque<bool> unaligned_small;  // one for each tensor
  bool shared_b = false;
  bool infinite = false;
  std::string layout;  // A's and B's in BLAS's letters
  InstanceWish wish;
  OrderRequest order;
  RunRequest how;
  bool checks = false;                          // many schedules
  std::map<std::string, CLI::Option*> options;  // by field

  void add_options(CLI::App& command) {
    const Description& description = *trial.description;
    arch = usual_arch();
    add_instance_options(command, "the first of the target that takes the problem");
    // Options keep their addresses.
    numbers.resize(description.numbers.size());
    words.resize(description.numbers.size());
    lists.resize(description.lists.size());
    for (std::size_t i = 0; i < lists.size(); ++i) {
      const ListField& list = description.lists[i];
      read_number_list(lists[i], list.usual);
      add_number_list(command, option_of(list.name), lists[i], list.meaning, 1 << 16, true);
    }
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const IntegerField& number = description.numbers[i];
      numbers[i] = number.usual;
      if (number.kind == IntegerField::Kind::Derived) continue;
      const std::string option = option_of(number.name);
      // From 2.4 on CLI11 takes --h for -h.
      if (option == "--h") command.set_help_flag("--help", "Print this help message and exit");
      CLI::Option*& added = options[number.name];
      if (number.kind == IntegerField::Kind::Choice) {
        words[i] = number.words[number.usual];
        added = command.add_option(option, words[i], number.meaning)
                    ->check(CLI::IsMember(
                        std::vector<std::string>(number.words.begin(), number.words.end())))
                    ->capture_default_str();
      } else if (number.kind == IntegerField::Kind::Flag) {
        added = command.add_flag(option, numbers[i], number.meaning);
      } else {
        added =
            add_number(command, option, numbers[i], number.meaning, least(number), largest_extent);
      }
    }
    reals.resize(description.reals.size());
    for (std::size_t i = 0; i < reals.size(); ++i) {
      const RealField& real = description.reals[i];
      reals[i] = real.usual;
      command.add_option(option_of(real.name), reals[i], real.meaning)->capture_default_str();
    }
    present.resize(description.tensors.size());
    types.resize(description.tensors.size());
    lines.resize(description.tensors.size());
    unaligned_small.resize(description.tensors.size());
    for (std::size_t i = 0; i < types.size(); ++i) {
      const TensorField& tensor = description.tensors[i];
      types[i] = name_of(tensor.types.usual);
      lines[i] = tensor.is_usually_by_rows() ? "row" : "column";
      const std::string option = option_of(tensor.name);
      if (tensor.has_type && (tensor.types.set & (tensor.types.set - 1)) != 0) {
        const bool is_d = description.product != nullptr && i == description.product->d;
        options[std::string(tensor.name) + "_type"] =
            command
                .add_option(option + "-type" + (is_d ? ",--c-type" : ""), types[i],
                            fmt::format("of {}", tensor.title))
                ->capture_default_str();
      }
      if (tensor.optional) {
        command.add_flag_function(
            option, [this, i](std::int64_t) { present[i] = 1; }, tensor.title);
      }
      if (tensor.has_either_side()) {
        options[tensor.name] =
            command.add_option(option, lines[i], "row or column: what is contiguous")
                ->capture_default_str();
      }
      if (tensor.is_small) {
        command.add_flag("--unaligned-" + option.substr(2), unaligned_small[i],
                         fmt::format("lines of {} off 16 bytes", tensor.title));
      }
    }
    if (description.product != nullptr) {
      command.add_flag("--shared-b", shared_b, "one B for the whole batch");
      command.add_flag("--infinite", infinite, "one element of A, by seed");
      command.add_option("--layout", layout, "of A and B in BLAS's letters: tn, tt, nn or nt");
      add_epilogue_options(command);
      order.add_options(command);
      wish.add_options(command);
    } else if (trial.parts != nullptr) {
      order.add_parts(command, trial.parts, trial.streams);
    }
    command.add_flag("--unaligned", unaligned, "lines of memory off 16 bytes");
    command
        .add_option("--spacing", spacing,
                    "of lines of memory: usual, four or eight (bytes), gaps, far (beyond 2^31)")
        ->capture_default_str();
    add_data_options(command);
  }

  // Throws Refused.
  AnyProblem stated() const {
    const Description& description = *trial.description;
    AnyProblem problem(description);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const IntegerField& number = description.numbers[i];
      if (number.kind == IntegerField::Kind::Extent) {
        check_between(option_of(number.name).c_str() + 2, numbers[i], least(number),
                      largest_extent);
      }
      const auto word = std::find(number.words.begin(), number.words.end(), words[i]);
      number.set(problem.data(), number.kind == IntegerField::Kind::Choice
                                     ? word - number.words.begin()
                                     : numbers[i]);
    }
    for (std::size_t i = 0; i < reals.size(); ++i) {
      description.reals[i].set(problem.data(), reals[i]);
    }
    for (std::size_t i = 0; i < types.size(); ++i) {
      const TensorField& tensor = description.tensors[i];
      if (lines[i] != "row" && lines[i] != "column") {
        refuse("{} is '{}', but must be row or column.", option_of(tensor.name), lines[i]);
      }
      const ElementType type =
          type_named((option_of(tensor.name) + "-type").c_str() + 2, types[i], tensor.types.usual);
      tensor.set(problem.data(), {present[i] != 0 ? some_address() : nullptr, 0,
                                  lines[i] == "row" ? 1 : 0, 0, static_cast<tw_type>(type)});
    }
    if (!layout.empty()) take_layout(problem);
    return problem;
  }

  // Throws Refused.
  void take_layout(AnyProblem& problem) const {
    const ProductField& product = *trial.description->product;
    for (const bool a : {true, false}) {
      for (const bool b : {false, true}) {
        if (layout != layout_name(a ? Major::K : Major::MN, b ? Major::MN : Major::K)) continue;
        for (const auto& [index, by_rows] : {std::pair(product.a, a), std::pair(product.b, b)}) {
          const TensorField& tensor = trial.description->tensors[index];
          tw_matrix matrix = tensor.get(problem.data());
          matrix.column_stride = by_rows ? 1 : 0;
          tensor.set(problem.data(), matrix);
        }
        return;
      }
    }
    refuse("There is no layout '{}'; there are tn, tt, nn and nt.", layout);
  }

  // Whether the caller says what a field has.
  bool is_given(const std::string& field) const {
    const ProductField* const product = trial.description->product;
    if (!layout.empty() && (field == trial.description->tensors[product->a].name ||
                            field == trial.description->tensors[product->b].name)) {
      return true;
    }
    const auto option = options.find(field);
    if (option == options.end()) return false;
    // Only an instance that is named makes choices.
    return option->second->count() > 0 || (instance.empty() && is_choice(field));
  }
  bool is_choice(const std::string& field) const {
    for (const IntegerField& number : trial.description->numbers) {
      if (number.name == field) return number.kind == IntegerField::Kind::Choice;
    }
    return false;
  }

  // Throws Refused.
  void check_lists() const {
    for (std::size_t i = 0; i < lists.size(); ++i) {
      for (const std::int64_t value : lists[i]) {
        if (value < 0 || value > largest_extent) {
          refuse("{} is {}, but must be between 0 and {}.", trial.description->lists[i].one, value,
                 largest_extent);
        }
      }
    }
  }

  // Gives a case its epilogue; refused where its numbers have no product. Throws Refused.
  Status take_epilogue(Case& made) const {
    if (const Status status = made.settle(); !status.is_good()) return status;
    const Status status = check_stated(*trial.description, made.problem.data());
    if (!status.is_good()) return status;
    MatmulShape shape = product_shape(made);
    fill_epilogue(shape, made.fill);
    set_epilogue(trial.description->product->epilogue_of(made.problem.data()), shape.epilogue);
    return status;
  }

  // The usual target, or where that has no kernel of the family the first that has one.
  std::string usual_arch() const {
    const std::span<const Instance> all = trial.instances();
    for (const Instance& one : all) {
      if (std::string(one.target) == usual_target) return usual_target;
    }
    return all.empty() ? usual_target : all.front().target;
  }

  // What is asked for, where nothing serves it: "s8 by bf16, on sm90a".
  std::string asked_for() const {
    const Description& description = *trial.description;
    if (description.product == nullptr) return fmt::format("{} on {}", description.name, arch);
    const auto type = [&](unsigned tensor, const std::string& usual) {
      const bool given = is_given(std::string(description.tensors[tensor].name) + "_type");
      return given ? types[tensor] : usual;
    };
    const std::string a = type(description.product->a, types[description.product->a]);
    const std::string d = type(description.product->d, "");
    return fmt::format("{} by {}{}{}, on {}{}{}{}", a, type(description.product->b, a),
                       d.empty() ? "" : " into " + d,
                       layout.empty() ? "" : fmt::format(", layout {}", layout), arch, wish.words(),
                       unaligned ? ", --unaligned" : "", order_words(order.resolve()));
  }
  static InstanceWords words_of(const Case& made) {
    const auto list = made.trial->list;
    return list != nullptr ? list(*made.instance) : tw::words_of(*made.instance);
  }
  // "--a-type e4m3 --b-type e4m3" where the instance multiplies other types than the family's
  // first, though nothing that is asked for leads away from these.
  std::string other_types(const Case& made) const {
    const Description& description = *trial.description;
    for (const IntegerField& number : description.numbers) {
      if (is_choice(number.name) && options.at(number.name)->count() > 0) return "";
    }
    std::string found;
    const Case usual = usual_case(trial, trial.instances().front());
    for (const unsigned index : {description.product->a, description.product->b}) {
      const TensorField& tensor = description.tensors[index];
      if (is_given(std::string(tensor.name) + "_type")) return "";
      const auto type = static_cast<ElementType>(tensor.get(made.problem.data()).type);
      if (type == static_cast<ElementType>(tensor.get(usual.problem.data()).type)) continue;
      found += fmt::format("{}{}-type {}", found.empty() ? "" : " ", option_of(tensor.name),
                           name_of(type));
    }
    return found;
  }
  // The case that the options state for one instance, but for its epilogue. Throws Refused.
  Case case_of(const Instance& candidate, const AnyProblem& problem) const {
    Case made = usual_case(trial, candidate);
    made.problem = problem;
    made.unaligned = unaligned;
    made.spacing = spacing_named(spacing);
    for (std::size_t i = 0; i < unaligned_small.size(); ++i) {
      if (unaligned_small[i]) made.unaligned_small |= std::uint32_t{1} << i;
    }
    made.shared_b = shared_b;
    made.infinite = infinite;
    made.order = order.resolve();
    made.fill = fill_named(data);
    made.seed = seed;
    trial.adopt(made.problem.data(), candidate,
                [this](const char* field) { return is_given(field); });
    made.lists = lists;
    return made;
  }

  // The one that is named, or those of the target; where it has none, others that run there.
  std::vector<const Instance*> candidates() const {
    std::vector<const Instance*> named, others;
    for (const Instance& one : trial.instances()) {
      if (instance.empty() ? arch == one.target : instance == one.name)
        named.push_back(&one);
      else if (instance.empty() && runs_on(one.target, arch, one.capability_end))
        others.push_back(&one);
    }
    return named.empty() ? others : named;
  }

  // Says why the case's instance cannot compute it; good where it can. Throws Refused.
  Status obstacles_of(Case& made) const {
    if (trial.description->product != nullptr) {
      if (const Status status = take_epilogue(made); !status.is_good()) return status;
    }
    return serves(made);
  }

  // The instance that is named, or the first of the target that takes the problem. Throws Refused.
  Case resolve() const {
    const Description& description = *trial.description;
    if (target_named(arch) == nullptr) throw Refused{no_target(arch)};
    wish.check();
    const AnyProblem problem = stated();
    check_lists();
    std::vector<Obstacle> obstacles;
    for (const Instance* const candidate : candidates()) {
      Case made = case_of(*candidate, problem);
      const Status status = obstacles_of(made);
      std::string other = description.product != nullptr ? wish.obstacle(words_of(made)) : "";
      if (other.empty() && description.product != nullptr && instance.empty()) {
        other = other_types(made);
      }
      if (status.is_good() && other.empty()) return made;
      obstacles.push_back({candidate, status.is_good() ? other : status.sentence(),
                           status.obstacles() + options_in(other)});
    }
    if (!obstacles.empty()) throw Refused{nothing_serves(asked_for(), std::move(obstacles))};
    throw Refused{families.no_instance(instance, description.name, known_instances())};
  }
  std::string known_instances() const {
    const std::span<const Instance> all = trial.instances();
    const Description& description = *trial.description;
    if (instance.empty()) {
      return fmt::format("No compiled kernel {} on {}. There is none for this device.",
                         description.does, arch);
    }
    std::string known;
    for (const Instance& one : all) known += fmt::format(" {} ({})", one.name, one.target);
    return fmt::format(
        "There is no instance '{}' of {}; {}.", instance, description.name,
        all.size() > 20 ? "./tw list shows those that there are" : "there are" + known);
  }

  void run(Verdict& verdict) const {
    const Case made = resolve();
    const Result<vgpu::Options> options = schedule.resolve();
    if (!options.status.is_good()) throw Refused{options.status.sentence()};
    if (action) return action(made, *options.value, verdict);
    if (!checks) return run_once(made, how, *options.value, verdict);
    const Verified verified(made);
    run_schedules(
        title_of(made), outputs_of(made), *options.value,
        [&](const vgpu::Options& one) { return run_virtually(verified, one); }, run_line(made),
        verdict);
  }
};

// Oracles: checkers, reference, poison and padding; and that another run gives the same bytes, on
// the virtual GPU for data whose sums are rounded.
bool runs_twice(const Case& one) { return one.fill == Fill::Normal; }

std::string line_of(const ScheduledCase& one, bool on_gpu) {
  return run_line(one.shape) + (on_gpu ? " --on gpu" : schedule_words(one.schedule)) +
         (runs_twice(one.shape) ? " --twice" : "");
}

Outcome judge(const ScheduledCase& one, bool on_gpu) {
  return on_gpu ? judge_on_gpu(one.shape, 1, true)
                : judge_virtually(one.shape, one.schedule, runs_twice(one.shape));
}

// `set_up` gets the request and its subcommand.
template <class SetUp>
void add_each(CLI::App& command, const Families& families, Verdict& verdict, const SetUp& set_up) {
  for (const Trial* trial : families.trials) {
    auto request = std::make_shared<DescribedRequest>(*trial, families);
    const Description& description = *trial->description;
    set_up(*request, *add_family(command, request, description.name, description.meaning, verdict));
  }
}

}  // namespace

std::string title_of(const Case& made) {
  std::string text = made.trial->description->name;
  for (std::size_t i = 0; i < made.lists.size(); ++i) {
    text +=
        fmt::format(" {} {}", made.trial->description->lists[i].name, list_words(made.lists[i]));
  }
  for (const IntegerField& number : made.trial->description->numbers) {
    const std::int64_t value = number.get(made.problem.data());
    if (number.kind == IntegerField::Kind::Derived) continue;
    if (number.kind == IntegerField::Kind::Flag) {
      if (value != 0) text += fmt::format(" {}", number.name);
    } else if (number.kind == IntegerField::Kind::Choice) {
      text += fmt::format(" {}", number.words[value]);
    } else if (value != number.initial) {
      text += fmt::format(" {} {}", number.name, value);
    }
  }
  for (const RealField& real : made.trial->description->reals) {
    const auto value = static_cast<float>(real.get(made.problem.data()));
    if (value != static_cast<float>(real.usual)) text += fmt::format(" {} {}", real.name, value);
  }
  for (const TensorField& tensor : made.trial->description->tensors) {
    if (!tensor.has_type || !detail::is_present(tensor, made.problem.data())) continue;
    const auto type = static_cast<ElementType>(tensor.get(made.problem.data()).type);
    text += fmt::format(", {} {}", tensor.name, name_of(type));
  }
  if (const ProductField* const product = made.trial->description->product) {
    const std::string words = epilogue_options(shape_of(product->epilogue(made.problem.data())));
    if (!words.empty()) text += "," + words;
  }
  return fmt::format("{}, {}", text, made.instance->name);
}

void add_run_described(CLI::App& command, const Families& families, Verdict& verdict) {
  add_each(command, families, verdict,
           [](DescribedRequest& request, CLI::App& family) { request.how.add_options(family); });
}

void add_check_described(CLI::App& command, const Families& families, Verdict& verdict) {
  add_each(command, families, verdict, [](DescribedRequest& request, CLI::App& family) {
    request.checks = true;
    request.schedules = 40;
    family.add_option("--schedules", request.schedules, "how many")
        ->check(CLI::Range(1, 1000000))
        ->capture_default_str();
    family.add_flag("--json", request.json, "print the verdict as JSON last");
  });
}

void add_described(CLI::App& command, const Families& families, const CaseAction& action,
                   Verdict& verdict, const std::function<void(CLI::App& family)>& add_options) {
  add_each(command, families, verdict, [&](DescribedRequest& request, CLI::App& family) {
    request.action = action;
    if (add_options) add_options(family);
  });
}

void add_described_cases(std::vector<CaseMaker>& makers, std::span<const Trial* const> trials,
                         const std::string& arch, const std::string& instance, bool on_gpu,
                         const std::string& running, std::int64_t largest) {
  for (const Trial* trial : trials) {
    for (const Instance& one : trial->instances()) {
      if ((!arch.empty() && arch != one.target) || (!instance.empty() && instance != one.name)) {
        continue;
      }
      if (on_gpu ? !why_not_on_gpu(one).empty() : one.simulate == nullptr) continue;
      makers.push_back([trial, &one, on_gpu, running, largest](Random& random) -> AnyCase {
        ScheduledCase made = {random_case(*trial, one, random, largest),
                              random_schedule(one.cluster, random)};
        try_infinity(made.shape, random);
        if (!on_gpu) try_far(made.shape, random);
        const auto judge_one = [on_gpu, running](const ScheduledCase& given) {
          if (on_gpu) std::ofstream(running) << line_of(given, on_gpu) << "\n";
          return judge(given, on_gpu);
        };
        return {one.name, line_of(made, on_gpu), [made, judge_one] { return judge_one(made); },
                [made, judge_one, on_gpu] {
                  const ScheduledCase small = shrink(
                      made, [&](const ScheduledCase& given) { return judge_one(given).failed(); });
                  return ShrunkCase{line_of(small, on_gpu), judge_one(small).complaint};
                }};
      });
    }
  }
}

}  // namespace tw::cli
