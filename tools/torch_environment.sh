#!/usr/bin/env bash
# torch_environment.sh: makes build/torch, a Python environment with numpy and torch, in which the tests python_torch* run.
# A python3 that has both already lends them; otherwise they come from PyPI. Prints the environment's Python; 1: it cannot be had.
# TW_TORCH names another version of torch, or a wheel's file; TW_PYTHON another Python to begin with.
set -euo pipefail
checkout=$(dirname "$(dirname "$(readlink -f "$0")")")
folder=$checkout/build/torch
torch=${TW_TORCH:-2.8.0}

fail() { echo "torch_environment: $*" >&2; exit 1; }
say() { echo "torch_environment: $*" >&2; }
has_both() { "$1" -c 'import numpy, torch; torch.library.custom_op' >/dev/null 2>&1; }

[ $# -eq 0 ] || { echo "torch_environment: it takes no '$1'" >&2; exit 2; }
# One makes it at a time: others wait, and then find it there. The lock is held by whatever of it still runs.
if command -v flock >/dev/null && mkdir -p "$checkout/build" 2>/dev/null && [ -w "$checkout/build" ]; then
  exec 9>"$checkout/build/torch.lock"
  flock -n 9 || { say "another one makes $folder; waiting for it"; flock 9; }
fi
if [ -x "$folder/bin/python3" ] && has_both "$folder/bin/python3"; then
  say "$folder is there"
  echo "$folder/bin/python3"
  exit 0
fi

first=
for python in ${TW_PYTHON:+"$TW_PYTHON"} python3 /usr/bin/python3; do
  command -v "$python" >/dev/null || continue
  if has_both "$python"; then first=$python; break; fi
  # torch's wheels are for these.
  if [ -z "$first" ] && "$python" -c 'import sys, venv, ensurepip; sys.exit(not (3, 9) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; then first=$python; fi
done
[ -n "$first" ] || fail "no python3 from 3.9 to 3.13 with venv was found; TW_PYTHON names one (Debian: sudo apt-get install -y python3-venv)"

mkdir -p "$checkout/build" || fail "$checkout/build cannot be written"
log=$checkout/build/torch.log
rm -rf "$folder"
"$first" -m venv --system-site-packages "$folder" >"$log" 2>&1 || fail "$first made no environment in $folder (log: $log)"
# An environment made from another one does not see that one's packages by itself.
if has_both "$first" && ! has_both "$folder/bin/python3"; then
  "$first" -c 'import numpy, os, torch; print("\n".join({os.path.dirname(os.path.dirname(m.__file__)) for m in (numpy, torch)}))' \
    > "$("$folder/bin/python3" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/borrowed.pth"
fi
if has_both "$folder/bin/python3"; then
  say "$first has torch: $folder borrows it"
else
  case $torch in *.whl) wanted=$torch ;; *) wanted=torch==$torch ;; esac
  size="about 100 MB"
  [ "$(uname -m)" != x86_64 ] || size="about 3 GB, for on x86_64 PyPI's wheel is the one with CUDA; it runs on the CPU as well"
  say "installing numpy and $wanted from PyPI into $folder ($size)"
  "$folder/bin/python3" -m pip install --quiet --disable-pip-version-check numpy "$wanted" >>"$log" 2>&1 ||
    { rm -rf "$folder"; tail -3 "$log" >&2; fail "numpy and $wanted could not be installed (log: $log)"; }
  has_both "$folder/bin/python3" || { rm -rf "$folder"; fail "numpy and $wanted were installed, but cannot be imported (log: $log)"; }
fi
echo "$folder/bin/python3"
