#!/bin/sh
# Rules decide a permission prompt before you are asked. The agent's own rules come first, then those for all agents;
# the first rule that matches decides, and if none does, the prompt waits for you (`holdfast prompts`).
#
#   examples/agents/rules.sh [holdfast]       the argument is the command to run, if it is not on your PATH
set -eu
holdfast=${1:-holdfast}

# Reading is harmless.
"$holdfast" rules add allow Read
# In a rule that allows, `*` stops at options and at whatever joins commands in a shell: this allows neither
# `git status; rm -rf ~` nor `git status --porcelain`.
"$holdfast" rules add allow Bash --arg command='git status*'
# In a rule that denies, `*` matches everything.
"$holdfast" rules add deny Bash --arg command='*rm -rf*'
# Files whose names end in .txt may be written.
"$holdfast" rules add allow Write --arg file_path='*.txt'

"$holdfast" rules ls
