#!/usr/bin/env bash
# The trainers, each in an environment of its own, for their requirements exclude each other: install the pinned
# requirements, run the program (it ends by playing games without an illegal move), then its tests.
#
#   .ci/recipes.sh                  all of them
#   .ci/recipes.sh maskable_ppo     those that are named: maskable_ppo, torchrl, tianshou, rllib, agilerl,
#                                   own_loop
#
# PYTHON names the interpreter (python3; Tianshou wants 3.11 or newer). Exits non-zero if one of them fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

python=${PYTHON:-python3}
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore PIP_NO_INPUT=1 PIP_PROGRESS_BAR=off
# Small networks run fastest on one thread; ray must look for no cluster and report nothing.
export OMP_NUM_THREADS=1 RAY_USAGE_STATS_ENABLED=0 RAY_DEDUP_LOGS=1
unset RAY_ADDRESS

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

recipe() {
    local name=$1 env=$work/$1 program=examples/recipes/train_$1.py arguments=() pages=()
    if [ "$name" = maskable_ppo ]; then
        program=examples/train_maskable_ppo.py
        arguments=(--steps 6000 --games 50 --save "$work/model.zip")
        # The pages' pieces of code that need this trainer.
        pages=("$env/bin/python" -m pytest -q tests/test_docs.py -k "python_block and (-train or -supersuit)")
    fi
    "$python" -m venv "$env" &&
        "$env/bin/python" -m pip install -q -r "examples/recipes/requirements-$name.txt" -e '.[cli]' pytest hypothesis &&
        "$env/bin/python" "$program" "${arguments[@]}" &&
        "$env/bin/python" -m pytest -q "tests/training/test_$name.py" tests/training/test_workers.py &&
        { [ "${#pages[@]}" -eq 0 ] || "${pages[@]}"; }
}

names=("$@")
if [ "${#names[@]}" -eq 0 ]; then
    for requirements in examples/recipes/requirements-*.txt; do
        name=${requirements#examples/recipes/requirements-}
        names+=("${name%.txt}")
    done
fi
failed=()
for name in "${names[@]}"; do
    [ -e "examples/recipes/requirements-$name.txt" ] || { echo "there is no trainer $name" >&2; exit 2; }
    printf '\n==== %s (%s)\n' "$name" "$(date -u +%H:%M:%S)"
    recipe "$name" </dev/null || failed+=("$name")
    rm -rf "${work:?}/$name"
done
if [ "${#failed[@]}" -gt 0 ]; then
    echo "FAILED: ${failed[*]}"
    exit 1
fi
printf '\n%s: passed\n' "${names[*]}"
