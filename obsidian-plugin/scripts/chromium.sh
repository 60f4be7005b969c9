#!/bin/sh
# Prints where Chromium is; installs Debian's package when it is missing and that is possible.
set -eu

if [ -n "${CHROMIUM:-}" ]; then
  command -v "$CHROMIUM" && exit 0
  echo "CHROMIUM names '$CHROMIUM', and there is no such program." >&2
  exit 1
fi

found() {
  for name in chromium chromium-browser google-chrome google-chrome-stable; do
    command -v "$name" && return 0
  done
  return 1
}

if found; then exit 0; fi

if [ "$(id -u)" = 0 ] && [ -e /etc/debian_version ]; then
  echo "Chromium is missing: installing Debian's package." >&2
  export DEBIAN_FRONTEND=noninteractive
  { apt-get update -q && apt-get install -q -y --no-install-recommends chromium; } >&2
  if found; then exit 0; fi
fi

echo "Chromium is needed for the browser tests. Install it (Debian: apt-get install chromium)," >&2
echo "or name its program: CHROMIUM=/path/to/chromium npm run test:browser" >&2
exit 1
