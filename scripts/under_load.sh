#!/bin/sh
# Run ./test while other processes keep every core busy, to find tests that depend on speed.
#   scripts/under_load.sh [TIMES [ARGUMENTS]]      default 5 times; further arguments are passed to ./test
# Exit status: number of failed runs.
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
    if ./test "$@"; then result=passed; else result=failed failed=$((failed + 1)); fi
    echo "Run $number of $times under load: $result, $(($(date +%s) - begun)) s."
done
exit "$failed"
