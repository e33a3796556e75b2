#include "src/cli/described.h"

#include <fmt/format.h>

#include <fstream>

#include "src/cli/family_request.h"
#include "src/family/run_line.h"
#include "src/matmul/gpu.h"
#include "src/matmul/names.h"
#include "src/run/on_gpu.h"
#include "src/run/trials.h"
#include "src/run/virtual.h"

namespace tw::cli {

namespace {

// What follows from a description as options.
struct DescribedRequest : FamilyRequest {
  explicit DescribedRequest(const Trial& trial) : trial(trial) {}

  const Trial& trial;
  struct Given {
    std::int64_t value;
    CLI::Option* option;
  };
  std::vector<Given> numbers;
  std::vector<std::string> types;  // of each tensor
  std::vector<std::string> lines;  // row or column
  bool unaligned = false;

  void add_options(CLI::App& command) {
    const Description& description = *trial.description;
    add_instance_options(command, "the first of the target that takes the problem");
    numbers.reserve(description.numbers.size());  // options keep their addresses
    for (const IntegerField& number : description.numbers) {
      Given& given = numbers.emplace_back(Given{number.usual, nullptr});
      const std::string option = option_of(number.name);
      if (number.kind == IntegerField::Kind::Flag) {
        given.option = command.add_flag(option, given.value, number.meaning);
      } else {
        given.option =
            command.add_option(option, given.value, number.meaning)->capture_default_str();
      }
    }
    types.resize(description.tensors.size());
    lines.resize(description.tensors.size(), "row");
    for (std::size_t i = 0; i < types.size(); ++i) {
      const TensorField& tensor = description.tensors[i];
      types[i] = name_of(tensor.types.usual);
      const std::string option = option_of(tensor.name);
      if ((tensor.types.set & (tensor.types.set - 1)) != 0) {
        command.add_option(option + "-type", types[i], fmt::format("of {}", tensor.title))
            ->capture_default_str();
      }
      if (tensor.lines == TensorField::Lines::RowsOrColumns) {
        command.add_option(option, lines[i], "row or column: what is contiguous")
            ->capture_default_str();
      }
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
      const std::int64_t value = numbers[i].value;
      if (number.limit == extent_limit && (value < 0 || value > 65536)) {
        refuse("{} is {}, but must be between 0 and 65536.", option_of(number.name), value);
      }
      number.set(problem.data(), value);
    }
    for (std::size_t i = 0; i < types.size(); ++i) {
      const TensorField& tensor = description.tensors[i];
      if (lines[i] != "row" && lines[i] != "column") {
        refuse("{} is '{}', but must be row or column.", option_of(tensor.name), lines[i]);
      }
      const ElementType type =
          type_named((option_of(tensor.name) + "-type").c_str() + 2, types[i], tensor.types.usual);
      tensor.set(problem.data(),
                 {nullptr, 0, lines[i] == "row" ? 1 : 0, 0, static_cast<tw_type>(type)});
    }
    return problem;
  }

  // The instance that is named, or the first of the target that takes the problem. Throws Refused.
  Case resolve() const {
    const Description& description = *trial.description;
    Case made = {&trial, nullptr, stated(), unaligned, fill_named(data), seed};
    const AnyProblem problem = made.problem;
    const auto given = [&](const char* field) {
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (description.numbers[i].name == std::string(field))
          return numbers[i].option->count() > 0;
      }
      return false;
    };
    std::string refusal, known;
    for (const Instance& candidate : trial.instances()) {
      known += fmt::format(" {} ({})", candidate.name, candidate.target);
      if (!names(candidate.name, candidate.target)) continue;
      made.instance = &candidate;
      made.problem = problem;
      trial.adopt(made.problem.data(), candidate, given);
      const Status status = serves(made);
      if (status.is_good()) return made;
      if (refusal.empty()) refusal = status.sentence();
    }
    if (!refusal.empty()) throw Refused{refusal};
    throw Refused{no_instance(
        instance, description.name,
        fmt::format("There is no such instance of {}; there are{}.", description.name, known))};
  }

  void run(Verdict& verdict) const {
    const Case made = resolve();
    const Result<vgpu::Options> options = schedule.resolve();
    if (!options.status.is_good()) throw Refused{options.status.sentence()};
    if (on == "gpu") return run_there(made, verdict);
    const Verified verified(made);
    run_schedules(
        title(made), outputs(made), *options.value,
        [&](const vgpu::Options& one) { return run_virtually(verified, one); }, run_line(made),
        verdict);
  }

