#!/usr/bin/env bash
# Run a command that prints nothing for a long time. Where the output is not a terminal, print what it does and, every few
# seconds, for how long.
#
#   tools/progress.sh "installing packages" COMMAND ...
set -euo pipefail
what=$1
shift
if [ -t 2 ]; then
  exec "$@"
fi
echo "$what" >&2
begin=$SECONDS
(while sleep "${PROGRESS_SECONDS:-4}"; do echo "$what: $((SECONDS - begin)) s" >&2; done) &
beat=$!
trap 'kill $beat; wait $beat 2>/dev/null || true' EXIT
"$@"
