#!/bin/sh
# environment.sh COMMAND... - runs a trainer with modules loaded and a virtual environment of Python
# active, both where the environment asks for it: MODULES and VENV of trainer.env. dparetod has no
# login shell's settings, so `module` has to be made first.
set -eu
if [ -n "${MODULES:-}" ]; then
	set +u # what is sourced is not ours
	# shellcheck disable=SC1090
	. "${MODULES_INIT:-/usr/share/modules/init/sh}"
	# shellcheck disable=SC2086 # a list of words on purpose
	module load $MODULES
	set -u
fi
if [ -n "${VENV:-}" ]; then
	cd "$DPARETO_STUDY_DIR" && VENV=$(cd "$VENV" && pwd)
	cd "$(dirname "$DPARETO_REQUEST")"
	export VIRTUAL_ENV="$VENV" PATH="$VENV/bin:$PATH"
fi
exec "$@" # so that TERM reaches the trainer itself
