#!/bin/sh
# Makes ./configure. Needs autoconf and automake (scripts/install-deps).
set -e
cd "$(dirname "$0")"
exec autoreconf --force --install --warnings=all,error
