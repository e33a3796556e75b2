// The families behind the functions of tilewright.h, which serve them all.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tilewright.h"
#include "tilewright/launch/matmul_order.h"

namespace tw {
struct Description;
struct Dispatcher;
}

namespace tw::library {

// What the functions of tilewright.h ask of a family. Problems are its own struct, by address; what
// is wrong is thrown.
struct FamilyCalls {
  const char* name;
  std::size_t problem_size;
  const Description* description;
  const Dispatcher* dispatcher;  // null: it has no cost model
  std::vector<std::string> (*instances)();
  void (*initialise)(void* problem);  // all but its size and family
  void (*supported)(const void* problem, const tw_options* options);
  std::size_t (*workspace_size)(const void* problem, const tw_options* options);
  void (*run)(const void* problem, const tw_options* options, const Workspace& workspace,
              void* stream);
  tw_plan* (*plan)(const void* problem, const tw_options* options);
  void (*run_plan)(const tw_plan& plan, const void* problem, const Workspace& workspace,
                   void* stream);
  void (*simulate)(const void* problem, const tw_options* options);
};

// A family's file has one, which hands out its number when the library is loaded.
struct Registered {
  explicit Registered(const FamilyCalls& family);
};

std::span<const FamilyCalls* const> families();

// The number that problems of a family carry; it counts from 1.
std::uint64_t number_of(const FamilyCalls& family);
const FamilyCalls& family_named(const char* name);
const FamilyCalls& family_of(const void* problem);

// Writes batch, rows and columns of each tensor; throws where a number, a rule or a type of the
// problem is not sound.
void tell_extents(std::span<std::int64_t> extents, const FamilyCalls& family, const void* problem);

}  // namespace tw::library

// What every family's plans have.
struct tw_plan {
  virtual ~tw_plan() = default;
  const tw::library::FamilyCalls* family = nullptr;
  std::size_t workspace_bytes = 0;
  std::string command;
};
