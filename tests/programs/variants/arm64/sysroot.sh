#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Unpacks Debian's packages for 64-bit Arm, MPICH and what the tests need, into a folder. apt-get finds out which they
# are as for a machine of that kind that has no package yet, with lists of its own: installing them beside this system's
# would upgrade some of its packages, and the headers' remove its compilers. Needs no root.
#
# usage: sysroot.sh FOLDER
# Exit status 77, with the reason, where the packages can't be had.
set -eu

sysroot=$1
[ ! -e "$sysroot/complete" ] || exit 0

give_up() {
    echo "no packages for arm64: $*"
    exit 77
}

# Packages that need compilers and launchers of that processor are unpacked without their dependencies.
libraries="libc6-dev libmpich12 libhwloc15 libcmocka0"
headers="libmpich-dev libhwloc-dev libcmocka-dev"

command -v apt-get >/dev/null 2>&1 || give_up "this system has no apt-get"
rm -rf "$sysroot"
apt=$sysroot/apt
mkdir -p "$apt/lists/partial" "$apt/archives/partial"
: >"$apt/status"

for_arm64() {
    echo "+ apt-get $*"
    # Not in an apt-get's sandbox, whose user may not write here.
    apt-get -q -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o APT::Sandbox::User=root \
        -o "Dir::State::Lists=$apt/lists" -o "Dir::State::status=$apt/status" -o "Dir::Cache=$apt" "$@"
}

for_arm64 update || give_up "apt-get update failed"
# shellcheck disable=SC2086  # words
(cd "$apt/archives" && for_arm64 install -y --download-only --no-install-recommends $libraries &&
    for_arm64 download $headers) || give_up "apt-get can't get them"
for package in "$apt"/archives/*.deb; do
    dpkg-deb -x "$package" "$sysroot"
done
rm -r "$apt"
# Links to absolute paths are meant for the root of a system.
find "$sysroot" -type l -lname '/*' | while read -r link; do
    ln -sfn "$sysroot$(readlink "$link")" "$link"
done
[ -e "$sysroot/lib" ] || ln -s usr/lib "$sysroot/lib"
: >"$sysroot/complete"
