// What the reader makes of PTX, and of what is none.
#include <gtest/gtest.h>

#include <bit>
#include <string>

#include "vgpu/ptx/forms.h"
#include "vgpu/ptx/read/module.h"

namespace tw::vgpu::ptx {
namespace {

constexpr const char* header = ".version 9.0\n.target sm_90a\n.address_size 64\n";

Module module_of(const std::string& text) {
  const Result<Module> result = read(header + text);
  EXPECT_TRUE(result.status.is_good()) << result.status.sentence();
  return result.value.value_or(Module{});
}

// The sentence with which a text is refused, which begins behind three lines of header.
std::string refusal_of(const std::string& text) {
  const Result<Module> result = read(header + text);
  EXPECT_FALSE(result.status.is_good());
  return result.status.sentence();
}

Function body_of(const std::string& statements) {
  const Module module = module_of(".visible .entry k()\n{\n" + statements + "\nret;\n}\n");
  return module.functions.empty() ? Function{} : module.functions[0];
}

TEST(PtxRead, ModuleHasVersionTargetsAndAddressSize) {
  const Result<Module> module = read(
      "// a comment\n.version 8.7\n.target sm_100a, debug\n"
      ".address_size 64\n");
  ASSERT_TRUE(module.status.is_good()) << module.status.sentence();
  EXPECT_EQ(module.value->major, 8u);
  EXPECT_EQ(module.value->minor, 7u);
  EXPECT_EQ(module.value->targets, (std::vector<std::string>{"sm_100a", "debug"}));
  EXPECT_EQ(module.value->address_size, 64u);
}

TEST(PtxRead, EntryHasParametersAndDirectives) {
  const Module module = module_of(R"(
.extern .shared .align 1024 .b8 dynamic[];
.visible .entry kernel(
  .param .u64 .ptr .global .align 16 kernel_param_0,
  .param .align 64 .b8 kernel_param_1[128]
)
.maxntid 256, 1, 1
.minnctapersm 2
.explicitcluster
.reqnctapercluster 2, 1, 1
{
  ret;
}
)");
  ASSERT_EQ(module.functions.size(), 1u);
  const Function& kernel = module.functions[0];
  EXPECT_EQ(module.find_entry("kernel"), &kernel);
  EXPECT_EQ(module.find_entry("other"), nullptr);
  EXPECT_TRUE(kernel.is_entry);
  EXPECT_EQ(kernel.linkage, "visible");
  ASSERT_EQ(kernel.parameters, 2u);
  EXPECT_EQ(kernel.variables[0].bytes(), 8u);
  EXPECT_EQ(kernel.variables[1].bytes(), 128u);
  EXPECT_EQ(kernel.variables[1].alignment, 64u);
  ASSERT_EQ(kernel.directives.size(), 4u);
  EXPECT_EQ(kernel.directives[0].name, "maxntid");
  EXPECT_EQ(kernel.directives[0].numbers, (std::vector<std::int64_t>{256, 1, 1}));
  EXPECT_EQ(kernel.directives[2].name, "explicitcluster");
  EXPECT_EQ(kernel.directives[3].numbers, (std::vector<std::int64_t>{2, 1, 1}));
  ASSERT_EQ(module.variables.size(), 1u);
  EXPECT_EQ(module.variables[0].space, Space::Shared);
  EXPECT_EQ(module.variables[0].linkage, "extern");
  EXPECT_EQ(module.variables[0].bytes(), 0u);
}

TEST(PtxRead, RegistersHaveNumbersAndNames) {
  const Function kernel = body_of(
      ".reg .pred %p<3>;\n.reg .b64 %rd<2>;\n.reg .f32 a, b;\n.reg .v4 .b32 v;\n"
      "mov.f32 b, a;\nmov.b32 v.z, v.x;\nsetp.eq.s64 %p2, %rd0, %rd1;\n");
  EXPECT_EQ(kernel.register_count, 3u + 2 + 2 + 4);
  ASSERT_EQ(kernel.instructions.size(), 4u);
  EXPECT_EQ(kernel.instructions[0].operands[0].index, 6u);
  EXPECT_EQ(kernel.register_name(6), "b");
  EXPECT_EQ(kernel.register_name(kernel.instructions[1].operands[0].index), "v.z");
  EXPECT_EQ(kernel.register_name(kernel.instructions[2].operands[0].index), "%p2");
  EXPECT_EQ(kernel.register_name(kernel.instructions[2].operands[2].index), "%rd1");
  EXPECT_EQ(kernel.range_of(4).type, "b64");
}

TEST(PtxRead, PredicatesLabelsAndBlocks) {
  const Function kernel = body_of(R"(
.reg .pred %p<2>;
.reg .b32 %r<2>;
again:
  @%p1 bra behind;
  { // a block has names of its own
    .reg .pred p;
    setp.ne.b32 p, %r0, 0;
    @!p bra again;
  }
  {
    .reg .pred p;
    setp.eq.b32 p, %r1, 0;
  }
behind:
  bra.uni again;)");
  ASSERT_EQ(kernel.instructions.size(), 6u);
  EXPECT_TRUE(kernel.instructions[0].is_predicated);
  EXPECT_FALSE(kernel.instructions[0].predicate.negated);
  EXPECT_EQ(kernel.instructions[0].operands[0].kind, Operand::Label);
  EXPECT_EQ(kernel.instructions[0].operands[0].index, 4u);
  EXPECT_TRUE(kernel.instructions[2].predicate.negated);
  EXPECT_EQ(kernel.instructions[2].operands[0].index, 0u);
  EXPECT_NE(kernel.instructions[1].operands[0].index, kernel.instructions[3].operands[0].index);
}

TEST(PtxRead, OperandsOfEveryKind) {
  const Function kernel = body_of(R"(
.reg .pred %p<2>;
.reg .b32 %r<9>;
.reg .b64 %rd<4>;
.shared .align 16 .b8 tile[64];
  mov.u64 %rd1, tile+8;
  mov.u32 %r1, %tid.x;
  ld.shared.v2.u32 {%r1, _}, [%rd1+-8];
  shfl.sync.idx.b32 %r2|%p1, %r1, 0, 31, -1;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
    [%r3], [%rd2, {%r4, %r5}], [%r6];
  mov.f32 %r1, 0f3F800000;
  mov.f64 %rd1, 0d3FF8000000000000;
  mov.f64 %rd1, -2.5e-1;
  mov.u32 %r1, (1 << 4) + 3 * -2 ^ ~0x0F & 0b110;
  ld.global.u8 %r1, [4096];)");
  const auto& code = kernel.instructions;
  ASSERT_EQ(code.size(), 11u);
  EXPECT_EQ(code[0].operands[1].kind, Operand::Variable);
  EXPECT_EQ(code[0].operands[1].value, 8);
  EXPECT_EQ(code[1].operands[1].kind, Operand::Special);
  EXPECT_EQ(code[1].operands[1].name, "%tid.x");
  EXPECT_EQ(code[2].form, "ld.shared.v2.u32");
  EXPECT_EQ(code[2].opcode(), "ld");
  EXPECT_EQ(code[2].operands[0].kind, Operand::Vector);
  EXPECT_EQ(code[2].operands[0].parts[1].kind, Operand::Sink);
  EXPECT_EQ(code[2].operands[1].kind, Operand::Address);
  EXPECT_EQ(code[2].operands[1].value, -8);
  EXPECT_EQ(code[3].operands[0].kind, Operand::Pair);
  EXPECT_EQ(code[3].operands[4].value, -1);
  ASSERT_EQ(code[4].operands[1].parts.size(), 2u);
  EXPECT_EQ(code[4].operands[1].parts[1].parts.size(), 2u);
  EXPECT_EQ(code[5].operands[1].kind, Operand::Float);
  EXPECT_EQ(code[5].operands[1].value, 0x3F800000);
  EXPECT_EQ(std::bit_cast<double>(code[6].operands[1].value), 1.5);
  EXPECT_EQ(std::bit_cast<double>(code[7].operands[1].value), -0.25);
  EXPECT_EQ(code[8].operands[1].value, ((1 << 4) + 3 * -2) ^ (~0x0F & 0b110));
  EXPECT_EQ(code[9].operands[1].value, 4096);
}

TEST(PtxRead, VariablesHaveValues) {
  const Module module = module_of(R"(
.const .align 4 .u32 table[2][3] = {{1, 2, 3}, {4}};
.global .align 8 .b64 pointer = generic(target)+4;
.global .u32 target;
.global .v4 .f32 points[] = {0f3F800000, 0f40000000, 0f00000000, 0f00000000};
.global .u32 first = 1, second = 0x10;
)");
  ASSERT_EQ(module.variables.size(), 6u);
  const Variable& table = module.variables[0];
  EXPECT_EQ(table.bytes(), 24u);
  ASSERT_EQ(table.initial.size(), 4u);
  EXPECT_EQ(table.initial[3].element, 3u);
  EXPECT_EQ(table.initial[3].value.value, 4);
  EXPECT_EQ(module.variables[1].initial[0].value.kind, Operand::Global);
  EXPECT_EQ(module.variables[1].initial[0].value.index, 2u);
  EXPECT_EQ(module.variables[1].initial[0].value.value, 4);
  EXPECT_EQ(module.variables[4].initial[0].value.value, 1);
  EXPECT_EQ(module.variables[5].initial[0].value.value, 16);
}

TEST(PtxRead, FunctionsAndCalls) {
  const Module module = module_of(R"(
.func (.param .b32 result) scaled(.param .b32 argument) ;
.visible .entry k(.param .b32 k_param)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<2>;
  { // callseq 0, 0
  .param .b32 param0;
  st.param.b32 [param0+0], %r1;
  .param .b32 retval0;
  call.uni (retval0), scaled, (param0);
  ld.param.b32 %r2, [retval0+0];
  }
  prototype: .callprototype (.param .b32 _) _ (.param .b32 _);
  call (retval1), %rd1, (param1), prototype;
  targets: .branchtargets one, two;
  brx.idx %r3, targets;
  .param .b32 retval1;
  .param .b32 param1;
one:
two:
  ret;
}
.func (.param .b32 result) scaled(.param .b32 argument)
{
  ret;
}
)");
  ASSERT_EQ(module.functions.size(), 2u);
  EXPECT_TRUE(module.functions[0].has_body);
  EXPECT_EQ(module.functions[0].results, 1u);
  EXPECT_EQ(module.functions[0].parameters, 2u);
  const Function& kernel = module.functions[1];
  const Instruction& call = kernel.instructions[1];
  EXPECT_EQ(call.form, "call.uni");
  EXPECT_EQ(call.operands[0].kind, Operand::Arguments);
  EXPECT_EQ(call.operands[1].kind, Operand::Function);
  EXPECT_EQ(call.operands[1].index, 0u);
  EXPECT_EQ(kernel.instructions[4].operands[1].kind, Operand::Table);
  ASSERT_EQ(kernel.tables.size(), 2u);
  EXPECT_EQ(kernel.tables[1].targets[1].index, 5u);
}

TEST(PtxRead, DebugLinesNameTheSource) {
  const Module module = module_of(R"(
.visible .entry k()
{
  .loc 1 12 3
  ret;
  .loc 1 20 1, function_name $info, inlined_at 1 30 2
  ret;
}
.file 1 "kernel.cu"
.section .debug_str
{
$info:
.b8 1, 2
}
)");
  const Function& kernel = module.functions[0];
  EXPECT_EQ(module.source_line(kernel.instructions[0]), "kernel.cu:12");
  EXPECT_EQ(module.source_line(kernel.instructions[1]), "kernel.cu:20");
  EXPECT_EQ(module.sections, std::vector<std::string>{"debug_str"});
}

TEST(PtxRead, UnknownFormsKeepTheirLine) {
  const Function kernel = body_of(".reg .b32 %r<2>;\nfrobnicate.wide::3.b32x2 %r1, {%r0, 2};");
  EXPECT_EQ(kernel.instructions[0].form, "frobnicate.wide::3.b32x2");
  EXPECT_EQ(kernel.instructions[0].place.line, 7u);
}

TEST(PtxRead, FormsAreCounted) {
  Forms forms;
  const Module module = module_of(
      ".entry k() { .reg .b32 %r<3>; add.s32 %r0, %r1, %r2;\n"
      "add.s32 %r0, %r1, 1; add.u32 %r0, %r1, 1; ret; }");
  count_forms(forms, module, [](const auto&, const auto&) { return true; });
  EXPECT_EQ(forms.opcodes["add"], 3u);
  EXPECT_EQ(forms.forms["add.s32"], 2u);
  EXPECT_EQ(describe(forms),
            "4 instructions, 2 opcodes, 3 forms\n      2  add.s32\n      1  add.u32\n"
            "      1  ret\n");
}

TEST(PtxRead, RefusalsNameLineColumnAndWhatWasExpected) {
  EXPECT_EQ(read("mov.u32 %r0, 1;").status.sentence(),
            "Line 1, column 1: expected '.version', with which every module begins, but there is "
            "'mov'.");
  EXPECT_EQ(refusal_of(".entry k() {\n  ret\n}\n"),
            "Line 6, column 1: expected an operand, but there is '}'.");
  EXPECT_EQ(refusal_of(".entry k() {\n  mov.u32 %r1, 2;\n}\n"),
            "Line 5, column 11: '%r1' is not declared.");
  EXPECT_EQ(refusal_of(".entry k() {\n .reg .b32 %r<2>;\n  mov.u32 %r2, 2;\n}\n"),
            "Line 6, column 11: '%r2' is not declared.");
  EXPECT_EQ(refusal_of(".entry k() {\n ret;\n"), "Line 4, column 12: this '{' is never closed.");
  EXPECT_EQ(refusal_of(".global .u32 x = 12z;\n"), "Line 4, column 18: '12z' is no number.");
  EXPECT_EQ(refusal_of(".global .u32 x;\n.global .u32 x;\n"),
            "Line 5, column 14: 'x' is declared twice.");
  EXPECT_EQ(refusal_of(".entry k() {\n#line\n}\n"),
            "Line 5, column 1: no token of PTX begins with '#'.");
  EXPECT_EQ(refusal_of(".global .align 3 .u32 x;\n"),
            "Line 4, column 9: an alignment is a power of two, and not 3.");
  EXPECT_EQ(refusal_of(".const .u32 x[2] = {1, 2, 3};\n"),
            "Line 4, column 20: 'x' has more values than elements.");
  EXPECT_EQ(refusal_of(".global .u64 x = 99999999999999999999;\n"),
            "Line 4, column 18: '99999999999999999999' does not fit into 64 bits.");
  EXPECT_EQ(refusal_of(".global .u64 x = 1 / 0;\n"),
            "Line 4, column 20: a constant is divided by zero.");
  EXPECT_EQ(refusal_of("/* no end"), "Line 4, column 1: this comment has no end.");
}

// Wherever a text breaks off, it is refused or it is a shorter module.
TEST(PtxRead, TextsThatBreakOffEndInASentence) {
  const std::string whole = std::string(header) + R"(
.extern .shared .align 16 .b8 s[];
.const .u32 table[2][2] = {{1, 2}, {3, (4 + 5) << 1}};
.func (.reg .b32 a) f(.param .b32 b) { .reg .b32 %r<3>; mov.b32 a, %r2; ret; }
.visible .entry k(.param .align 8 .b8 p[16]) .maxntid 32, 1, 1
{ .loc 1 2 3
  .reg .pred %p<2>; .reg .b64 %rd<3>; .pragma "nounroll";
  again: @!%p1 bra again; ld.param.v2.u64 {%rd1, %rd2}, [p+0];
  { .reg .b32 x; .param .b32 q; call (x), f, (q); }
  ret; }
.file 1 "a.cu"
.section .debug_x { .b8 1 })";
  ASSERT_TRUE(read(whole).status.is_good()) << read(whole).status.sentence();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const Result<Module> result = read(std::string_view(whole).substr(0, length));
    if (result.status.is_good()) continue;
    EXPECT_TRUE(result.status.sentence().starts_with("Line ")) << result.status.sentence();
  }
}

// Brackets without end do not take the reader's stack.
TEST(PtxRead, DeepBracketsAreRefused) {
  const std::string sentence = "brackets stand in more than 64 others here.";
  EXPECT_NE(refusal_of(".global .u32 x = " + std::string(100'000, '(') + "1").find(sentence),
            std::string::npos);
  EXPECT_NE(refusal_of(".entry k() " + std::string(100'000, '{')).find(sentence),
            std::string::npos);
  EXPECT_NE(refusal_of(".entry k() { mov.b32 " + std::string(100'000, '[')).find(sentence),
            std::string::npos);
  EXPECT_NE(refusal_of(".global .u32 x = " + std::string(100'000, '-') + "1").find(sentence),
            std::string::npos);
}

}  // namespace
}  // namespace tw::vgpu::ptx
