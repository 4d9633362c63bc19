#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# command_line_test.sh SUEDECTL: exit codes, streams, help and completion. No daemon needed.
set -u
ctl=$1
failures=0
out=$(mktemp) err=$(mktemp)
trap 'rm -f "$out" "$err"' EXIT

# expect CODE STREAM PATTERN ARGUMENTS...: the exit code, and where alone the pattern is printed.
expect() {
  local code=$1 stream=$2 pattern=$3 got text silent
  shift 3
  "$ctl" "$@" >"$out" 2>"$err" </dev/null
  got=$?
  case $stream in stdout) text=$out silent=$err ;; *) text=$err silent=$out ;; esac
  if [ "$got" != "$code" ] || ! grep -q -e "$pattern" "$text" || [ -s "$silent" ]; then
    echo "FAILED: $* gave $got, wanted $code with '$pattern' on $stream alone"
    cat "$out" "$err"
    failures=$((failures + 1))
  fi
}

none=$(mktemp -u)/management.sock
unset SUEDE_CTL_SOCKET SUEDE_CTL_ENDPOINT
expect 0 stdout 'counters get ' --help
expect 0 stdout 'Exit codes' -h
expect 0 stdout 'suedectl [0-9]' --version
expect 0 stdout 'usage: suedectl log set_level LEVEL' log set_level --help
expect 0 stdout 'nonzero_only' counters get -h
expect 0 stdout 'counters delta' counters --help
expect 0 stdout 'complete -o' completion
expect 2 stderr 'suedectl --help'
expect 4 stderr 'no daemon' port list  # as ports list
expect 2 stderr 'did you mean ports list' ports lst
expect 2 stderr 'did you mean log set_level' log setlevel debug
expect 2 stderr 'there are counters get, counters delta' counters
expect 2 stderr 'unknown command .frobnicate.; see suedectl --help' frobnicate
expect 2 stderr 'did you mean --nonzero_only' counters get --nonzero-only
expect 2 stderr 'did you mean --socket' --sockt x ports list
expect 2 stderr 'scope: is none of the choices; use total' counters get --scope world
expect 2 stderr 'level: is missing' log set_level
expect 2 stderr 'one argument too many' ports list p0
expect 2 stderr 'takes a value' counters get --scope
expect 2 stderr 'give a path with --socket' --endpoint /tmp/x ports list
expect 2 stderr '0.01' --every 0 ports list
expect 2 stderr 'goes with --every' --times 3 ports list
expect 0 stdout 'usage: suedectl watch events' watch events --help
expect 0 stdout 'usage: suedectl top \[--peers PEERS\]' top --help
expect 0 stdout 'watch events ' --help
expect 2 stderr 'kind: is none of the choices' watch events --kind nonsense
expect 2 stderr 'did you mean watch events' watch event
expect 4 stderr 'no daemon' --socket "$none" watch events
expect 4 stderr 'no daemon' --socket "$none" --times 1 top
expect 4 stderr 'no daemon' --socket "$none" ports list
expect 4 stderr 'no daemon' version --endpoint "no-such-endpoint-$$"
SUEDE_CTL_SOCKET="$none" expect 4 stderr "$none" ports list
SUEDE_CTL_ENDPOINT="no-such-$$" expect 4 stderr "no-such-$$" ports list

# completes WANTED WORDS...: the completions of the last word.
completes() {
  local wanted=$1 got
  shift
  got=$(bash -c 'source <("$0" completion); COMP_WORDS=(suedectl "$@"); COMP_CWORD=$#; _suedectl
    echo "${COMPREPLY[@]}"' "$ctl" "$@")
  if [ "$got" != "$wanted" ]; then
    echo "FAILED: '$*' completes to '$got', wanted '$wanted'"
    failures=$((failures + 1))
  fi
}
completes 'config counters connections completion' co
completes 'get delta' counters ''
completes '--nonzero_only' counters get --n
completes 'total' counters get --scope to
completes 'warning' log set_level w
completes 'list capabilities set_admin hint' --endpoint left ports ''
completes 'events' watch ''
completes 'peer_plane_up peer_plane_down peer_fence peer_unreachable peer_reachable peer_reset' watch events --kind peer_
completes '--peers --plane' top --p
completes 'load' top --sort lo
completes 'bash' completion ba
# No endpoint answers, so there are no XPUs; a name of an endpoint would come from its socket.
completes '' --socket "$none" ping 4
expect 4 stderr 'no daemon' completion peers --socket "$none"
expect 0 stdout '^#compdef suedectl' completion zsh
expect 2 stderr 'takes bash, zsh' completion fish
# Help keeps to 100 columns.
for command in '' top path record 'counters get' 'frame decode' 'frame encode' endpoints completion switch-config; do
  wide=$("$ctl" $command --help | awk 'length > 100')
  [ -z "$wide" ] || { echo "FAILED: $command --help is wider than 100 columns: $wide"; failures=$((failures + 1)); }
done
[ "$failures" = 0 ]
