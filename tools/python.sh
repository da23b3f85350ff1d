#!/usr/bin/env bash
# Print the Python to create an environment with: PYTHON if it is set, else python3.11, python3.12 or python3.
for python in ${PYTHON:-python3.11 python3.12 python3}; do
  if "$python" -c 'import sys; sys.exit(sys.version_info[:2] not in ((3, 11), (3, 12)))' 2>/dev/null; then
    echo "$python"
    exit
  fi
done
echo "make: Python 3.11 or 3.12 is needed, found $("$python" --version 2>&1): install it and run make again" >&2
exit 1
