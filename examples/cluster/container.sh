#!/bin/sh
# container.sh IMAGE COMMAND... - runs a trainer in a container of Podman, or of Docker with
# ENGINE=docker in trainer.env. The command is one of the image, or lies below the study's folder.
#
# The container sees two folders, under the paths that they have here: that of the attempt, to write
# to, and that of the study file, to read. Its processes have the numbers of user and group that we
# have, so that what they write is ours. --init because a first process that has no handler for TERM
# never gets it. DPARETO_CLAIM lets dparetod find the processes if all else was killed.
set -eu
image=$1 engine=${ENGINE:-podman}
shift
folder=$(dirname "$DPARETO_REQUEST")
name=dpareto-$DPARETO_STUDY-$DPARETO_TRIAL-$DPARETO_ATTEMPT-$$
set -- "$image" "$@"
if [ "$engine" = podman ] && [ "$(id -u)" -ne 0 ]; then
	set -- --userns keep-id "$@"
else
	set -- --user "$(id -u):$(id -g)" "$@"
fi
"$engine" run --rm --init --name "$name" --network none \
	--volume "$DPARETO_STUDY_DIR:$DPARETO_STUDY_DIR:ro" \
	--volume "$folder:$folder" --workdir "$folder" \
	--env DPARETO_REQUEST --env DPARETO_RESULT --env DPARETO_STUDY --env DPARETO_TRIAL \
	--env DPARETO_ATTEMPT --env DPARETO_STUDY_DIR --env DPARETO_CLAIM --env OMP_NUM_THREADS \
	"$@" &
run=$!
# A container of Docker does not end with the command that started it: it has to be told, and to be
# gone within trainer.grace, after which we are.
trap '"$engine" stop --time "${GRACE:-8}" "$name" >/dev/null 2>&1 &' TERM
while
	code=0
	wait $run || code=$?
	kill -0 $run 2>/dev/null
do :; done
exit $code
