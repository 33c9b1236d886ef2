"""`serve`: the demo is there once, the links are printed, and Streamlit gets the rest of the line."""

import os
import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.processes.app_server import ROOT
from helpers.texts.factories import always, vote

from core.access import choose_passphrase, is_admin, link_is_open
from core.cli import main
from core.cli.serve import HERE
from core.formats.study.files import read_dataset
from core.store import Store, open_store
from core.store.raters import raters_of
from core.store.studies import find_study, list_studies, update_study
from core.study.blinding import open_desk
from core.study.lifecycle import DEMO_NAME, import_study, load_demo_once, usual_design

DEMO = ROOT / "data" / "demo" / "answers.csv"


@pytest.fixture
def serve(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[str, list[str]]]:
    """Run serve up to the hand-over: what it printed, and the command it would have become."""
    monkeypatch.setenv("ASSAY_DB", "set again by serve, put back by pytest")
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "")
    for name in ("PORT", "ADDRESS", "ALLOWED_HOSTS"):
        monkeypatch.delenv(f"STREAMLIT_SERVER_{name}", raising=False)
    monkeypatch.chdir(tmp_path)
    handed: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda _, command: handed.append(command))

    def run(*arguments: str) -> tuple[str, list[str]]:
        assert main(["serve", "--db", str(tmp_path / "assay.db"), *arguments]) == 0
        return capsys.readouterr().out, handed[-1]

    return run


