#!/usr/bin/env bash
# Measures every row of README's table at one commit: the held-out sets and the suites, both columns.
# usage: [COMMIT=hash] measure_all.sh BUILD OUT [smoke | SET...]
#
# BUILD is a folder in which tilewright_bench and tilewright_library were built; OUT takes a log, a CSV and a JSON file of each
# set, and page.md, made of all that are there. Without a SET all are measured; the names are those below. A set is given a
# time, after which no further shape is begun; all of them together take at most 14 minutes. COMMIT is said where the tree has
# no repository.
# smoke: a few shapes of development sets, to see that everything runs; held-out sets are measured once per version, not more.
set -u
if [ $# -lt 2 ]; then sed -n '3p' "$0" | cut -c3- >&2; exit 2; fi
checkout=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$1" && pwd) || exit 2
mkdir -p "$2" && out=$(cd "$2" && pwd) || exit 2
shift 2
wanted=" $* "
bench=$build/src/tilewright_bench
library=$(ls "$build"/src/library/libtilewright.so* 2>/dev/null | head -1)
if [ ! -x "$bench" ]; then echo "measure_all.sh: there is no $bench: build the target tilewright_bench." >&2; exit 2; fi
if [ -z "$library" ]; then echo "measure_all.sh: there is no libtilewright.so in $build/src/library: build it." >&2; exit 2; fi
cd "$checkout" || exit 2
began=$(date +%s)
failed=0

# measure NAME COMMAND...: its output goes to NAME.log; lines tell when it begins and how it ended.
measure() {
  local name=$1
  shift
  case $wanted in *" $name "* | "  " | " smoke ") ;; *) return ;; esac
  echo "$(($(date +%s) - began)) s: $name" >&2
  "$@" --csv "$out/$name.csv" --json "$out/$name.json" > "$out/$name.log" 2>&1
  local status=$?
  grep -E "^\| all \||^No time was left|^Not computed" "$out/$name.log" | cut -c1-200 >&2
  if [ $status -ne 0 ]; then
    failed=1
    echo "$name ended with $status: $(tail -1 "$out/$name.log" | cut -c1-300)" >&2
  fi
}

how=(--between --slice 20 --rounds 3)
if [ -n "${COMMIT:-}" ]; then how+=(--commit "$COMMIT"); fi
held=bench/held_out
if [ "$wanted" = " smoke " ]; then
  shapes=bench/shapes
  echo '{"shapes": [{"groups": 8, "rows": 256, "n": 4096, "k": 4096}, {"groups": 8, "rows": 8192, "n": 4096, "k": 4096}]}' > "$out/groups.json"
  measure bf16 "$bench" matmul --suite $shapes/bf16-development.json "${how[@]}" --seconds 4
  measure e4m3 "$bench" matmul --suite $shapes/e4m3-development.json "${how[@]}" --seconds 3
  measure blockwise "$bench" blockwise --suite $shapes/blockwise-development.json "${how[@]}" --seconds 3
  measure grouped python3 bench/beside_torch.py "$out/groups.json" --library "$library" "${how[@]}" --seconds 3
  measure attention python3 bench/beside_torch.py bench/suites/attention-bf16.json --library "$library" "${how[@]}" --seconds 4
  measure conv2d "$bench" conv2d --suite $shapes/conv2d-development.json --epilogue none --plan-seconds 1.5 "${how[@]}" --seconds 6
else
  measure bf16 "$bench" matmul --suite $held/bf16.json "${how[@]}" --seconds 85
  measure e4m3 "$bench" matmul --suite $held/e4m3.json "${how[@]}" --seconds 80
  measure blockwise "$bench" blockwise --suite $held/blockwise.json "${how[@]}" --seconds 80
  measure grouped python3 bench/beside_torch.py $held/grouped.json --library "$library" "${how[@]}" --seconds 80
  measure attention python3 bench/beside_torch.py $held/attention.json --library "$library" "${how[@]}" --seconds 110
  measure conv2d "$bench" conv2d --suite $held/conv2d.json --epilogue none --plan-seconds 1.2 "${how[@]}" --seconds 160
  measure suite-bf16 "$bench" matmul --suite bf16 "${how[@]}" --seconds 70
  measure suite-fp8 "$bench" matmul --suite fp8 "${how[@]}" --seconds 60
  measure suite-conv2d "$bench" conv2d --suite bf16 --epilogue none --plan-seconds 1.2 "${how[@]}" --seconds 50
fi
python3 tools/measured_page.py "$out" > "$out/page.md" || failed=1
echo "$(($(date +%s) - began)) s: $out/page.md" >&2
exit $failed
