#include "src/cli/described.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <fstream>
#include <map>

#include "src/cli/family_request.h"
#include "src/cli/number_list.h"
#include "src/family/run_line.h"
#include "src/matmul/names.h"
#include "src/run/device.h"
#include "src/run/on_gpu.h"
#include "src/run/product.h"
#include "src/run/virtual.h"

namespace tw::cli {

namespace {

// What follows from a description as options.
struct DescribedRequest : FamilyRequest, EpilogueRequest {
  DescribedRequest(const Trial& trial, const Families& families)
      : trial(trial), families(families) {}

  const Trial& trial;
  const Families families;
  CaseAction action;  // null: verified runs
  std::vector<std::int64_t> numbers;
  std::vector<std::string> words;  // of numbers that are choices
  std::vector<double> reals;
  Lists lists;
  std::vector<std::string> types;  // of each tensor
  std::vector<std::string> lines;  // row or column
  std::vector<char> present;       // of each tensor that is optional
  bool unaligned = false;
  std::deque<bool> unaligned_small;  // of each tensor
  bool shared_b = false;
  OrderRequest order;
  std::map<std::string, CLI::Option*> options;  // by field

  void add_options(CLI::App& command) {
    const Description& description = *trial.description;
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
        added = command.add_option(option, numbers[i], number.meaning)->capture_default_str();
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
        options[std::string(tensor.name) + "_type"] =
            command.add_option(option + "-type", types[i], fmt::format("of {}", tensor.title))
                ->capture_default_str();
      }
      if (tensor.optional) {
        command.add_flag_function(
            option, [this, i](std::int64_t) { present[i] = 1; }, tensor.title);
      }
      if (tensor.has_either_side()) {
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
      add_epilogue_options(command);
      order.add_options(command);
    }
    command.add_flag("--unaligned", unaligned, "lines of memory off 16 bytes");
    add_data_options(command);
  }

  // Throws Refused.
  AnyProblem stated() const {
    const Description& description = *trial.description;
    AnyProblem problem(description);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const IntegerField& number = description.numbers[i];
      if (number.kind == IntegerField::Kind::Extent) {
        check_between(option_of(number.name).c_str() + 2, numbers[i], 0, 65536);
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
    return problem;
  }

  // Throws Refused.
  void check_lists() const {
    for (std::size_t i = 0; i < lists.size(); ++i) {
      for (const std::int64_t value : lists[i]) {
        if (value < 0 || value > 65536) {
          refuse("{} is {}, but must be between 0 and 65536.", trial.description->lists[i].one,
                 value);
        }
      }
    }
  }

  // Of a case without epilogue; refused where its numbers have no product. Throws Refused.
  Status take_epilogue(Case& made) const {
    if (const Status status = made.settle(); !status.is_good()) return status;
    const Status status = check_stated(*trial.description, made.problem.data());
    if (!status.is_good()) return status;
    MatmulShape shape = product_shape(made);
    fill_epilogue(shape, made.fill);
    set_epilogue(trial.description->product->epilogue_of(made.problem.data()), shape.epilogue);
    return status;
  }

  // The instance that is named, or the first of the target that takes the problem. Throws Refused.
  Case resolve() const {
    const Description& description = *trial.description;
    const AnyProblem problem = stated();
    check_lists();
    const auto given = [&](const char* field) {
      const auto option = options.find(field);
      return option != options.end() && option->second->count() > 0;
    };
    std::string refusal, known;
    for (const Instance& candidate : trial.instances()) {
      known += fmt::format(" {} ({})", candidate.name, candidate.target);
      if (!names(candidate.name, candidate.target)) continue;
      Case made = usual_case(trial, candidate);
      made.problem = problem;
      made.unaligned = unaligned;
      for (std::size_t i = 0; i < unaligned_small.size(); ++i) {
        if (unaligned_small[i]) made.unaligned_small |= std::uint32_t{1} << i;
      }
      made.shared_b = shared_b;
      made.order = order.resolve();
      made.fill = fill_named(data);
      made.seed = seed;
      trial.adopt(made.problem.data(), candidate, given);
      made.lists = lists;
      Status status = Status::good();
      if (description.product != nullptr) status = take_epilogue(made);
      if (status.is_good()) status = serves(made);
      if (status.is_good()) return made;
      if (refusal.empty()) refusal = status.sentence();
    }
    if (!refusal.empty()) throw Refused{refusal};
    throw Refused{families.no_instance(
        instance, description.name,
        fmt::format("There is no such instance of {}; there are{}.", description.name, known))};
  }

  void run(Verdict& verdict) const {
    const Case made = resolve();
    const Result<vgpu::Options> options = schedule.resolve();
    if (!options.status.is_good()) throw Refused{options.status.sentence()};
    if (action) return action(made, *options.value, verdict);
    if (on == "gpu") return run_there(made, verdict);
    const Verified verified(made);
    run_schedules(
        title_of(made), outputs(made), *options.value,
        [&](const vgpu::Options& one) { return run_virtually(verified, one); }, run_line(made),
        verdict);
  }

 private:
  static std::int64_t outputs(const Case& made) {
    std::int64_t count = 0;
    for (const TensorField& tensor : made.trial->description->tensors) {
      const TensorExtents extents = tensor.extents(made.problem.data());
      if (tensor.flow == TensorField::Flow::Written &&
          detail::is_present(tensor, made.problem.data())) {
        count += extents.batch * extents.rows * extents.columns;
      }
    }
    return count;
  }
  static void run_there(const Case& made, Verdict& verdict) {
    const Result<Comparison> ran = run_on_gpu(Verified(made));
    if (!ran.status.is_good()) throw Refused{ran.status.sentence()};
    fmt::print("{} on {}: ", title_of(made), gpu_name());
    if (ran.value->good() && ran.value->exact) {
      fmt::print("all {} elements are exact\n", outputs(made));
    } else if (ran.value->good()) {
      fmt::print("the worst error is {:.2f} of its bound\n", ran.value->worst);
    } else {
      fmt::print("wrong\n{}replay: {} --on gpu\n", ran.value->complaint(), run_line(made));
    }
    verdict.status = ran.value->good() ? 0 : 1;
  }
};

struct FuzzedCase {
  Case shape;
  vgpu::Options schedule;
  bool on_gpu;
  std::string running;

