// What the measurements of all families have in common on the command line.
#pragma once

#include <initializer_list>
#include <string>

#include "src/bench/report.h"

namespace tw::bench {

// Prints the sentence; the exit status of a bad request.
int refuse(const std::string& sentence);

// About this machine, this tree and this command; the rest is the caller's.
RunFacts facts_of_run(int argc, char** argv);

// A sentence about the first file that cannot be written; empty names are no files.
std::string unwritable(std::initializer_list<std::string> paths);
void write_file(const std::string& path, const std::string& text);

// ./tw bench conv2d, and grouped
int measure_conv2d(int argc, char** argv);
int measure_grouped(int argc, char** argv);

}  // namespace tw::bench
