#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures and writes the figures as Markdown: ours beside every baseline, one table per question.
#
#     bench/report.sh [--filter=REGEX] [--traces=FOLDER] > figures.md
#
# --filter   which rows of evenkeel_bench; without it, balancing and relabelling at the sizes below
# --traces   a folder of CSV files of lengths, measured too
set -euo pipefail

source=$(CDPATH= cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)

filter='^(balance|relabel)[^/]*/[^/]+/[^/]+/(8x40|64x40|256x40|2560x40|2560x58)(/|$)'
traces=()
for argument in "$@"; do
    case $argument in
    --filter=*) filter=${argument#--filter=} ;;
    --traces=*) traces=("--traces=${argument#--traces=}") ;;
    *)
        echo "usage: bench/report.sh [--filter=REGEX] [--traces=FOLDER]" >&2
        exit 2
        ;;
    esac
done

"$source/cmake/bootstrap.sh" >&2
build=$source/build/release
cmake -S "$source" --preset release >&2
cmake --build "$build" --target evenkeel_bench >&2

figures=$(mktemp)
trap 'rm -f "$figures"' EXIT
"$build/bench/evenkeel_bench" ${traces[@]+"${traces[@]}"} "--benchmark_filter=$filter" \
    --benchmark_format=json > "$figures"

compiler=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
echo "# Figures of evenkeel_bench"
echo
echo "- Command: \`bench/report.sh '--filter=$filter'${traces:+ --traces=FOLDER}\`"
echo "- Compiler: $("$compiler" --version | head -n 1), preset release"
echo "- Processor: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), one thread"
cat <<'TEXT'

Time is the median over 12 seeds, in microseconds and, for evenkeel, in units of what `std::sort` takes for as many
random 32-bit keys, at least 102400. Gap is the worst over the seeds, to the lower bound that evenkeel proved; exact is
the share of seeds without gap among those in which no single sample decides. For `relabel`, leaves is the share of
bytes that leave their node.
TEXT

# Google Benchmark writes one field per line.
awk '
function value(line) { sub(/^[^:]*: */, "", line); sub(/,$/, "", line); gsub(/"/, "", line); return line }
function form(format, number) { return number == "" ? "" : sprintf(format, number) }
function small(number) { return number == "" || number + 0 != 0 ? form("%.1e", number) : "0" }
function remember(list, key) {
    if (!((list, key) in known)) {
        known[list, key] = 1
        keys[list, ++size[list]] = key
    }
}
/^ *"name":/ {
    split(value($0), part, "/")
    row = part[1] SUBSEP part[3] SUBSEP part[4]
    cell = row SUBSEP part[2]
    if (part[2] == "std_sort") { next }
    remember("questions", part[1])
    remember(part[1] " subjects", part[2])
    remember(part[1] " rows", part[3] SUBSEP part[4])
}
/^ *"(real_time|gap|inter_node|std_sorts|exact_share)":/ {
    key = $1
    gsub(/[":]/, "", key)
    figure[cell, key] = value($0)
}
END {
    for (q = 1; q <= size["questions"]; ++q) {
        question = keys["questions", q]
        subjects = question " subjects"
        rows = question " rows"
        moves = question ~ /^relabel/
        printf "\n## %s\n\n| lengths | ranks x samples |", question
        rule = "|---|---|"
        for (s = 1; s <= size[subjects]; ++s) {
            subject = keys[subjects, s]
            printf " %s |%s", subject, moves ? " leaves |" : ""
            rule = rule "---:|" (moves ? "---:|" : "")
            if (!moves && subject != "evenkeel_sorted") {
                printf " gap |"
                rule = rule "---:|"
            }
            if (subject ~ /^evenkeel/ && !moves) {
                printf " x std_sort |"
                rule = rule "---:|"
            }
            if (subject == "evenkeel" && !moves) {
                printf " exact |"
                rule = rule "---:|"
            }
        }
        printf "\n%s\n", rule
        for (r = 1; r <= size[rows]; ++r) {
            split(keys[rows, r], at, SUBSEP)
            printf "| %s | %s |", at[1], at[2]
            for (s = 1; s <= size[subjects]; ++s) {
                subject = keys[subjects, s]
                cell = question SUBSEP at[1] SUBSEP at[2] SUBSEP subject
                time = figure[cell, "real_time"] == "" ? "" : figure[cell, "real_time"] + 0
                printf " %s |", form(time < 10 ? "%.2g" : "%.0f", time)
                if (moves) {
                    printf " %s |", form("%.3f", figure[cell, "inter_node"])
                    continue
                }
                if (subject != "evenkeel_sorted") { printf " %s |", small(figure[cell, "gap"]) }
                if (subject ~ /^evenkeel/) { printf " %s |", form("%.3f", figure[cell, "std_sorts"]) }
                if (subject == "evenkeel") {
                    share = figure[cell, "exact_share"]
                    printf " %s |", share == "" ? "" : sprintf("%.0f %%", 100 * share)
                }
            }
            printf "\n"
        }
    }
}' "$figures"
