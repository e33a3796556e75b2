#include "src/bench/harness/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "src/bench/harness/classes.h"

namespace tw::bench {

namespace {

using Json = nlohmann::json;

// What was not measured is null.
Json known(double value) { return value > 0 ? Json(value) : Json(); }

Json values_of(const std::vector<ShapeValue>& values) {
  Json list = Json::array();
  for (const ShapeValue& one : values) list.push_back({{"shape", one.shape}, {"value", one.value}});
  return list;
}

Json json_of(const Measurement& kernel) {
  Json row = {{"kernel", kernel.name}};
  if (!kernel.ran()) {
    row["refused"] = kernel.refused;
    return row;
  }
  row["us"] = kernel.median_us;
  row["low_us"] = kernel.low_us;
  row["high_us"] = kernel.high_us;
  if (kernel.between_us > 0) {
    row["between_us"] = kernel.between_us;
    row["between_low_us"] = kernel.between_low_us;
    row["between_high_us"] = kernel.between_high_us;
  }
  row["sm_mhz"] = known(kernel.reading.sm_mhz);
  row["watts"] = known(kernel.reading.watts);
  row["millijoules"] = known(kernel.millijoules);
  row["temperature"] = known(kernel.reading.celsius);
  return row;
}

Json json_of(const RunFacts& facts) {
  return {{"family", facts.family}, {"type", facts.type},
          {"suite", facts.suite},   {"date", facts.date},
          {"device", facts.device}, {"driver", facts.driver},
          {"commit", facts.commit}, {"command", facts.command},
          {"rounds", facts.rounds}, {"slice_ms", facts.slice_milliseconds}};
}

Json json_of(const Shape& shape, const Measurement& kernel) {
  Json row = json_of(kernel);
  for (const auto& [name, number] : shape.numbers) row[name] = number;
  row["shape"] = shape.text;
  row["type"] = name_of(shape.type);
  if (!kernel.ran()) return row;
  row["tflops"] = known(shape.tflops(kernel.median_us));
  row["tb_per_s"] = shape.terabytes(kernel.median_us);
  return row;
}

// Calls add() for each kernel measured: its side, shape, and what it is compared with, if anything.
template <class Add>
void each_row(const ShapeResult& result, const Add& add) {
  if (result.peer) add("peer", result.shape, *result.peer, "", 0.0);
  for (const Measurement& kernel : result.own) {
    add("own", result.shape, kernel, "ratio", result.ratio(kernel));
  }
  if (result.peer_fused) add("peer, epilogue fused", result.shape, *result.peer_fused, "", 0.0);
  if (result.peer_then_kernel) {
    add("peer, epilogue as a second kernel", result.shape, *result.peer_then_kernel, "", 0.0);
  }
  for (const Measurement& kernel : result.own_epilogue) {
    add("own, epilogue", result.shape, kernel, "ratio", result.fused_ratio());
  }
  if (result.rounded_up) {
    add("own, rounded up", result.larger_shape, *result.rounded_up, "of_rounded_up",
        result.of_rounded_up());
  }
  if (result.compiled) {
    add("own, fastest compiled", result.shape, *result.compiled, "regret", result.regret());
  }
  // Where another is the fastest with a foreign kernel between launches.
  if (result.peer_between && result.peer && result.peer_between->name != result.peer->name) {
    add("peer, between", result.shape, *result.peer_between, "", 0.0);
  }
  if (result.compiled_between && result.compiled &&
      result.compiled_between->name != result.compiled->name) {
    add("own, fastest compiled between", result.shape, *result.compiled_between, "", 0.0);
  }
}

Json json_of(const ColumnSummary& column) {
  if (column.count == 0) return {};
  return {{"shapes", column.count},
          {"geometric_mean", column.mean},
          {"median", column.median},
          {"sum_of_times", column.sum},
          {"worst", {{"shape", column.worst.shape}, {"value", column.worst.value}}}};
}

Json json_of(const Summary& summary) {
  Json json = {{"shapes", summary.shapes},
               {"compared", summary.compared},
               {"geometric_mean_ratio", known(summary.mean_ratio)},
               {"decode_compared", summary.decode_compared},
               {"decode_geometric_mean_ratio", known(summary.decode_mean_ratio)},
               {"below_0.93", values_of(summary.below)},
               {"copy_tb_per_s", known(summary.copy_bytes_per_second * 1e-12)},
               {"decode_share_of_copy", values_of(summary.bandwidth)},
               {"decode_geometric_mean_share_of_copy", known(summary.mean_bandwidth)},
               {"failed", values_of(summary.failed)}};
  if (summary.compared > 0) {
    json["lowest_ratio"] = {{"shape", summary.lowest.shape}, {"value", summary.lowest.value}};
  }
  if (summary.rounded_up_compared > 0) {
    json["geometric_mean_of_rounded_up"] = summary.mean_of_rounded_up;
  }
  const auto mean = [&json](const char* name, const GeometricMean& of) {
    if (of.count() > 0) json[name] = of.value();
  };
  mean("geometric_mean_ratio_fused", summary.beside_fused);
  mean("geometric_mean_ratio_two_kernels", summary.beside_two_kernels);
  mean("geometric_mean_relative_time", summary.relative_time);
  mean("geometric_mean_between_regret", summary.between_regrets);
  if (summary.foreign_us > 0) json["foreign_us"] = summary.foreign_us;
  if (!summary.tried.empty()) json["peer_tried"] = summary.tried;
  if (!summary.left_out.empty()) json["left_out"] = summary.left_out;
  if (summary.regrets.count() > 0) {
    json["geometric_mean_regret"] = summary.regrets.value();
    json["highest_regret"] = {{"shape", summary.highest_regret.shape},
                              {"value", summary.highest_regret.value}};
  }
  return json;
}

}  // namespace

Json json_of(const RunFacts& facts, const std::vector<ShapeResult>& results,
             const Summary& summary) {
  Json report = json_of(facts);
  report["summary"] = json_of(summary);
  report["results"] = Json::array();
  report["classes"] = Json::array();
  for (const ClassSummary& one : classes_of(results)) {
    report["classes"].push_back({{"class", one.name},
                                 {"alone", json_of(one.alone)},
                                 {"between", json_of(one.between)},
                                 {"between_less_foreign", json_of(one.between_less)}});
  }
  if (facts.host_call_us > 0) {
    report["host_us"] = {{"call", facts.host_call_us}, {"planned", facts.host_planned_us}};
  }
  for (const ShapeResult& result : results) {
    each_row(result, [&](const char* side, const Shape& shape, const Measurement& kernel,
                         const std::string& compared, double value) {
      Json row = json_of(shape, kernel);
      row["side"] = side;
      if (!compared.empty()) row[compared] = known(value);
      if (result.peer_share != 1) row["peer_share"] = result.peer_share;
      if (!result.notes.empty()) row["notes"] = result.notes;
      report["results"].push_back(row);
    });
  }
  return report;
}

std::string csv_head(const RunFacts& facts) {
  return fmt::format(
      "# {}, driver {}, commit {}, {}; {} rounds of slices of {:g} ms\n# {}\n"
      "family,type,m,n,k,side,kernel,us,low_us,high_us,sm_mhz,watts,between_us,between_low_us,"
      "between_high_us,foreign_us,shape\n",
      facts.device, facts.driver, facts.commit.empty() ? "unknown" : facts.commit, facts.date,
      facts.rounds, facts.slice_milliseconds, facts.command);
}

std::string csv_of(const RunFacts& facts, const ShapeResult& result) {
  std::string text;
  const auto without_commas = [](std::string side) {
    std::erase(side, ',');
    if (side == "own fastest compiled between") return std::string("compiled between");
    return side == "own fastest compiled" ? "compiled" : side;
  };
  const auto in_one_column = [](std::string name) {  // cuDNN's engines list their knobs
    std::replace(name.begin(), name.end(), ',', ';');
    return name;
  };
  each_row(result, [&](const std::string& side, const Shape& shape, const Measurement& kernel,
                       const std::string&, double) {
    if (!kernel.ran()) return;
    text += fmt::format(
        "{},{},{},{},{},{},{},{:.3f},{:.3f},{:.3f},{:.0f},{:.0f},{:.3f},{:.3f},{:.3f},{:.3f},"
        "\"{}\"\n",
        facts.family, name_of(shape.type), shape.m, shape.n, shape.k, without_commas(side),
        in_one_column(kernel.name), kernel.median_us, kernel.low_us, kernel.high_us,
        kernel.reading.sm_mhz, kernel.reading.watts, kernel.between_us, kernel.between_low_us,
        kernel.between_high_us, result.foreign_us, shape.text);
  });
  return text;
}

std::string text_head() {
  return fmt::format("{:<30} {:<34} {:>10} {:>9} {:>7} {:>7}  {}\n", "shape", "kernel", "us",
                     "TFLOP/s", "TB/s", "ratio", "fastest..slowest round, side");
}

std::string text_of(const ShapeResult& result) {
  std::string text;
  each_row(result, [&](const std::string& side, const Shape& shape, const Measurement& kernel,
                       const std::string& compared, double value) {
    if (!kernel.ran()) {
      text += fmt::format("{:<30} {:<34} refused: {}\n", shape.text, kernel.name, kernel.refused);
      return;
    }
    const char* const mark = compared == "regret" ? "*" : compared == "of_rounded_up" ? "/" : "";
    text += fmt::format(
        "{:<30} {:<34} {:>10.2f} {:>9.1f} {:>7.2f} {:>7}  {:.2f}..{:.2f}  {:.0f} MHz "
        "{:.0f} W{}  {}\n",
        shape.text, kernel.name, kernel.median_us, shape.tflops(kernel.median_us),
        shape.terabytes(kernel.median_us), value > 0 ? fmt::format("{}{:.3f}", mark, value) : "",
        kernel.low_us, kernel.high_us, kernel.reading.sm_mhz, kernel.reading.watts,
        kernel.millijoules > 0 ? fmt::format(" {:.2f} mJ", kernel.millijoules) : "", side);
  });
  if (result.between_ratio() > 0) {
    text += fmt::format(
        "{:<30} {:<34} {:>10.2f} {:>9} {:>7} {:>7.3f}  less the foreign kernel {:.3f}; peer {:.2f} "
        "us\n",
        result.shape.text, "  a foreign kernel between", result.best()->between_us, "", "",
        result.between_ratio(), result.between_ratio_less(), result.peer_between->between_us);
  }
  for (const std::string& note : result.notes) text += fmt::format("  {}\n", note);
  return text;
}

std::string rate_text(const Shape& shape, double us) {
  return shape.is_decode || shape.flops == 0 ? fmt::format("{:.2f} TB/s", shape.terabytes(us))
                                             : fmt::format("{:.0f} TFLOP/s", shape.tflops(us));
}

std::string markdown_head(const RunFacts& facts) {
  return fmt::format(
      "# {} {} on {}, {}\n\nDriver {}, commit {}. Standard-normal data, graph replay over rotating "
      "buffers beyond the L2, {} rounds\nof slices of {:g} ms in changing order; times are medians "
      "in us, the spread is the fastest and the slowest round,\nthe ratio the peer's time over "
      "ours. Repeat with\n\n    {}\n\n",
      facts.type, facts.family, facts.device, facts.date, facts.driver,
      facts.commit.empty() ? "unknown" : facts.commit.substr(0, 12), facts.rounds,
      facts.slice_milliseconds, facts.command);
}

std::string markdown_of(const RunFacts& facts, const std::vector<ShapeResult>& results,
                        const Summary& summary) {
  const bool ragged = summary.rounded_up_compared > 0;
  const bool fused = std::any_of(results.begin(), results.end(), [](const ShapeResult& result) {
    return !result.own_epilogue.empty();
  });
  std::string text = markdown_head(facts), line = "|---|---|---|---|---|---|---|---|";
  text += "| shape | kernel | us | rate | spread | peer | peer, us | ratio |";
  const bool between = summary.foreign_us > 0;
  if (between) {
    text += " between, us | peer between, us | ratio | less foreign |", line += "---|---|---|---|";
  }
  if (ragged) text += " rounded up, us | of rounded up |", line += "---|---|";
  if (fused) {
    text += " with epilogue | us | overhead | peer fused, us | ratio | peer + kernel, us | ratio |";
    line += "---|---|---|---|---|---|---|";
  }
  text += "\n" + line + "\n";
  const auto time = [](const Measurement* kernel) {
    return kernel != nullptr && kernel->ran() ? fmt::format(" {:.2f} |", kernel->median_us) : " |";
  };
  const auto time_of = [&](const std::optional<Measurement>& kernel) {
    return time(kernel ? &*kernel : nullptr);
  };
  const auto ratio = [](double value) {
    return value > 0 ? fmt::format(" {:.3f} |", value) : " |";
  };
  for (const ShapeResult& result : results) {
    const Measurement* best = result.best();
    text += fmt::format("| {} |", result.shape.text);
    if (best == nullptr) {
      text += " none | | | |";
    } else {
      text += fmt::format(" {} | {:.2f} | {} | {:.2f}..{:.2f} |", best->name, best->median_us,
                          rate_text(result.shape, best->median_us), best->low_us, best->high_us);
    }
    text += result.peer && result.peer->ran()
                ? fmt::format(" {}{} |", result.peer->name,
                              result.peer_tried > 0 ? fmt::format(" of {}", result.peer_tried) : "")
                : " |";
    text += time_of(result.peer) + ratio(result.ratio());
    if (between) {
      const auto in_company = [](const Measurement* kernel) {
        const bool ran = kernel != nullptr && kernel->between_us > 0;
        return ran ? fmt::format(" {:.2f} |", kernel->between_us) : " |";
      };
      text += in_company(best) + in_company(result.peer_between ? &*result.peer_between : nullptr) +
              ratio(result.between_ratio()) + ratio(result.between_ratio_less());
    }
    if (ragged) text += time_of(result.rounded_up) + ratio(result.of_rounded_up());
    if (fused) {
      const Measurement* added = fastest_of(result.own_epilogue);
      text += fmt::format(" {} |", added == nullptr ? "" : added->name) + time(added);
      text += result.overhead() > -1 ? fmt::format(" {:+.1f} % |", 100 * result.overhead()) : " |";
      text += time_of(result.peer_fused) + ratio(result.fused_ratio());
      text += time_of(result.peer_then_kernel) + ratio(result.two_kernels_ratio());
    }
    text += "\n";
  }
  return text + "\n" + text_of(classes_of(results)) + "\n" + text_of(summary);
}

}  // namespace tw::bench
