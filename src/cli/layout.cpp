// ./tw layout: evaluates layout algebra, lists layouts and draws them.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "src/cli/command.h"
#include "src/cli/save.h"
#include "src/layout_tool/draw.h"
#include "src/layout_tool/evaluate.h"
#include "src/layout_tool/operations.h"

namespace tw::cli {

namespace {

using namespace layout_tool;

struct LayoutRequest {
  std::string expression;
  bool table = false;
  std::string picture;
  std::string access;
  std::string banks = "nvidia";
  int element_bytes = 2;
  bool json = false;
};

const SharedMemory& find_memory(const std::string& name) {
  for (const SharedMemory& memory : shared_memories()) {
    if (memory.name == name) return memory;
  }
  throw Refusal(fmt::format("--banks is '{}', but must be nvidia or amd.", name));
}

void check_options(const LayoutRequest& request) {
  const int bytes = request.element_bytes;
  if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8 && bytes != 16) {
    throw Refusal(fmt::format("--element-bytes is {}, but must be 1, 2, 4, 8 or 16.", bytes));
  }
  if (!request.picture.empty() && !request.picture.ends_with(".svg")) {
    throw Refusal(fmt::format("-o is '{}', but must end in .svg.", request.picture));
  }
}

// Everything that the request wants, so that nothing is written unless all of it succeeds.
struct Answer {
  std::string text;
  std::string picture;
  nlohmann::ordered_json json;
};

void add_conflicts(Answer& answer, const Access& access, const Conflicts& conflicts) {
  answer.text += describe(access, conflicts) + "\n";
  answer.json["access"] = {{"name", access.name},
                           {"banks", access.memory.name},
                           {"element_bytes", access.element_bytes},
                           {"phases", conflicts.phases},
                           {"wavefronts", conflicts.wavefronts},
                           {"most_wavefronts_per_phase", conflicts.most},
                           {"conflicts", conflicts.wavefronts - conflicts.phases},
                           {"verdict", verdict(conflicts)}};
}

void examine(Answer& answer, const LayoutRequest& request, const Layout& layout) {
  Drawing drawing{request.expression,    Grid(layout), find_memory(request.banks),
                  request.element_bytes, {},           {}};
  if (request.table) answer.text += table_of(drawing.grid);
  if (!request.access.empty()) {
    drawing.access =
        make_access(drawing.grid, request.access, request.banks, request.element_bytes);
    drawing.conflicts = count_conflicts(drawing.grid, *drawing.access);
    add_conflicts(answer, *drawing.access, drawing.conflicts);
  }
  if (!request.picture.empty()) {
    answer.picture = draw(drawing);
    answer.json["picture"] = request.picture;
  }
}

Answer answer_to(const LayoutRequest& request) {
  check_options(request);
  find_memory(request.banks);
  const Value value = evaluate(request.expression);
  Answer answer;
  answer.text = to_text(value) + "\n";
  answer.json["expression"] = request.expression;
  const bool examines = request.table || !request.access.empty() || !request.picture.empty();
  const Layout* layout = std::get_if<Layout>(&value);
  if (layout == nullptr) {
    if (examines) {
      throw Refusal(
          fmt::format("--table, --access and -o need a layout, but this is {}.", kind_of(value)));
    }
    const std::int64_t* number = std::get_if<std::int64_t>(&value);
    if (number != nullptr) answer.json["value"] = *number;
    if (number == nullptr) answer.json["value"] = to_text(value);
    return answer;
  }
  answer.json["layout"] = to_text(value);
  if (is_static(*layout)) {
    answer.json["size"] = size(*layout);
    answer.json["cosize"] = cosize(*layout);
  }
  if (examines) examine(answer, request, *layout);
  return answer;
}

void run_layout(const LayoutRequest& request, Verdict& verdict) {
  Answer answer;
  try {
    answer = answer_to(request);
  } catch (const ExpressionError& error) {
    return verdict.refuse(with_caret(request.expression, error));
  } catch (const Refusal& refusal) {
    return verdict.refuse(refusal.what());
  }
  if (!request.picture.empty()) {
    const Status saved = save(request.picture, answer.picture);
    if (!saved.is_good()) return verdict.refuse(saved.sentence());
  }
  fmt::print("{}", answer.text);
  if (!request.picture.empty()) fmt::print("{} shows it\n", request.picture);
  // The name of a file need not be UTF-8.
  using Json = nlohmann::ordered_json;
  if (request.json) {
    fmt::print("{}\n", answer.json.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
}

std::string help_text() {
  std::string text =
      "A layout is written ((2,2),3):((24,2),8), a shape alone is compact with its first mode\n"
      "fastest, a tiler is written <3:3,(2,4):(1,8)>, and a o b is composition(a, b).\n\n"
      "Functions:\n";
  for (const Operation& operation : operations()) {
    text += fmt::format("  {:<18} {}\n", operation.name, operation.parameters);
  }
  text += "\nAccesses:\n";
  for (const AccessPattern& pattern : access_patterns()) {
    const std::string where = pattern.memory.empty() ? "" : fmt::format(" ({})", pattern.memory);
    text += fmt::format("  {:<18} {}{}\n", pattern.name, pattern.meaning, where);
  }
  return text;
}

}  // namespace

void add_layout(CLI::App& app, Verdict& verdict) {
  auto request = std::make_shared<LayoutRequest>();
  CLI::App* command =
      app.add_subcommand("layout", "evaluates layout algebra, lists and draws layouts");
  command->add_option("expression", request->expression, "e.g. 'coalesce((2,1,6):(1,6,2))'")
      ->required();
  command->add_flag("--table", request->table, "also prints every coordinate with its offset");
  command->add_option("-o,--output", request->picture, "also draws the layout to this .svg file");
  command->add_option("--access", request->access,
                      "also counts the bank conflicts of a warp that reads the layout in this way");
  command->add_option("--banks", request->banks, "nvidia or amd")->capture_default_str();
  command->add_option("--element-bytes", request->element_bytes, "the size of an element")
      ->capture_default_str();
  command->add_flag("--json", request->json, "also prints the answer as JSON, last");
  command->footer(help_text());
  command->callback([request, &verdict] { run_layout(*request, verdict); });
}

}  // namespace tw::cli
