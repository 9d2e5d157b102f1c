#!/bin/sh
# apptainer.sh IMAGE COMMAND... - runs a trainer in an image of Apptainer (or Singularity). Not run
# by our tests: written by its documentation.
#
# The environment and the user are ours without a word; the two folders are named because only the
# home, /tmp and the working folder are there by themselves. Nothing stays between us and the trainer
# that would have to pass on signals: its processes are our process group's.
set -eu
image=$1
shift
folder=$(dirname "$DPARETO_REQUEST")
exec apptainer exec --bind "$DPARETO_STUDY_DIR:$DPARETO_STUDY_DIR:ro" --bind "$folder" \
	--pwd "$folder" "$image" "$@"
