// A PTX module as its text says it. Names are resolved; what an instruction means is not asked
// here, so that no form is lost that nobody executes yet.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tw::vgpu::ptx {

// Where something stands in the text; both count from 1.
struct Place {
  unsigned line = 0;
  unsigned column = 0;
};

enum class Space : std::uint8_t { Parameter, Shared, Local, Global, Constant };
const char* name_of(Space space);

struct Operand {
  enum Kind : std::uint8_t {
    Register,   // `index` is its number in the function
    Special,    // `name`: "%tid.x"
    Variable,   // the address of one of the function's; `index`, and `value` bytes behind it
    Global,     // the same of the module's
    Label,      // `index` is the instruction that it stands before
    Table,      // a .branchtargets, .calltargets or .callprototype: `index` in the function
    Function,   // `index` in the module
    Integer,    // `value`
    Float,      // `value` has the bits of a float
    Double,     // `value` has the bits of a double
    Sink,       // _
    Vector,     // {a, b}: `parts`
    Address,    // [a+4] or [a, {b, c}]: the first of `parts` is where, `value` bytes are added
    Arguments,  // (a, b) of a call: `parts`
    Pair,       // a|b: `parts`
    Name,       // not resolved yet: no operand of a module that was read is one
  };
  Kind kind = Name;
  bool negated = false;  // !p, or -r
  std::uint32_t index = 0;
  std::int64_t value = 0;
  std::string name = {};
  std::vector<Operand> parts = {};
  Place place = {};
};

struct Instruction {
  std::string form;  // "ld.global.v4.u32": the opcode with all that follows it by dots
  std::vector<Operand> operands;
  bool is_predicated = false;
  Operand predicate;  // a Register, perhaps negated
  Place place;
  int location = -1;  // in Module::locations; -1: no .loc stands before it

  // "ld" of "ld.global.v4.u32".
  std::string_view opcode() const { return std::string_view(form).substr(0, form.find('.')); }
};

// `count` registers that follow each other, of one type: of ".reg .b32 %r<8>", or alone.
struct RegisterRange {
  std::string prefix;
  std::string type;         // "b32", "pred"
  std::uint32_t first = 0;  // number in the function
  std::uint32_t count = 1;
  unsigned vector = 1;  // each component of .v2 and .v4 is a register
  bool is_numbered = false;
};

// A value with which memory begins: a number, or an address.
struct Initial {
  std::uint64_t element;
  Operand value;
};

struct Variable {
  std::string name;
  Space space = Space::Global;
  std::string type;  // "b8"
  unsigned alignment = 0;
  unsigned vector = 1;
  bool is_array = false;
  std::vector<std::uint64_t> extents;  // 0: as long as who launches says
  std::vector<Initial> initial;
  std::string linkage;  // "extern", "visible", "weak", "common"; empty: none
  Place place;

  std::uint64_t elements() const;
  std::uint64_t bytes() const;
};

// Bytes of an element; 0: the type has no size (pred, texref).
unsigned bytes_of_type(std::string_view type);

// .maxntid 256, 1, 1
struct Directive {
  std::string name;  // "maxntid"
  std::vector<std::int64_t> numbers;
  std::string text;  // a .pragma's
  Place place;
};

// Labels or functions that a brx or a call may go to; a prototype has none.
struct Table {
  std::string kind;  // "branchtargets", "calltargets", "callprototype"
  std::vector<Operand> targets;
  Place place;
};

struct Function {
  std::string name;
  bool is_entry = false;
  bool has_body = false;
  std::string linkage;
  std::vector<RegisterRange> registers;
  std::uint32_t register_count = 0;
  std::vector<Variable> variables;         // parameters first: results, then arguments
  std::uint32_t results = 0;               // how many of the variables are results
  std::uint32_t parameters = 0;            // how many are results or arguments
  std::vector<std::uint32_t> by_register;  // parameters in registers: their numbers, in order
  std::vector<Directive> directives;
  std::vector<Table> tables;
  std::vector<Instruction> instructions;
  Place place;

  const RegisterRange& range_of(std::uint32_t number) const;
  std::string register_name(std::uint32_t number) const;
};

// A line of the source that the compiler read.
struct Location {
  unsigned file = 0, line = 0, column = 0;
};

struct Module {
  unsigned major = 0, minor = 0;  // .version
  std::vector<std::string> targets;
  unsigned address_size = 32;
  std::vector<Variable> variables;
  std::vector<Function> functions;
  std::vector<Directive> directives;
  std::vector<std::string> sections;  // debug information, by name
  std::vector<std::pair<unsigned, std::string>> files;
  std::vector<Location> locations;

  // Null if there is none.
  const Function* find_entry(std::string_view name) const;
  // "kernel.cu:12", or nothing where an instruction has no .loc.
  std::string source_line(const Instruction& instruction) const;
};

}  // namespace tw::vgpu::ptx