def test_relative_paths_are_those_of_the_users_folder(
    serve: Callable[..., tuple[str, list[str]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The app itself starts in its own folder."""
    monkeypatch.setenv("ASSAY_NEURAL_PYTHON", "neural/bin/python")
    files = ("--server.sslCertFile", "study.pem", "--server.sslKeyFile=study.key", "--server.port", "8600")
    _, command = serve(*files)
    assert command[5:] == [
        *("--server.sslCertFile", str(tmp_path / "study.pem")),
        f"--server.sslKeyFile={tmp_path / 'study.key'}",
        *("--server.port", "8600"),
    ]
    assert os.environ["ASSAY_NEURAL_PYTHON"] == str(tmp_path / "neural" / "bin" / "python")
    assert Path.cwd() == ROOT


def test_first_start(serve: Callable[..., tuple[str, list[str]]], tmp_path: Path) -> None:
    printed, command = serve()
    assert command[1:4] == ["-m", "streamlit", "run"]
    assert Path(command[4]).name == "app.py"
    assert os.environ["ASSAY_DB"] == str(tmp_path / "assay.db")
    raters = re.findall(r"Demo study as (\S+):\n  http://127\.0\.0\.1:8501/r/(\S+)", printed)
    assert [name for name, _ in raters] == ["rater-1", "rater-2"]
    with open_store(tmp_path / "assay.db") as store:
        assert link_is_open(store, admin_token(printed))
        assert vote(store, raters[0][1], always("both_good")).next_open() is None
        assert open_desk(store, raters[1][1]).next_open() == 1


def admin_token(printed: str) -> str:
    (token,) = re.findall(r"Admin \(one-time link.*\):\n  http://127\.0\.0\.1:8501/admin/(\S+)", printed)
    return str(token)


def test_the_raters_links_stay_and_the_admins_is_new_each_start(
    serve: Callable[..., tuple[str, list[str]]], tmp_path: Path
) -> None:
    """A link that lies in an old terminal opens nothing any more; a rater's is in a mail and must go on."""
    one, two = serve()[0], serve()[0]
    first, second = admin_token(one), admin_token(two)
    assert first != second
    assert one.replace(first, "") == two.replace(second, "")
    with open_store(tmp_path / "assay.db") as store:
        assert not link_is_open(store, first)
        assert link_is_open(store, second)


def test_once_there_is_a_passphrase_no_link_is_printed(
    serve: Callable[..., tuple[str, list[str]]], tmp_path: Path
) -> None:
    token = admin_token(serve()[0])
    with open_store(tmp_path / "assay.db") as store:
        session = choose_passphrase(store, token, "four plain words here", "four plain words here")
    printed, _ = serve()
    assert "Admin, with your passphrase:\n  http://127.0.0.1:8501/sign-in\n" in printed
    assert "/admin/" not in printed
    with open_store(tmp_path / "assay.db") as store:
        assert is_admin(store, session), "a restart signs nobody out"


@pytest.mark.parametrize("port", [["--server.port", "8600"], ["--server.port=8600"]])
def test_further_options_go_to_streamlit(
    serve: Callable[..., tuple[str, list[str]]], port: list[str]
) -> None:
    printed, command = serve(*port, "--server.headless", "true")
    assert printed.count("http://127.0.0.1:8600/") == 3
    assert command[5:] == [*port, "--server.headless", "true"]


def test_the_demo_comes_once(store: Store) -> None:
    load_demo_once(store)
    load_demo_once(store)
    study = find_study(store, DEMO_NAME)
    assert study.state == "open"
    assert [rater.rater_id for rater in raters_of(store, study.study_id)] == ["rater-1", "rater-2"]
    update_study(store, study.study_id, name="renamed")
    load_demo_once(store)
    assert [entry.name for entry in list_studies(store)] == ["renamed"]


@pytest.mark.parametrize("name", ["mine", DEMO_NAME])
def test_the_app_starts_although_the_demos_file_or_name_was_used(store: Store, name: str) -> None:
    own = read_dataset(DEMO.read_bytes(), DEMO.name)
    import_study(store, name, own, usual_design(own, "pipeline", "handwritten"))
    load_demo_once(store)
    assert {study.name: study.state for study in list_studies(store)} == (
        {name: "draft", DEMO_NAME: "open"} if name != DEMO_NAME else {name: "draft"}
    )


@pytest.mark.parametrize("path", [["--server.baseUrlPath", "assay"], ["--server.baseUrlPath=assay"]])
def test_a_path_under_an_address_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], path: list[str]
) -> None:
    """The guard before Streamlit knows addresses from the root on; under a path it would let downloads through."""
    assert main(["serve", "--db", str(tmp_path / "assay.db"), *path]) == 2
    assert "Leave --server.baseUrlPath out" in capsys.readouterr().err
    assert not (tmp_path / "assay.db").exists()


@pytest.mark.parametrize(
    ("options", "variable", "trusted"),
    [
        ((), "", ""),
        (("--behind-proxy", "127.0.0.1"), "", "127.0.0.1"),
        (("--behind-proxy", "::1", "--behind-proxy", "10.0.0.0/8"), "192.0.2.1", "::1,10.0.0.0/8"),
        ((), "192.0.2.1, 192.0.2.2", "192.0.2.1,192.0.2.2"),
    ],
)
def test_only_a_proxy_that_is_named_is_believed(
    serve: Callable[..., tuple[str, list[str]]],
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    variable: str,
    trusted: str,
) -> None:
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", variable)
    serve(*options)
    assert os.environ["FORWARDED_ALLOW_IPS"] == trusted


@pytest.mark.parametrize("proxy", ["*", "localhost", "10.0.0.1/8", "127.0.0.1:80", ""])
def test_a_proxy_is_named_by_its_address(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")
    for options in (("--behind-proxy", proxy), ()):  # the option, then the variable
        assert main(["serve", "--db", str(tmp_path / "assay.db"), *options]) == 2
        assert "--behind-proxy 127.0.0.1`, or FORWARDED_ALLOW_IPS" in capsys.readouterr().err
    assert not (tmp_path / "assay.db").exists()


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ((), []),
        (("--host", "study.example.org"), [*HERE, "study.example.org"]),
        (("--host", "a.example", "--host", "*.b.example"), [*HERE, "a.example", "*.b.example"]),
        (("--server.address", "192.0.2.9"), [*HERE, "192.0.2.9"]),
        (("--server.address=localhost",), []),
        (("--server.address", "192.0.2.9", "--server.allowedHosts=x"), []),
        (("--server.address", "0.0.0.0"), []),
        (("--server.address", "0.0.0.0", "--host", "192.0.2.9"), [*HERE, "192.0.2.9"]),
    ],
)
def test_the_names_to_which_the_app_answers(
    serve: Callable[..., tuple[str, list[str]]], options: tuple[str, ...], names: list[str]
) -> None:
    printed, command = serve(*options)
    given = [part.partition("=")[2] for part in command if part.startswith("--server.allowedHosts=")]
    assert [name for name in given if name != "x"] == names
    assert ("--host NAME" in printed) is (options[-1:] == ("0.0.0.0",))


def test_without_options_the_configuration_names_the_same() -> None:
    configured = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))
    assert configured["server"]["allowedHosts"] == list(HERE)


@pytest.mark.parametrize("name", ["https://study.example.org", "study.example.org:443", "a/b", "a b", ""])
def test_a_host_is_a_name_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert main(["serve", "--db", str(tmp_path / "assay.db"), "--host", name]) == 2
    assert f"`{name}`" in capsys.readouterr().err
