"""A model hub on this machine: what huggingface_hub asks of one, over the folders of a test."""

import hashlib
import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

COMMIT = "c0ffee" * 6 + "c0de"


class Hub:
    """Serves folders by the names of models, and remembers what was asked."""

    def __init__(self, models: Mapping[str, Path]) -> None:
        self.models = models
        self.asked: list[str] = []
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                hub.answer(self, with_body=True)

            def do_HEAD(self) -> None:
                hub.answer(self, with_body=False)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    @property
    def fetched(self) -> set[str]:
        """Files whose contents were sent, without their model's name."""
        sent = (
            line.removeprefix("GET ")
            for line in self.asked
            if line.startswith("GET ") and "/resolve/" in line
        )
        return {path.split(f"/resolve/{COMMIT}/")[1] for path in sent}

    def answer(self, request: BaseHTTPRequestHandler, with_body: bool) -> None:
        self.asked.append(f"{request.command} {request.path}")
        body, headers = self.found(request.path)
        request.send_response(404 if body is None else 200)
        for name, value in headers.items():
            request.send_header(name, value)
        request.send_header("Content-Length", str(len(body or b"")))
        request.end_headers()
        if with_body and body:
            request.wfile.write(body)

    def found(self, path: str) -> tuple[bytes | None, dict[str, str]]:
        for name, folder in self.models.items():
            files = {str(file.relative_to(folder)): file for file in folder.rglob("*") if file.is_file()}
            if path in (f"/api/models/{name}", f"/api/models/{name}/revision/main"):
                listed = [{"rfilename": file} for file in sorted(files)]
                return json.dumps({"id": name, "sha": COMMIT, "siblings": listed}).encode(), {}
            file = files.get(path.removeprefix(f"/{name}/resolve/{COMMIT}/"))
            if file:
                content = file.read_bytes()
                return content, {"ETag": f'"{hashlib.sha1(content).hexdigest()}"', "X-Repo-Commit": COMMIT}
        return None, {"X-Error-Code": "RepoNotFound"}


@contextmanager
def model_hub(models: Mapping[str, Path]) -> Iterator[Hub]:
    hub = Hub(models)
    threading.Thread(target=hub.server.serve_forever, daemon=True).start()
    try:
        yield hub
    finally:
        hub.server.shutdown()
        hub.server.server_close()


@contextmanager
def silent_hub() -> Iterator[str]:
    """An address that takes calls and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