 private:
  static std::string title(const Case& made) {
    std::string text = made.trial->description->name;
    for (const IntegerField& number : made.trial->description->numbers) {
      const std::int64_t value = number.get(made.problem.data());
      if (number.kind == IntegerField::Kind::Flag) {
        if (value != 0) text += fmt::format(" {}", number.name);
      } else if (value != number.initial) {
        text += fmt::format(" {} {}", number.name, value);
      }
    }
    for (const TensorField& tensor : made.trial->description->tensors) {
      const auto type = static_cast<ElementType>(tensor.get(made.problem.data()).type);
      text += fmt::format(", {} {}", tensor.name, name_of(type));
    }
    return fmt::format("{}, {}", text, made.instance->name);
  }
  static std::int64_t outputs(const Case& made) {
    std::int64_t count = 0;
    for (const TensorField& tensor : made.trial->description->tensors) {
      const TensorExtents extents = tensor.extents(made.problem.data());
      if (tensor.flow == TensorField::Flow::Written) {
        count += extents.batch * extents.rows * extents.columns;
      }
    }
    return count;
  }
  static void run_there(const Case& made, Verdict& verdict) {
    const Result<Comparison> ran = run_on_gpu(Verified(made));
    if (!ran.status.is_good()) throw Refused{ran.status.sentence()};
    fmt::print("{} on {}: ", title(made), gpu_name());
    if (ran.value->good()) {
      fmt::print("all {} elements are exact\n", outputs(made));
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

// Every field towards what is simplest, one at a time.
FuzzedCase shrink(const FuzzedCase& failing) {
  const auto fails = [](const FuzzedCase& one) {
    return serves(one.shape).is_good() && one.judge().failed();
  };
  using Shrinker = CaseShrinker<FuzzedCase>;
  const Description& description = *failing.shape.trial->description;
  return Shrinker(failing, fails).shrink([&](Shrinker& shrinker) {
    shrinker.attempt([](FuzzedCase& one) { one.shape.fill = Fill::Integers; });
    shrinker.attempt([](FuzzedCase& one) { one.shape.unaligned = false; });
    for (const TensorField& tensor : description.tensors) {
      const auto change = [&](const auto& simplify) {
        shrinker.attempt([&](FuzzedCase& one) {
          tw_matrix matrix = tensor.get(one.shape.problem.data());
          simplify(matrix);
          tensor.set(one.shape.problem.data(), matrix);
        });
      };
      change([](tw_matrix& matrix) { matrix.column_stride = 1; });
      change([&](tw_matrix& matrix) { matrix.type = static_cast<tw_type>(tensor.types.usual); });
    }
    for (const IntegerField& number : description.numbers) {
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

template <class Add>
void add_each(const Add& add) {
  for (const Trial* trial : all_trials()) {
    add(std::make_shared<DescribedRequest>(*trial), *trial->description);
  }
}

}  // namespace

void add_run_described(CLI::App& command, Verdict& verdict) {
  add_each([&](const std::shared_ptr<DescribedRequest>& request, const Description& description) {
    add_family(command, request, description.name, description.meaning, verdict)
        ->add_option("--on", request->on, "gpu or virtual; empty: virtual")
        ->check(CLI::IsMember({"gpu", "virtual"}));
  });
}

void add_check_described(CLI::App& command, Verdict& verdict) {
  add_each([&](const std::shared_ptr<DescribedRequest>& request, const Description& description) {
    request->schedules = 40;
    add_family(command, request, description.name, description.meaning, verdict)
        ->add_option("--schedules", request->schedules, "how many")
        ->check(CLI::Range(2, 1000000))
        ->capture_default_str();
  });
}

void add_described_cases(std::vector<CaseMaker>& makers, const std::string& arch,
                         const std::string& instance, bool on_gpu, const std::string& running) {
  for (const Trial* trial : all_trials()) {
    for (const Instance& one : trial->instances()) {
      if ((!arch.empty() && arch != one.target) || (!instance.empty() && instance != one.name)) {
        continue;
      }
      if (on_gpu ? !why_not_on_gpu(one).empty() : one.simulate == nullptr) continue;
      makers.push_back([trial, &one, on_gpu, running](Random& random) -> AnyCase {
        const FuzzedCase made = {random_case(*trial, one, random), random_schedule(1, random),
                                 on_gpu, running};
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
