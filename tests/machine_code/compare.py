"""Compares the machine code of the composed matmul with a flat, hand-written twin, on one target.

Both are compiled to cubins, which are ELF files; no disassembler is needed. Held to: equal
registers as they are allocated, equal parameter bytes, equal counts of tensor, copy and barrier
instructions, instruction counts within 0.5 %, and a k loop that is no longer than the twin's. Also
shown: tracing that is switched off changes no byte. Planted changes to either side must be caught:
otherwise agreement would prove nothing."""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
from looped_code import SIGNALS, TMA, LoopedCode

TOLERANCE = 0.005

class Target:
    """One pair of kernels: how they are compiled, where they are, what is counted in them, and
    which changes must be caught. The first tensor operation is the product."""

    def __init__(self, architecture, flat, flat_epilogue, composed, operations, traced, planted, leaves="return;"):
        self.architecture = architecture
        self.flat = flat
        self.flat_epilogue = flat_epilogue
        self.composed = composed
        self.operations = operations
        self.traced = traced    # whether the composed kernel can be compiled with tracing
        self.planted = planted  # in the composed kernel: name -> edits of the headers
        self.leaves = leaves    # how the flat epilogue ends where it stores nothing


# What both kernels store through.
PLANTED_IN_STAGING = {
    "one fence more in the composed kernel": [
        ("pipeline/staging.h", r"(isa::fence_proxy_async\(\);)",
         r"\1 isa::fence_mbarrier_init(); \1")],
    "one barrier more in the composed kernel": [
        ("pipeline/staging.h", r"(isa::barrier_sync\(barrier_, threads\);)", r"\1 \1")],
}

TARGETS = {
    "sm_90a": Target(
        "90a", "flat_wgmma.cu", "flat_matrix_epilogue.h", "composed_wgmma.cu",
        {
            "tensor": {0x1f0: "HGMMA"},
            "copy": TMA | {0x044: "STSM"},
            "barrier": SIGNALS | {0x1c5: "WARPGROUP", 0x1c8: "USETMAXREG"},
        },
        traced=True,
        planted=PLANTED_IN_STAGING | {
            "one wait for products more in the composed kernel": [
                ("op/wgmma.h", r"(isa::wgmma_wait_group<stages_held>\(\);)",
                 r"\1 isa::wgmma_fence(); \1")],
        }),
    "sm_100a": Target(
        "100a", "flat_tcgen05.cu", "flat_row_epilogue.h", "composed_tcgen05.cu",
        {
            # UTCATOMSWS takes and gives back columns of tensor memory.
            "tensor": {0x1ea: "UTCHMMA", 0x1ee: "LDTM", 0x1e3: "UTCATOMSWS"},
            "copy": TMA | {0x188: "STS"},
            "barrier": SIGNALS | {0x1e9: "UTCBAR"},
        },
        traced=False,
        planted=PLANTED_IN_STAGING | {
            "one product more in the composed kernel": [
                ("op/tcgen05.h", r"(isa::tcgen05_mma<kind, tiling.group>\([^;]*;)", r"\1 \1")],
            "one commit more in the composed kernel": [
                ("pipeline/mbarrier.h", r"(isa::tcgen05_commit<1>\(full\);)", r"\1 \1")],
            "descriptors made anew for each product of the composed kernel": [
                ("op/tcgen05.h", r"\bb \+ (BlocksB::units\(0, k, span, 0\))",
                 r"b_descriptor + in_descriptor(at * 16 + Tensors::b_at) + \1")],
        },
        leaves="return let_go(empty, group.thread);"),
}
REGISTER_UNIT = 8  # a thread gets whole units

parser = argparse.ArgumentParser()
parser.add_argument("--nvcc", required=True)
parser.add_argument("--include", required=True, type=pathlib.Path)
parser.add_argument("--target", required=True, choices=TARGETS)
arguments = parser.parse_args()
TARGET = TARGETS[arguments.target]


class Kernel(LoopedCode):
    """The one kernel of a cubin, with its k loop."""

    def __init__(self, path):
        super().__init__(path.read_bytes(), next(iter(TARGET.operations["tensor"])))


INSTRUCTIONS = "instructions"
REGISTERS = "registers, in eights"
K_LOOP = "k loop: instructions"


