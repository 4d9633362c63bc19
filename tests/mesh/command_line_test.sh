#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# command_line_test.sh SUEDE_MESH SOURCE: commands, flags, exit codes and messages.
set -u
mesh=$1
examples=$2/conf/mesh
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
failed=0

# expect CODE TEXT ARGUMENTS...: the program ends with CODE and says TEXT.
expect() {
  local code=$1 text=$2
  shift 2
  said=$("$mesh" "$@" 2>&1)
  local got=$?
  if [ $got != "$code" ] || [[ $said != *"$text"* ]]; then
    echo "FAILED: suede-mesh $*: code $got, wanted $code and \"$text\"; it said:"
    echo "$said"
    failed=1
  fi
}

expect 0 "- [M0D5P2, M1D3P4]" cables "$examples/four-by-nine.yaml"
expect 0 "usage: suede-mesh check FILE" --help
expect 0 "suede-mesh " --version
expect 2 "cannot read the command"
expect 2 "cannot read the command" chek "$examples/tg.yaml"
expect 2 "cannot read the command" trace "$examples/tg.yaml" M0D0
expect 2 "no-such-file" check "$directory/no-such-file"
expect 2 "unknown argument '--wrong'" check "$examples/tg.yaml" --wrong
expect 2 "no plane 4; give --plane 0 to 3" tables "$examples/tg.yaml" --plane 4
expect 2 "no device M9D0" trace "$examples/tg.yaml" M0D0 M9D0
for name in four-by-nine quanta tg tgg; do
  expect 0 "$name: meshes: " check "$examples/$name.yaml"
done
expect 0 "M4D8         P8           M4D0P0 " trace "$examples/tg.yaml" M4D8 M0D0
expect 0 "mesh 4: galaxy, no host; XPUs 4 to 35" show "$examples/tg.yaml"
expect 3 "has no route" trace "$examples/tg.yaml" M4D8 M0D0 --plane 1

# Tables of a file: generated ones check as well, and one wrong port is found.
"$mesh" tables "$examples/four-by-nine.yaml" >"$directory/tables.yaml" || failed=1
expect 0 "1260 routes" check "$examples/four-by-nine.yaml" --tables "$directory/tables.yaml"
sed 's/devices: \[4, D, 2/devices: [4, D, 9/' "$directory/tables.yaml" >"$directory/wrong.yaml"
expect 3 "the port of M0D1 has no cable" check "$examples/four-by-nine.yaml" --tables "$directory/wrong.yaml"

# Configurations: printed, or a file for each host.
expect 0 "specification: 0xec960a63c1e6" check "$examples/square.yaml"
expect 0 "specification: 0xec960a63c1e6" show "$examples/square.yaml"
expect 0 "# Host host1 of $examples/square-hosts.yaml, by suede-mesh plan." plan "$examples/square-hosts.yaml"
expect 0 "" plan "$examples/square-hosts.yaml" --out "$directory/plan/square" --device "{host}-{end}"
for host in host0 host1 host2 host3; do
  grep -q "^name: $host$" "$directory/plan/square/$host.yaml" || failed=1
done
grep -q 'name: M0D3P4, device: "host3-M0D3P4"' "$directory/plan/square/host3.yaml" || failed=1
expect 1 "cannot write /dev/null/host0.yaml" plan "$examples/square.yaml" --out /dev/null
expect 2 "no {pci}" plan "$examples/square-hosts.yaml" --device "{pci}"
expect 3 "cannot plan with these tables" plan "$examples/square.yaml" --tables "$examples/square-circle.yaml"
"$mesh" tables "$examples/quanta.yaml" --plane 1 >"$directory/plane1.yaml" || failed=1
"$mesh" tables "$examples/quanta.yaml" --plane 2 >"$directory/plane2.yaml" || failed=1
expect 0 "plane 3: " check "$examples/quanta.yaml" --plane 1 --tables "$directory/plane1.yaml" "$directory/plane2.yaml"
expect 2 "no plane for $directory/plane2.yaml" check "$examples/quanta.yaml" --plane 3 \
  --tables "$directory/plane1.yaml" --tables "$directory/plane2.yaml"
expect 2 "no value for --tables" check "$examples/quanta.yaml" --tables

# Configurations and saved results against the specification.
hosts=$directory/hosts
"$mesh" plan "$examples/square-hosts.yaml" --out "$hosts" || failed=1
expect 0 "planned: 4 of 4 cables are good" validate "$examples/square-hosts.yaml" --planned "$hosts"/*.yaml
sed 's/to: M0D2P3/to: M0D2P5/' "$hosts/host0.yaml" >"$directory/wrong.yaml"
expect 3 "planned: missing: M0D0P1 (sees M0D2P5) - M0D2P3 (unknown)" \
  validate "$examples/square-hosts.yaml" --planned "$directory/wrong.yaml"
result() {
  printf '{"cables": ['
  printf '{"plane": 0, "from": "M0D0P1", "to": "M0D2P3", "port": "a", "state": "up", "neighbour": "%s", "neighbour_plane": 0},' "$1"
  printf '{"plane": 0, "from": "M0D0P2", "to": "M0D1P4", "port": "b", "state": "up", "neighbour": "%s", "neighbour_plane": 0}]}' "$2"
}
result M0D2P3 M0D1P4 >"$directory/good.json"
result M0D1P4 M0D2P3 >"$directory/swapped.json"
expect 0 "2 of 4 cables are good, 2 are of other hosts" validate "$examples/square-hosts.yaml" --discovered "$directory/good.json"
expect 3 "swapped: M0D0P1 - M0D2P3 and M0D0P2 - M0D1P4 are exchanged" \
  validate "$examples/square-hosts.yaml" --planned "$hosts"/*.yaml --discovered "$directory/swapped.json"
expect 2 "name each host once" validate "$examples/square-hosts.yaml" --discovered "$directory/good.json" "$directory/swapped.json"
expect 2 "no JSON" validate "$examples/square-hosts.yaml" --discovered "$hosts/host0.yaml"
expect 2 "no cables to validate" validate "$examples/square-hosts.yaml"
expect 1 "cannot list the cables of $directory/none.sock: no daemon" \
  validate "$examples/square-hosts.yaml" --endpoint "$directory/none.sock"
exit $failed
