# Shared by ./run and ./test: find a Python, make an environment, install when its requirements changed.

find_python() {
    for python in "${PYTHON:-}" python3.13 python3.12 python3.11 python3 python; do
        [ -n "$python" ] && command -v "$python" >/dev/null 2>&1 || continue
        "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$python"; return; }
    done
    echo "Assay needs Python 3.11 or newer with pip; none was found. Set PYTHON=/path/to/python." >&2
    exit 1
}

# prepare ENVIRONMENT REQUIREMENTS: an environment that holds exactly what the files ask for.
prepare() {
    wanted=$(cat requirements.txt "$2" | cksum)
    [ -f "$1/.requirements" ] && grep -qxF "$2 $wanted" "$1/.requirements" && return
    if [ ! -x "$1/bin/python" ]; then
        echo "Making $1 ..."
        base_python=$(find_python)
        "$base_python" -m venv "$1"
    fi
    echo "Installing $2 into $1 (once; a minute or two) ..."
    "$1/bin/python" -m pip install --quiet --disable-pip-version-check -r "$2"
    # One line a file: the development requirements hold the app's own, so both are then present.
    { [ -f "$1/.requirements" ] && grep -v "^$2 " "$1/.requirements" || true; echo "$2 $wanted"; } > "$1/.requirements.new"
    mv "$1/.requirements.new" "$1/.requirements"
}
