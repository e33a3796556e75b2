#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "src/cli/timeline.h"

namespace tw::cli {

namespace {

using Track = vgpu::Timeline::Track;

constexpr double width = 900, left = 130;
constexpr unsigned line_height = 16;
constexpr const char* working = "#9fc79a";
constexpr const char* full_colour = "#b8c4d6";

// A cause has the same colour in all runs.
class Colours {
 public:
  const char* of(const std::string& cause) {
    static constexpr const char* some[] = {"#d1495b", "#edae49", "#00798c",
                                           "#8d6a9f", "#6c757d", "#c97b4a"};
    return known_.insert({cause, some[known_.size() % std::size(some)]}).first->second;
  }
  const std::map<std::string, const char*>& known() const { return known_; }

 private:
  std::map<std::string, const char*> known_;
};

std::string escaped(const std::string& text) {
  std::string result;
  for (const char letter : text) {
    if (letter == '<') {
      result += "&lt;";
    } else if (letter == '&') {
      result += "&amp;";
    } else {
      result += letter;
    }
  }
  return result;
}

struct Drawing {
  std::string bars;
  unsigned height = 0;
};

Drawing draw(const vgpu::Timeline& timeline, unsigned ctas, Colours& colours) {
  std::uint64_t begin = ~std::uint64_t{0}, end = 1;
  for (const Track& track : timeline.tracks) {
    if (track.cta >= ctas) continue;
    begin = std::min(begin, track.begin);
    end = std::max(end, track.end);
  }
  const double scale = end > begin ? width / static_cast<double>(end - begin) : 0;
  Drawing drawing;
  const auto label = [&](const std::string& name) {
    drawing.bars +=
        fmt::format("<text x=\"4\" y=\"{}\">{}</text>\n", drawing.height + 12, escaped(name));
  };
  const auto bar = [&](std::uint64_t from, std::uint64_t to, const char* colour,
                       const std::string& said) {
    const auto microseconds = [&](std::uint64_t time) {
      return static_cast<double>(time - std::min(begin, time)) / 1e6;
    };
    drawing.bars += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\" fill=\"{}\"><title>{}, {:.3f} "
        "to {:.3f} us</title></rect>\n",
        left + 1e6 * scale * microseconds(from), drawing.height + 2,
        std::max(0.3, scale * static_cast<double>(to - from)), line_height - 4, colour,
        escaped(said), microseconds(from), microseconds(to));
  };
  for (unsigned cta = 0; cta < ctas; ++cta) {
    for (const Track& track : timeline.tracks) {
      if (track.cta != cta) continue;
      label(fmt::format("CTA {} {}", cta, track.role));
      bar(track.begin, track.end, working, track.role + " works");
      for (const vgpu::Timeline::Wait& wait : track.waits) {
        if (wait.end == wait.begin) continue;
        bar(wait.begin, wait.end, colours.of(wait.on),
            wait.stage < 0 ? "waits for " + wait.on
                           : fmt::format("waits for {} {}", wait.on, wait.stage));
      }
      drawing.height += line_height;
    }
    std::map<std::pair<std::string, int>, std::vector<FullStage>> stages;
    for (const FullStage& full : full_stages(timeline)) {
      if (full.cta == cta) stages[{full.ring, full.stage}].push_back(full);
    }
    for (const auto& [which, fulls] : stages) {
      const std::string name = fmt::format("{} stage {}", which.first, which.second);
      label(fmt::format("CTA {} {}", cta, name));
      for (const FullStage& full : fulls) bar(full.begin, full.end, full_colour, name + " is full");
      drawing.height += line_height;
    }
  }
  return drawing;
}

// How long the shown CTAs took, and of whose time.
std::string span_of(const RecordedRun& run, unsigned ctas) {
  std::uint64_t begin = ~std::uint64_t{0}, end = 0;
  for (const Track& track : run.timeline.tracks) {
    if (track.cta >= ctas) continue;
    begin = std::min(begin, track.begin);
    end = std::max(end, track.end);
  }
  if (end <= begin) return "no time";
  return fmt::format("{:.2f} us{}", static_cast<double>(end - begin) / 1e6,
                     run.is_model ? " in the model of time" : "");
}

nlohmann::json numbers_of(const RecordedRun& run) {
  nlohmann::json roles = nlohmann::json::array(), stages = nlohmann::json::array();
  for (const RoleUse& use : uses_of(run.timeline)) {
    nlohmann::json causes = nlohmann::json::object();
    for (const auto& [on, share] : use.causes) causes[on] = share;
    roles.push_back({{"role", use.role}, {"waits", use.waits}, {"causes", causes}});
  }
  for (const Occupancy& one : occupancies_of(run.timeline)) {
    stages.push_back({{"ring", one.ring}, {"stages", one.stages}, {"mean_full", one.mean}});
  }
  return {{"title", run.title},
          {"where", run.where},
          {"bottleneck", bottleneck(run)},
          {"roles", roles},
          {"stages", stages}};
}

std::string tables_of(const RecordedRun& run) {
  std::string text = "<table><tr><th>role</th><th>waits</th><th>for</th></tr>\n";
  for (const RoleUse& use : uses_of(run.timeline)) {
    std::string causes;
    for (const auto& [on, share] : use.causes) {
      if (share < 0.005) continue;
      causes += fmt::format("{}{} {:.0f} %", causes.empty() ? "" : ", ", escaped(on), 100 * share);
    }
    text += fmt::format("<tr><td>{}</td><td>{:.0f} %</td><td>{}</td></tr>\n", escaped(use.role),
                        100 * use.waits, causes);
  }
  text += "</table><table><tr><th>ring</th><th>stages</th><th>full in the mean</th></tr>\n";
  for (const Occupancy& one : occupancies_of(run.timeline)) {
    text += fmt::format("<tr><td>{}</td><td>{}</td><td>{:.1f}</td></tr>\n", escaped(one.ring),
                        one.stages, one.mean);
  }
  return text + "</table>\n";
}

std::string legend_text(const Colours& colours) {
  std::string text = fmt::format("<span style=\"background:{}\">works</span> ", working);
  for (const auto& [on, colour] : colours.known()) {
    text += fmt::format("<span style=\"background:{}\">waits for {}</span> ", colour, escaped(on));
  }
  return text + fmt::format("<span style=\"background:{}\">stage is full</span>", full_colour);
}

}  // namespace

