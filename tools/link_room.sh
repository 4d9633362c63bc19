#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# link_room.sh ROOMS_DIR NAME SOURCE: makes ROOMS_DIR/NAME/NAME a link to SOURCE. For meson.build.
set -eu
mkdir -p "$1/$2"
ln -sfn "$3" "$1/$2/$2"
