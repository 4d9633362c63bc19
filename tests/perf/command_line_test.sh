#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# command_line_test.sh SUEDE_PERF: exit codes and streams of the command line. No endpoint needed.
set -u
perf=$1
failures=0
out=$(mktemp) err=$(mktemp)
trap 'rm -f "$out" "$err"' EXIT

# expect CODE STREAM PATTERN ARGUMENTS...: the exit code, and where the pattern is printed.
expect() {
  code=$1 stream=$2 pattern=$3
  shift 3
  "$perf" "$@" >"$out" 2>"$err"
  got=$?
  case $stream in stdout) text=$out silent=$err ;; *) text=$err silent=$out ;; esac
  if [ "$got" != "$code" ] || ! grep -q -e "$pattern" "$text" || [ -s "$silent" ]; then
    echo "FAILED: $* gave $got, wanted $code with '$pattern' on $stream alone"
    cat "$out" "$err"
    failures=$((failures + 1))
  fi
}

none=$(mktemp -u)/xpu.sock
expect 2 stderr '--atomic: fetch_add' --mode atomic --atomic add --destinations 2
expect 2 stderr '--size: an atomic has 4 or 8' --mode atomic --size 16 --destinations 2
expect 2 stderr '--vcs: leave one' --mode put --vcs 0-3 --destinations 2
expect 4 stderr '--endpoint' --mode put --sizes 1048576 --destinations 2 --endpoint "$none"
expect 4 stderr '--endpoint' --mode server --reaction memory --endpoint "$none"
expect 0 stdout '--destinations' --help
expect 0 stdout '--destinations' -h
expect 0 stdout 'suede-perf [0-9]' --version
expect 2 stderr 'no_such_flag' --no_such_flag
expect 2 stderr 'size' --size=many --destinations 2
expect 2 stderr 'count' --count=many --destinations 2
expect 2 stderr '--destinations' --mode bandwidth
expect 2 stderr '--mode' --mode fast
expect 2 stderr '--reaction' --mode server --reaction reflect
expect 2 stderr '--destinations is the client' --mode server --destinations 2
expect 0 stdout '--warmup (double; default 0.2)' --help
expect 2 stderr '--vcs: 4 is too large' --destinations 2 --vcs 4
expect 2 stderr '"stray"' --destinations 2 stray
expect 2 stderr '--config' --embed --destinations 2
expect 2 stderr 'no.such.yaml' --embed --config /no/such.yaml --destinations 2
expect 4 stderr '--endpoint' --destinations 2 --endpoint "$none"
expect 2 stderr '--balance: round_robin' --destinations 2 --instances 0,1 --balance fair
expect 2 stderr '--instances needs --xpuid' --destinations 2 --instances 0,1 --balance hash
expect 2 stderr '64 is too large' --mode server --xpuid 1 --instances 0,64
expect 4 stderr '--endpoint' --destinations 2 --xpuid 1 --instances 0,1 --balance hash --endpoint "$none"
expect 4 stderr '--endpoint' --mode server --endpoint "$none"
# An output that cannot be written is named before the run, and so before the daemon is looked for.
expect 1 stderr '/no/such/out.json: No such file' --json /no/such/out.json --destinations 2 --endpoint "$none"
expect 4 stderr '--endpoint' --json - --destinations 2 --endpoint "$none"
expect 2 stderr '--interval' --interval=-1 --destinations 2
expect 2 stderr '--embed' --mode peer --embed --config "$none" --destinations 2
conf=$(dirname "$0")/../../conf/memif-pair-left.yaml
expect 2 stderr "XPU 9 is no peer.*its peers are XPU 1 ($conf)" --embed --config "$conf" --destinations 1,9
expect 2 stderr '--destinations' --mode peer --endpoint "$none"
expect 4 stderr '--endpoint' --mode peer --destinations 2 --endpoint "$none"
SUEDE_PERF_VCS=9 expect 2 stderr '--vcs' --destinations 2
SUEDE_PERF_COUNT=many expect 2 stderr 'SUEDE_PERF_COUNT' --destinations 2
SUEDE_PERF_VCS=9 expect 4 stderr '--endpoint' --destinations 2 --vcs 1 --endpoint "$none"
# Short flags, and the remedy of each rejected flag.
expect 0 stdout '^  -s, --size (string; default 64)' -h
expect 0 stdout 'suede-perf [0-9]' -V
expect 2 stderr "^suede-perf: -F is no flag; those of one letter are -a -b" -F -s 64
expect 2 stderr '^suede-perf: --size: "many" is neither' -s many --destinations 2
expect 2 stderr '^suede-perf: --sise is no flag; did you mean --size' --sise 4 --destinations 2
expect 2 stderr '^suede-perf: --help lists the flags' -n many --destinations 2
expect 2 stderr '^suede-perf: --units: Gb/s, Mb/s' --units Tb/s --destinations 2
expect 2 stderr '^suede-perf: --inflights: give' --mode latency --inflights 0 --destinations 2
expect 2 stderr '^suede-perf: --histogram, .*take --mode latency' -H --destinations 2
expect 1 stderr '^suede-perf: --samples: cannot write /no/such/s.csv' --samples /no/such/s.csv --mode latency --destinations 2 -d "$none"
expect 1 stderr '^suede-perf: --csv: cannot write /no/such/r.csv' --csv /no/such/r.csv --destinations 2 -d "$none"
expect 4 stderr '--endpoint' --mode latency -a -t 4 -D 1 -S 0,1 --destinations 2 -d "$none"
[ "$failures" = 0 ]
