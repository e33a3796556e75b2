#include "src/bench/harness/request.h"

#include <fmt/chrono.h>

#include <cstdio>
#include <ctime>
#include <fstream>

#include "src/bench/harness/command_output.h"
#include "src/bench/harness/device.h"
#include "src/checkout.h"
#include "src/library/failure.h"
#include "src/verify/gpu.h"

namespace tw::bench {

int refuse(const std::string& sentence) {
  std::fprintf(stderr, "tw: %s\n", sentence.c_str());
  return 2;
}

int run_command(CLI::App& app, int argc, char** argv, const std::function<Status()>& read,
                const std::function<int()>& run) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    return refuse(error.what());
  }
  const Status status = read();
  if (!status.is_good()) return status.sentence().empty() ? 2 : refuse(status.sentence());
  if (const std::string why = why_no_gpu(); !why.empty()) {
    return refuse("Measuring needs the GPU. " + why);
  }
  try {
    return run();
  } catch (const library::Failure& failure) {
    return refuse(failure.sentence);
  }
}

RunFacts facts_of_run(int argc, char** argv, const std::string& family, const std::string& type,
                      int rounds, double slice_milliseconds) {
  RunFacts facts;
  facts.family = family;
  facts.type = type;
  facts.rounds = rounds;
  facts.slice_milliseconds = slice_milliseconds;
  facts.date = fmt::format("{:%F %T} UTC", fmt::gmtime(std::time(nullptr)));
  facts.device = device_name();
  facts.driver = driver_version();
  const std::string git = fmt::format("git -C '{}'", in_checkout("."));
  facts.commit = first_line(git + " rev-parse HEAD 2>/dev/null");
  if (!facts.commit.empty() &&
      !first_line(git + " status --porcelain --untracked-files=no 2>/dev/null").empty()) {
    facts.commit += ", and changes";
  }
  facts.command = "./tw bench";
  for (int i = 1; i < argc; ++i) facts.command += std::string(" ") + argv[i];
  return facts;
}

std::string unwritable(std::initializer_list<std::string> paths) {
  for (const std::string& path : paths) {
    if (!path.empty() && !std::ofstream(path, std::ios::app)) {
      return "The file '" + path + "' cannot be written.";
    }
  }
  return "";
}

void write_file(const std::string& path, const std::string& text) {
  if (path.empty()) return;
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) std::fprintf(stderr, "tw: The file '%s' could not be written.\n", path.c_str());
}

}  // namespace tw::bench
