#include "src/cli/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "src/cli/trace_request.h"

namespace tw::cli {

namespace {

std::string counted(unsigned count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// Where the multiplying warps keep their sums, they play the epilogue, too.
std::string name_of(const Structure& structure, Role role) {
  const bool is_played =
      std::any_of(structure.roles.begin(), structure.roles.end(),
                  [&](const Structure::Played& played) { return played.role == role; });
  return is_played || role != Role::Epilogue ? role.name : "multiply, as epilogue";
}

template <class List, class Word>
std::string joined(const List& list, const char* separator, const Word& word) {
  std::string text;
  for (const auto& entry : list) text += (text.empty() ? "" : separator) + word(entry);
  return text;
}

const char* words_of(Completion completion) {
  switch (completion) {
    case Completion::TransactionBytes: return "the copy engine counts the bytes";
    case Completion::CopiesArrive: return "each thread's copies arrive when they have landed";
    case Completion::WarpsArrive: return "each warp arrives when it has written";
    case Completion::WarpsArriveFenced:
      return "each warp arrives when it has written, behind a proxy fence";
    case Completion::Commit: return "the tensor core arrives when its products are done";
  }
  return "";
}

std::string warps_of(const Structure::Played& played) {
  return played.warps == 1 ? fmt::format("warp {}", played.first_warp)
                           : fmt::format("warps {} to {}", played.first_warp,
                                         played.first_warp + played.warps - 1);
}

std::string threads_of(const Structure& structure, const Structure::Played& played) {
  if (played.elected) return played.groups == 1 ? "one thread" : "one thread of each group";
  const unsigned threads = played.warps * structure.lanes;
  if (played.groups == 1) return fmt::format("{} threads", threads);
  return fmt::format("{} groups of {} threads", played.groups, threads / played.groups);
}

std::string arrivals_of(const Structure& structure, const Structure::Signal& signal) {
  std::string text = joined(signal.arrive, ", ", [&](const RoleArrivals& entry) {
    return fmt::format("{} of {}", entry.arrivals, name_of(structure, entry.role));
  });
  if (signal.ctas > 1) text += fmt::format(" in each of {} CTAs", signal.ctas);
  if (signal.bytes > 0) text += fmt::format(", and {} bytes", signal.bytes);
  return text;
}

}  // namespace

std::string explained(const Structure& structure, const std::string& title) {
  std::string text = fmt::format("{}: {} threads", title, structure.threads);
  const unsigned ctas = structure.cluster_m * structure.cluster_n * structure.cluster_k;
  if (ctas > 1) {
    text += fmt::format(", clusters of {} x {}{} CTAs", structure.cluster_m, structure.cluster_n,
                        structure.cluster_k > 1 ? fmt::format(" x {}", structure.cluster_k) : "");
  }
  if (structure.pair > 1) text += ", of which two multiply as one";
  if (structure.shared_limit > 0) {
    text += fmt::format(", {} of {} bytes of shared memory", structure.shared_bytes,
                        structure.shared_limit);
  } else if (structure.shared_bytes > 0) {
    text += fmt::format(", {} bytes of shared memory", structure.shared_bytes);
  }
  if (structure.tensor_columns > 0) {
    text += fmt::format(", {} columns of tensor memory", structure.tensor_columns);
  }
  text += "\n\nroles\n";
  for (const Structure::Played& played : structure.roles) {
    text += fmt::format("  {:<12} {:<14} {:<26} {}\n", played.role.name, warps_of(played),
                        threads_of(structure, played),
                        played.registers == 0 ? "registers as launched"
                                              : fmt::format("{} registers each", played.registers));
  }
  for (const Structure::Flow& flow : structure.flows) {
    text += fmt::format("\n{}: {}", flow.name, counted(flow.stages, "stage"));
    if (flow.rings > 1) text += fmt::format(" of each of {} rings", flow.rings);
    text += flow.in_tensor_memory ? " in tensor memory\n"
                                  : fmt::format(" of {} bytes\n", flow.stage_bytes);
    for (const Part& part : flow.parts) {
      std::string readers;
      for (const RoleArrivals& reader : part.read_by) {
        if (reader.arrivals == 0) continue;
        readers += (readers.empty() ? "" : ", ") + name_of(structure, reader.role);
      }
      text +=
          fmt::format("  {} brings {} to {}: {}\n", part.loaded_by.role.name,
                      flow.in_tensor_memory ? "sums" : fmt::format("{} bytes", part.bytes), readers,
                      structure.signals.count > 0 ? words_of(part.completion)
                                                  : "all meet at the barrier of the CTA");
    }
  }
  if (structure.signals.count > 0) text += "\nsignals: who arrives; what it publishes; who waits\n";
  for (const Structure::Signal& signal : structure.signals) {
    text += fmt::format("  {} ({}, {})\n    {}; {}; {}\n", signal.name,
                        counted(signal.count, signal.is_counter ? "counter" : "mbarrier"),
                        counted(signal.arrivals, "arrival"), arrivals_of(structure, signal),
                        signal.publishes, joined(signal.wait, ", ", [&](const auto& waiter) {
                          return name_of(structure, waiter.role);
                        }));
  }
  if (structure.memory.count > 0) text += "\nshared memory\n";
  for (const Structure::Piece& piece : structure.memory) {
    text += fmt::format("  {:>6} {:>7} bytes  {}\n", piece.offset, piece.bytes, piece.name);
  }
  return text;
}

void add_explain(CLI::App& app, const Families& families, Verdict& verdict) {
  struct Request {
    std::string instance, svg;
  };
  auto request = std::make_shared<Request>();
  CLI::App* const command = app.add_subcommand(
      "explain", "who produces, who consumes and who signals whom, from the types of an instance");
  command->add_option("instance", request->instance, "its name, as `list` shows it")->required();
  command->add_option("--svg", request->svg, "a picture to write");
  command->callback([request, families, &verdict] {
    for (const Trial* trial : families.trials) {
      for (const Instance& one : trial->instances()) {
        if (one.name != request->instance) continue;
        const Structure* const known = structure_named(one.name);
        if (known == nullptr) {
          return verdict.refuse(
              fmt::format("This program has {} without its structure.", one.name));
        }
        const Structure& structure = *known;
        const std::string title =
            fmt::format("{} of {}, for {}", one.name, trial->description->name, one.target);
        if (!request->svg.empty() && !write_file(request->svg, drawn(structure, title), verdict)) {
          return;
        }
        fmt::print("{}", explained(structure, title));
        if (!request->svg.empty()) fmt::print("\n{} shows it\n", request->svg);
        return;
      }
    }
    verdict.refuse(
        fmt::format("There is no instance '{}'; the command list shows those that there are.",
                    request->instance));
  });
}

}  // namespace tw::cli
