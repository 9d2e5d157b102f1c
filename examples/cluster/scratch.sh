#!/bin/sh
# scratch.sh DATA COMMAND... - runs a trainer in a folder on the machine's own disk, with a copy of
# DATA, a file or folder, beside it: in $SCRATCH. TMPDIR says where that disk is; a cluster often sets
# it for each job. What the trainer reports goes to the attempt's folder as ever.
set -eu
data=$1
shift
# The copy is made once for all trials of the study on this machine. Whoever is first to rename his
# whole copy wins; the others throw theirs away.
SCRATCH=${TMPDIR:-/tmp}/dpareto-$(id -u)-$DPARETO_STUDY
export SCRATCH
(umask 077 && mkdir -p "$SCRATCH")
if [ ! -e "$SCRATCH/data" ]; then
	copy=$(mktemp -d "$SCRATCH/copy.XXXXXX")
	cp -R "$data" "$copy/data"
	mv -T -n "$copy/data" "$SCRATCH/data" || [ -e "$SCRATCH/data" ]
	rm -rf "$copy"
fi
work=$(mktemp -d "$SCRATCH/work.XXXXXX")
cd "$work"
"$@" &
trainer=$!
# TERM reaches the trainer without us, for it is in our group; we stay to clean up. After KILL the
# folder is left: remove old ones now and then, or let the cluster do it.
trap : TERM
while
	code=0
	wait $trainer || code=$?
	kill -0 $trainer 2>/dev/null
do :; done
cd /
rm -rf "$work"
exit $code
