#include "src/cli/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

namespace tw::cli {

namespace {

using Track = vgpu::Timeline::Track;

constexpr double picoseconds_per_microsecond = 1e6;

std::string words(const vgpu::Timeline::Wait& wait) {
  return wait.stage < 0 ? wait.on : fmt::format("{} {}", wait.on, wait.stage);
}

// A stage of a ring, from the completion of its full barrier to that of its empty one.
struct Full {
  unsigned cta;
  std::string stage;  // "input stage 2"
  std::uint64_t begin, end;
};

std::vector<Full> full_stages(const vgpu::Timeline& timeline) {
  std::vector<Full> all;
  std::map<std::pair<unsigned, std::string>, std::uint64_t> since;
  for (const vgpu::Timeline::Phase& phase : timeline.phases) {
    const std::size_t dot = phase.barrier.rfind('.');
    if (dot == std::string::npos) continue;
    const std::pair key(phase.cta,
                        fmt::format("{} stage {}", phase.barrier.substr(0, dot), phase.stage));
    const std::string_view what = std::string_view(phase.barrier).substr(dot + 1);
    if (what == "full") {
      since[key] = phase.time;
    } else if (const auto found = since.find(key); what == "empty" && found != since.end()) {
      all.push_back({key.first, key.second, found->second, std::max(found->second, phase.time)});
      since.erase(found);
    }
  }
  return all;
}

// What one role of all CTAs did with its time.
struct Use {
  std::string role;
  double whole = 0, for_others = 0, for_products = 0;
  std::map<std::string, double> waits;
};

std::vector<Use> uses_of(const vgpu::Timeline& timeline) {
  std::vector<Use> uses;
  for (const Track& track : timeline.tracks) {
    auto use = std::find_if(uses.begin(), uses.end(),
                            [&](const Use& one) { return one.role == track.role; });
    if (use == uses.end()) use = uses.insert(uses.end(), Use{track.role, 0, 0, 0, {}});
    use->whole += static_cast<double>(track.end - track.begin);
    for (const vgpu::Timeline::Wait& wait : track.waits) {
      const auto time = static_cast<double>(wait.end - wait.begin);
      use->waits[wait.on] += time;
      (wait.on == "wgmma" ? use->for_products : use->for_others) += time;
    }
  }
  return uses;
}

}  // namespace

nlohmann::json perfetto(const vgpu::Timeline& timeline, unsigned ctas) {
  nlohmann::json list = nlohmann::json::array();
  std::map<std::pair<unsigned, std::string>, int> threads;
  const auto thread_of = [&](unsigned cta, const std::string& name) {
    const auto [known, is_new] = threads.insert({{cta, name}, static_cast<int>(threads.size())});
    if (is_new) {
      list.push_back({{"pid", cta},
                      {"ph", "M"},
                      {"name", "process_name"},
                      {"args", {{"name", fmt::format("CTA {}", cta)}}}});
      list.push_back({{"pid", cta},
                      {"tid", known->second},
                      {"ph", "M"},
                      {"name", "thread_name"},
                      {"args", {{"name", name}}}});
    }
    return known->second;
  };
  const auto add = [&](unsigned cta, const std::string& thread, const std::string& name,
                       std::uint64_t begin, std::uint64_t end) {
    const int id = thread_of(cta, thread);
    list.push_back({{"pid", cta},
                    {"tid", id},
                    {"ph", "X"},
                    {"name", name},
                    {"ts", static_cast<double>(begin) / picoseconds_per_microsecond},
                    {"dur", static_cast<double>(end - begin) / picoseconds_per_microsecond}});
  };
  for (const Track& track : timeline.tracks) {
    if (track.cta >= ctas) continue;
    for (const vgpu::Timeline::Wait& wait : track.waits) {
      add(track.cta, track.role, "wait for " + words(wait), wait.begin, wait.end);
    }
  }
  for (const Full& full : full_stages(timeline)) {
    if (full.cta < ctas) add(full.cta, full.stage, "full", full.begin, full.end);
  }
  return {{"traceEvents", list}, {"displayTimeUnit", "ns"}};
}

std::string summary(const vgpu::Timeline& timeline) {
  std::string text;
  const Use* least = nullptr;
  const std::vector<Use> uses = uses_of(timeline);
  for (const Use& use : uses) {
    if (use.whole == 0) continue;
    if (least == nullptr || use.for_others / use.whole < least->for_others / least->whole) {
      least = &use;
    }
    std::vector<std::pair<double, std::string>> causes;
    for (const auto& [on, time] : use.waits) causes.push_back({time / use.whole, on});
    std::sort(causes.rbegin(), causes.rend());
    std::string most;
    for (const auto& [share, on] : causes) {
      if (share >= 0.01)
        most += fmt::format("{}{} {:.0f} %", most.empty() ? ": " : ", ", on, 100 * share);
    }
    text += fmt::format("  {:<12} waits {:>3.0f} % of its time{}\n", use.role,
                        100 * (use.for_others + use.for_products) / use.whole, most);
  }
  if (least == nullptr) return "  No role waited for anything.\n";
  const double share = least->for_others / least->whole;
  const bool is_busy = share < 0.25;
  text += fmt::format(
      "The {} role waits least for others ({:.0f} % of its time): in the model of time {}.\n",
      least->role, 100 * share,
      is_busy ? "it sets the pace" : "nobody sets the pace, but what is on its way");
  return text;
}

std::string html_page(const vgpu::Timeline& timeline, unsigned ctas, const std::string& title) {
  std::uint64_t begin = ~std::uint64_t{0}, end = 1;
  for (const Track& track : timeline.tracks) {
    begin = std::min(begin, track.begin);
    end = std::max(end, track.end);
  }
  constexpr double width = 1200, left = 150;
  constexpr unsigned height = 16;
  const double scale = end > begin ? width / static_cast<double>(end - begin) : 0;
  static constexpr const char* colours[] = {"#d1495b", "#edae49", "#00798c", "#8d6a9f", "#6c757d"};
  std::map<std::string, const char*> colour_of;
  std::string bars;
  unsigned line = 0;
  const auto label = [&](const std::string& name) {
    bars += fmt::format("<text x=\"4\" y=\"{}\">{}</text>\n", line * height + 12, name);
  };
  const auto bar = [&](std::uint64_t from, std::uint64_t to, const char* colour,
                       const std::string& said) {
    bars += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\" fill=\"{}\"><title>{}, {:.3f} "
        "to "
        "{:.3f} us</title></rect>\n",
        left + scale * static_cast<double>(from - begin), line * height + 2,
        std::max(0.3, scale * static_cast<double>(to - from)), height - 4, colour, said,
        static_cast<double>(from - begin) / picoseconds_per_microsecond,
        static_cast<double>(to - begin) / picoseconds_per_microsecond);
  };
  for (unsigned cta = 0; cta < ctas; ++cta) {
    for (const Track& track : timeline.tracks) {
      if (track.cta != cta) continue;
      label(fmt::format("CTA {} {}", cta, track.role));
      bar(track.begin, track.end, "#9fc79a", track.role + " works");
      for (const vgpu::Timeline::Wait& wait : track.waits) {
        const auto known =
            colour_of.insert({wait.on, colours[colour_of.size() % std::size(colours)]}).first;
        if (wait.end > wait.begin)
          bar(wait.begin, wait.end, known->second, "waits for " + words(wait));
      }
      ++line;
    }
    std::map<std::string, std::vector<Full>> stages;
    for (const Full& full : full_stages(timeline)) {
      if (full.cta == cta) stages[full.stage].push_back(full);
    }
    for (const auto& [stage, fulls] : stages) {
      label(fmt::format("CTA {} {}", cta, stage));
      for (const Full& full : fulls) bar(full.begin, full.end, "#b8c4d6", stage + " is full");
      ++line;
    }
  }
  std::string legend = "<span style=\"background:#9fc79a\">works</span> ";
  for (const auto& [on, colour] : colour_of) {
    legend += fmt::format("<span style=\"background:{}\">waits for {}</span> ", colour, on);
  }
  return fmt::format(
      "<!doctype html><html><head><meta charset=\"utf-8\"><title>{0}</title><style>body{{font:13px "
      "sans-serif}}span{{padding:2px 6px}}text{{font-size:11px}}</style></head><body><h1>{0}</h1>\n"
      "<p>Times are those of the virtual GPU's model.</p><pre>{1}</pre><p>{2}</p>\n<svg "
      "width=\"{3}\" height=\"{4}\">\n{5}</svg></body></html>\n",
      title, summary(timeline), legend, width + left + 10, line * height + 4, bars);
}

}  // namespace tw::cli