std::string html_page(const std::vector<RecordedRun>& runs, unsigned ctas) {
  Colours colours;
  std::string sections;
  nlohmann::json numbers = nlohmann::json::array();
  for (const RecordedRun& run : runs) {
    const Drawing drawing = draw(run.timeline, ctas, colours);
    sections += fmt::format(
        "<section><h2>{}</h2>\n<p>on {}: {}</p>\n<p><b>{}</b></p>\n<svg width=\"{}\" "
        "height=\"{}\">\n{}</svg>\n{}</section>\n",
        escaped(run.title), escaped(run.where), span_of(run, ctas), escaped(bottleneck(run)),
        left + width + 10, drawing.height + 4, drawing.bars, tables_of(run));
    numbers.push_back(numbers_of(run));
  }
  std::string data = nlohmann::json{{"runs", numbers}}.dump();
  // No text ends the script.
  for (std::size_t at = 0; (at = data.find("</", at)) != std::string::npos;) {
    data.replace(at, 2, "<\\/");
  }
  return fmt::format(
      "<!doctype html><html><head><meta charset=\"utf-8\"><title>{}</title><style>body{{font:13px "
      "sans-serif}}main{{display:flex;gap:24px}}section{{flex:none}}h2{{font-size:15px}}"
      "span{{padding:2px 6px}}text{{font-size:11px}}td,th{{padding:1px 8px;text-align:left}}"
      "</style></head><body>\n<p>{}</p>\n<main>\n{}</main>\n"
      "<script type=\"application/json\" id=\"numbers\">{}</script></body></html>\n",
      escaped(runs.front().title), legend_text(colours), sections, data);
}

std::string svg_picture(const std::vector<RecordedRun>& runs, unsigned ctas) {
  Colours colours;
  std::string body;
  unsigned top = 0;
  for (const RecordedRun& run : runs) {
    const Drawing drawing = draw(run.timeline, ctas, colours);
    body += fmt::format(
        "<text x=\"4\" y=\"{}\" font-size=\"13\" font-weight=\"bold\">{}</text>\n<text x=\"4\" "
        "y=\"{}\">on {}: {}. {}</text>\n<g transform=\"translate(0,{})\">\n{}</g>\n",
        top + 16, escaped(run.title), top + 32, escaped(run.where), span_of(run, ctas),
        escaped(bottleneck(run)), top + 38, drawing.bars);
    top += drawing.height + 52;
  }
  double x = 4;
  const auto sample = [&](const char* colour, const std::string& words) {
    body += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"12\" height=\"12\" fill=\"{}\"/><text x=\"{}\" "
        "y=\"{}\">{}</text>\n",
        x, top, colour, x + 16, top + 10, escaped(words));
    x += 30 + 6.2 * static_cast<double>(words.size());
  };
  sample(working, "works");
  for (const auto& [on, colour] : colours.known()) sample(colour, "waits for " + on);
  sample(full_colour, "stage is full");
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" "
      "font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" "
      "fill=\"white\"/>\n{}</svg>\n",
      left + width + 10, top + 20, body);
}

}  // namespace tw::cli
