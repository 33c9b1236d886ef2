#!/bin/sh
# Do the tests hold on a machine that has other things to do? Runs ./test while other processes keep every core busy.
#   scripts/under_load.sh [TIMES [ARGUMENTS]]      5 times; further arguments go to ./test
# Exit status: how many of the runs failed.
set -eu
cd "$(dirname "$0")/.."
times=${1:-5}
[ $# -gt 0 ] && shift

busy=""
trap 'kill $busy 2>/dev/null' EXIT
trap 'exit 130' INT TERM
for _ in $(seq "$(getconf _NPROCESSORS_ONLN)"); do
    sh -c 'while :; do :; done' &
    busy="$busy $!"
done

failed=0
for number in $(seq "$times"); do
    begun=$(date +%s)
    if ./test "$@"; then said=green; else said=red failed=$((failed + 1)); fi
    echo "Run $number of $times under load: $said, $(($(date +%s) - begun)) s."
done
exit "$failed"
