#include "src/bench/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

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

Json json_of(const MatmulCase& shape, const Measurement& kernel) {
  Json row = json_of(kernel);
  row["m"] = shape.m;
  row["n"] = shape.n;
  row["k"] = shape.k;
  row["type"] = name_of(shape.type);
  if (shape.pitch_align > 1) row["pitch_align"] = shape.pitch_align;
  if (!kernel.ran()) return row;
  row["tflops"] = tflops(shape, kernel.median_us);
  row["tb_per_s"] = terabytes(shape, kernel.median_us);
  return row;
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
  if (summary.regrets.count() > 0) {
    json["geometric_mean_regret"] = summary.regrets.value();
    json["highest_regret"] = {{"shape", summary.highest_regret.shape},
                              {"value", summary.highest_regret.value}};
  }
  return json;
}

}  // namespace

Json json_of(const Measurement& kernel) {
  Json row = {{"kernel", kernel.name}};
  if (!kernel.ran()) {
    row["refused"] = kernel.refused;
    return row;
  }
  row["us"] = kernel.median_us;
  row["low_us"] = kernel.low_us;
  row["high_us"] = kernel.high_us;
  row["sm_mhz"] = known(kernel.reading.sm_mhz);
  row["watts"] = known(kernel.reading.watts);
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

Json json_of(const RunFacts& facts, const std::vector<ShapeResult>& results,
             const Summary& summary) {
  Json report = json_of(facts);
  report["summary"] = json_of(summary);
  report["results"] = Json::array();
  if (facts.host_call_us > 0) {
    report["host_us"] = {{"call", facts.host_call_us}, {"planned", facts.host_planned_us}};
  }
  for (const ShapeResult& result : results) {
    const auto add = [&](const char* side, const MatmulCase& shape, const Measurement& kernel) {
      Json row = json_of(shape, kernel);
      row["side"] = side;
      report["results"].push_back(row);
      return &report["results"].back();
    };
    if (result.peer) add("peer", result.shape, *result.peer);
    for (const Measurement& kernel : result.own) {
      Json& row = *add("own", result.shape, kernel);
      row["ratio"] = known(result.ratio(kernel));
      if (&kernel == result.best() && result.of_rounded_up() > 0) {
        row["of_rounded_up"] = result.of_rounded_up();
      }
    }
    if (result.rounded_up) add("own, rounded up", result.shape.rounded_up(), *result.rounded_up);
    if (result.compiled) {
      Json& row = *add("own, fastest compiled", result.shape, *result.compiled);
      row["regret"] = known(result.regret());
    }
  }
  return report;
}

std::string csv_head() { return "family,type,m,n,k,side,kernel,us,low_us,high_us,sm_mhz,watts\n"; }

std::string csv_of(const RunFacts& facts, const ShapeResult& result) {
  std::string text;
  const auto add = [&](const char* side, const Measurement& kernel) {
    if (!kernel.ran()) return;
    const MatmulCase& shape = result.shape;
    text += fmt::format("{},{},{},{},{},{},{},{:.3f},{:.3f},{:.3f},{:.0f},{:.0f}\n", facts.family,
                        name_of(shape.type), shape.m, shape.n, shape.k, side, kernel.name,
                        kernel.median_us, kernel.low_us, kernel.high_us, kernel.reading.sm_mhz,
                        kernel.reading.watts);
  };
  if (result.peer) add("peer", *result.peer);
  for (const Measurement& kernel : result.own) add("own", kernel);
  if (result.compiled) add("compiled", *result.compiled);
  return text;
}

std::string rate_text(const MatmulCase& shape, double us) {
  return shape.is_decode() ? fmt::format("{:.2f} TB/s", terabytes(shape, us))
                           : fmt::format("{:.0f} TFLOP/s", tflops(shape, us));
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
  std::string text = markdown_head(facts);
  text += "| m x n x k | kernel | us | rate | spread | peer | peer, us | ratio |";
  text += ragged ? " rounded up, us | of rounded up |\n" : "\n";
  text += ragged ? "|---|---|---|---|---|---|---|---|---|---|\n"
                 : "|---|---|---|---|---|---|---|---|\n";
  for (const ShapeResult& result : results) {
    const Measurement* best = result.best();
    text += fmt::format("| {} |", result.shape.text());
    if (best == nullptr) {
      text += " none | | | |";
    } else {
      text += fmt::format(" {} | {:.2f} | {} | {:.2f}..{:.2f} |", best->name, best->median_us,
                          rate_text(result.shape, best->median_us), best->low_us, best->high_us);
    }
    text += result.peer && result.peer->ran()
                ? fmt::format(" {} | {:.2f} |", result.peer->name, result.peer->median_us)
                : std::string(" | |");
    text += result.ratio() > 0 ? fmt::format(" {:.3f} |", result.ratio()) : std::string(" |");
    if (ragged && result.of_rounded_up() > 0) {
      text +=
          fmt::format(" {:.2f} | {:.3f} |", result.rounded_up->median_us, result.of_rounded_up());
    } else if (ragged) {
      text += " | |";
    }
    text += "\n";
  }
  return text + "\n" + text_of(summary);
}

}  // namespace tw::bench