  std::string line() const {
    return run_line(shape) + (on_gpu ? " --on gpu" : schedule_words(schedule));
  }
  Outcome judge() const {
    if (!on_gpu) {
      const VirtualRun run = run_virtually(Verified(shape), schedule);
      return {run.status, run.complaint()};
    }
    std::ofstream(running) << line() << "\n";
    const Result<Comparison> ran = run_on_gpu(Verified(shape));
    return {ran.status, ran.status.is_good() ? ran.value->complaint() : ""};
  }
  friend bool same_problem(const FuzzedCase& one, const FuzzedCase& other) {
    return one.shape == other.shape;
  }
};

using Shrinker = CaseShrinker<FuzzedCase>;

void shrink_epilogue(Shrinker& shrinker, const ProductField& product) {
  const auto change = [&](const auto& simplify) {
    shrinker.attempt([&](FuzzedCase& one) {
      tw_epilogue& epilogue = product.epilogue_of(one.shape.problem.data());
      EpilogueShape shape = shape_of(epilogue);
      simplify(shape);
      set_epilogue(epilogue, shape);
    });
  };
  change([](EpilogueShape& shape) { shape = {}; });
  for (const auto& [name, present] : epilogue_switches) {
    change([present = present](EpilogueShape& shape) { shape.*present = false; });
  }
  change([](EpilogueShape& shape) { shape.activation = Activation::None; });
  change([](EpilogueShape& shape) { shape.beta = 0.0f; });
  change([](EpilogueShape& shape) { shape.alpha = shape.output_scale = 1.0f; });
}

void shrink_order(Shrinker& shrinker) {
  shrinker.reduce(
      [](FuzzedCase & one) -> auto& { return one.shape.order.split_k; }, 1);
  shrinker.attempt([](FuzzedCase& one) { one.shape.order.group = 0; });
  shrinker.attempt([](FuzzedCase& one) { one.shape.order.raster = Raster::AlongM; });
}

// Fewer, and smaller.
void shrink_list(Shrinker& shrinker, std::size_t list) {
  const auto change = [&](std::size_t index, const auto& simplify) {
    shrinker.attempt([&](FuzzedCase& one) {
      std::vector<std::int64_t>& values = one.shape.lists[list];
      if (index < values.size()) simplify(values, values[index]);
    });
  };
  for (std::size_t i = shrinker.best().shape.lists[list].size(); i-- > 0;) {
    change(i, [&](std::vector<std::int64_t>& values, std::int64_t&) {
      if (values.size() > 1) values.erase(values.begin() + static_cast<std::ptrdiff_t>(i));
    });
    for (const int part : {1, 2, 0}) {
      change(i, [&](std::vector<std::int64_t>&, std::int64_t& value) {
        if (value > 0) value -= part == 0 ? 1 : value / part;
      });
    }
  }
}

// Every field towards what is simplest, one at a time.
FuzzedCase shrink(const FuzzedCase& failing) {
  const auto fails = [](FuzzedCase one) {
    return serves(one.shape).is_good() && one.judge().failed();
  };
  const Description& description = *failing.shape.trial->description;
  return Shrinker(failing, fails).shrink([&](Shrinker& shrinker) {
    shrinker.attempt([](FuzzedCase& one) { one.shape.fill = Fill::Integers; });
    shrinker.attempt([](FuzzedCase& one) { one.shape.unaligned = false; });
    shrinker.attempt([](FuzzedCase& one) { one.shape.unaligned_small = 0; });
    if (description.product != nullptr) {
      shrinker.attempt([](FuzzedCase& one) { one.shape.shared_b = false; });
      shrink_epilogue(shrinker, *description.product);
      shrink_order(shrinker);
    }
    for (std::size_t i = 0; i < description.lists.size(); ++i) shrink_list(shrinker, i);
    for (const TensorField& tensor : description.tensors) {
      const auto change = [&](const auto& simplify) {
        shrinker.attempt([&](FuzzedCase& one) {
          tw_matrix matrix = tensor.get(one.shape.problem.data());
          simplify(matrix);
          tensor.set(one.shape.problem.data(), matrix);
        });
      };
      change(
          [&](tw_matrix& matrix) { matrix.column_stride = tensor.is_usually_by_rows() ? 1 : 0; });
      change([&](tw_matrix& matrix) { matrix.type = static_cast<tw_type>(tensor.types.usual); });
      if (tensor.optional) change([](tw_matrix& matrix) { matrix.data = nullptr; });
    }
    for (const RealField& real : description.reals) {
      shrinker.attempt([&](FuzzedCase& one) { real.set(one.shape.problem.data(), real.usual); });
    }
    for (const IntegerField& number : description.numbers) {
      if (number.kind == IntegerField::Kind::Derived) continue;
      shrinker.attempt(
          [&](FuzzedCase& one) { number.set(one.shape.problem.data(), number.initial); });
      const std::int64_t least = number.kind == IntegerField::Kind::Flag ? 0 : 1;
      for (const int part : {1, 2, 0}) {
        shrinker.attempt([&](FuzzedCase& one) {
          void* const problem = one.shape.problem.data();
          const std::int64_t value = number.get(problem);
          if (value > least) {
            number.set(problem, value - (part == 0 ? 1 : (value - least) / part));
          }
        });
      }
    }
  });
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
    const double value = real.get(made.problem.data());
    if (value != real.usual) text += fmt::format(" {} {}", real.name, value);
  }
  for (const TensorField& tensor : made.trial->description->tensors) {
    if (!tensor.has_type || !detail::is_present(tensor, made.problem.data())) continue;
    const auto type = static_cast<ElementType>(tensor.get(made.problem.data()).type);
    text += fmt::format(", {} {}", tensor.name, name_of(type));
  }
  return fmt::format("{}, {}", text, made.instance->name);
}

void add_run_described(CLI::App& command, const Families& families, Verdict& verdict) {
  add_each(command, families, verdict, [](DescribedRequest& request, CLI::App& family) {
    family.add_option("--on", request.on, "gpu or virtual; empty: virtual")
        ->check(CLI::IsMember({"gpu", "virtual"}));
  });
}

void add_check_described(CLI::App& command, const Families& families, Verdict& verdict) {
  add_each(command, families, verdict, [](DescribedRequest& request, CLI::App& family) {
    request.schedules = 40;
    family.add_option("--schedules", request.schedules, "how many")
        ->check(CLI::Range(2, 1000000))
        ->capture_default_str();
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
                         const std::string& running) {
  for (const Trial* trial : trials) {
    for (const Instance& one : trial->instances()) {
      if ((!arch.empty() && arch != one.target) || (!instance.empty() && instance != one.name)) {
        continue;
      }
      if (on_gpu ? !why_not_on_gpu(one).empty() : one.simulate == nullptr) continue;
      makers.push_back([trial, &one, on_gpu, running](Random& random) -> AnyCase {
        const FuzzedCase made = {random_case(*trial, one, random),
                                 random_schedule(one.cluster, random), on_gpu, running};
        return {one.name, made.line(), [made] { return made.judge(); },
                [made] {
                  const FuzzedCase small = shrink(made);
                  return ShrunkCase{small.line(), small.judge().complaint};
                }};
      });
    }
  }
}

}  // namespace tw::cli
