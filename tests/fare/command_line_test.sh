#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# command_line_test.sh SUEDE_FARE SOURCE: flags, exit codes and messages that need neither routes nor an endpoint.
set -u
fare=$1
source=$2
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
failed=0

# expect CODE TEXT ARGUMENTS...: the program ends with CODE and says TEXT.
expect() {
  local code=$1 text=$2
  shift 2
  said=$("$fare" "$@" 2>&1)
  local got=$?
  if [ $got != "$code" ] || [[ $said != *"$text"* ]]; then
    echo "FAILED: suede-fare $*: code $got, wanted $code and \"$text\"; it said:"
    echo "$said"
    failed=1
  fi
}

expect 0 "usage: suede-fare --config FILE" --help
expect 0 "4 with --once: the endpoint is unreachable" --help
expect 0 "suede-fare " --version
expect 2 "no configuration; give one with --config FILE"
expect 2 "unknown argument '--wrong'" --wrong
expect 2 "no arguments are permitted after --" -- -l 1
expect 2 "no-such-file" --config "$directory/no-such-file"
expect 0 "good" --config "$source/conf/frr/fare.yaml" --check_config
expect 2 "scale: 0 makes every bandwidth 0" --config "$source/conf/frr/fare.yaml" --set scale=0 --check_config
"$fare" --config "$source/conf/frr/fare.yaml" --dump_config >"$directory/dump.yaml" || failed=1
expect 0 "good" --config "$directory/dump.yaml" --check_config

# A machine that lacks an interface: code 5, with the mend.
sed 's/\[p0\]/[lo]/; s/\[p1\]/[no-such-1]/' "$source/conf/frr/fare.yaml" >"$directory/fare.yaml"
expect 5 "there is no interface no-such-1" --config "$directory/fare.yaml"
exit $failed