def rows(kernel):
    """Everything that is compared, by label."""
    table = {INSTRUCTIONS: len(kernel.words), K_LOOP: len(kernel.k_loop_words()),
             REGISTERS: -(-kernel.registers // REGISTER_UNIT),
             "parameter bytes": kernel.parameter_bytes}
    present = collections.Counter(kernel.operations)
    for group, names in TARGET.operations.items():
        table |= {f"{group}: {name}": present[number] for number, name in names.items()}
    return table


def disagreements(flat, composed):
    """Every row in which the composed kernel misses the bar, with its two numbers."""
    expected, seen = rows(flat), rows(composed)
    return {label: (expected[label], seen[label]) for label in expected
            if not agrees(label, expected[label], seen[label])}


def agrees(label, flat, composed):
    if label == INSTRUCTIONS:
        return abs(composed - flat) <= TOLERANCE * flat
    if label in (K_LOOP, REGISTERS):
        return composed <= flat
    return composed == flat


def compile_kernel(folder, name, source, include, defines=()):
    path = folder / f"{name}.cubin"
    subprocess.run([arguments.nvcc, "-cubin", "-std=c++20", "--expt-relaxed-constexpr", "-O3",
                    "-gencode",
                    f"arch=compute_{TARGET.architecture},code=sm_{TARGET.architecture}",
                    "-I", str(include), *defines, "-o", str(path), str(source)], check=True)
    return Kernel(path)


def changed(text, pattern, replacement, where):
    result, count = re.subn(pattern, replacement, text, flags=re.MULTILINE)
    if count == 0:
        sys.exit(f"Nothing in {where} matches '{pattern}': the change cannot be planted.")
    return result


def changed_headers(folder, name, edits):
    """A copy of the headers in which each of `edits` (file, pattern, replacement) is made."""
    copy = folder / name
    shutil.copytree(arguments.include, copy)
    for file, pattern, replacement in edits:
        path = copy / "tilewright" / file
        path.write_text(changed(path.read_text(), pattern, replacement, file))
    return copy


def changed_flat(folder, name, file, pattern, replacement):
    """A copy of the flat kernel in which one of its files is changed."""
    copy = folder / name
    copy.mkdir()
    for path in [HERE / TARGET.flat, *HERE.glob("flat_*.h")]:
        shutil.copy(path, copy)
    changed_file = copy / file
    changed_file.write_text(changed(changed_file.read_text(), pattern, replacement, file))
    return copy / TARGET.flat


# A statement that only traces.
TRACE_CALL = r"^ *(\w+->)?trace_\.(waits|goes|releases)\(.*\);\n"


def without_trace_calls(folder):
    headers = folder / "untraced"
    shutil.copytree(arguments.include, headers)
    removed = 0
    for path in headers.rglob("*.h"):
        text, count = re.subn(TRACE_CALL, "", path.read_text(), flags=re.MULTILINE)
        removed += count
        path.write_text(text)
    # The two ends of a ring alone have three calls each.
    if removed < 6:
        sys.exit(f"Only {removed} trace calls were found in the headers.")
    return headers, removed


with tempfile.TemporaryDirectory() as name:
    scratch = pathlib.Path(name)
    flat_source = HERE / TARGET.flat
    composed_source = HERE / TARGET.composed
    stripped, trace_calls = without_trace_calls(scratch)
    # What a plain epilogue runs, without the mixes beside it: a small difference shows.
    plain_headers = changed_headers(scratch, "plain", [
        ("epilogue/runtime.h", r"return body\(Mix\{params\}\);", "return;")])
    plain_flat = changed_flat(scratch, "plain_flat", TARGET.flat_epilogue, r"(^ *)if \(plain\) \{",
                              rf"\1if (!plain) {TARGET.leaves}\n\1{{")
    planted = {
        job: (composed_source, changed_headers(scratch, f"planted_{number}", edits))
        for number, (job, edits) in enumerate(TARGET.planted.items())
    }
    planted["one barrier less in the flat kernel"] = (
        changed_flat(scratch, "flat_with_barrier_less", "flat_output.h",
                     r"isa::fence_proxy_async\(\);\n *isa::barrier_sync\(group.barrier, 128\);",
                     "isa::fence_proxy_async();"), arguments.include)
    jobs = {
        "flat": (flat_source, arguments.include),
        "composed": (composed_source, arguments.include),
        "stripped": (composed_source, stripped),
        "flat, plain alone": (plain_flat, arguments.include),
        "composed, plain alone": (composed_source, plain_headers),
        **planted,
    }
    if TARGET.traced:
        jobs["traced"] = (composed_source, arguments.include, ("-DTW_TRACED",))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        futures = {job: pool.submit(compile_kernel, scratch, f"kernel_{number}", *how)
                   for number, (job, how) in enumerate(jobs.items())}
        kernels = {job: future.result() for job, future in futures.items()}

flat = kernels["flat"]
composed = kernels["composed"]
print(f"{'':24}{'flat':>10}{'composed':>10}")
for label, count in rows(flat).items():
    print(f"{label:24}{count:10}{rows(composed)[label]:10}")
same = flat.k_loop_words() == composed.k_loop_words()
print(f"k loop byte-identical: {'yes' if same else 'no'}")

failures = 0


def judge(good, sentence):
    global failures
    failures += not good
    print(f"{'ok  ' if good else 'FAIL'} {sentence}")


# Were the opcodes of another compiler different, equal counts of nothing would agree.
absent = [label for label, count in rows(flat).items() if count == 0]
judge(not absent, f"the flat kernel has every operation of the table {' '.join(absent)}".rstrip())
missed = disagreements(flat, composed)
judge(not missed, "the composed kernel is as good as the flat one")
for label, (left, right) in missed.items():
    print(f"     {label}: {left} flat, {right} composed")
plain_flat_count, plain_count = (rows(kernels[f"{side}, plain alone"])[INSTRUCTIONS]
                                 for side in ("flat", "composed"))
judge(plain_count <= (1 + TOLERANCE) * plain_flat_count,
      f"nor does a mix hide anything: {plain_count} instructions without it, "
      f"{plain_flat_count} flat")
judge(kernels["stripped"].text == composed.text,
      f"without its {trace_calls} trace calls the kernel is the same to the byte")
if TARGET.traced:
    judge(kernels["traced"].text != composed.text, "with tracing on it is not")
for job in planted:
    kernel = kernels[job]
    caught = (disagreements(kernel, composed) if job.endswith("flat kernel")
              else disagreements(flat, kernel))
    # A row in which the kernels differ anyway catches nothing.
    caught = [label for label in caught if label not in missed]
    judge(caught, f"planted: {job}, shown by {', '.join(caught) or 'nothing'}")
sys.exit(1 if failures else 0)
