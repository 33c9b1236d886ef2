"""A batch service on this machine that speaks OpenAI's Batch API: files, batches, and answers by a script."""

import json
import re
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, Self
from urllib.parse import parse_qs, urlsplit

from helpers.models.batch_answerer import answered
from helpers.processes.scripted_server import Script

PAGE = 2
"""Batches on a page of the list."""
MADE = 1_700_000_000
"""Seconds at which the first batch was made; each later one is made a second later."""

Lists = Literal["all", "without metadata", "without either name", "nothing", "no list"]
"""What GET /batches tells; `without either name`: neither the metadata nor the file's id."""


class BatchService:
    """`with BatchService(script) as service: service.url`. A batch ends at the second look at it.

    leaves_out: the batch expires, and so many requests have no answer but an error line. refuses: message with which the
    next file is refused as a whole. lists: what the list of batches tells. redirects_to: every request is redirected there.
    endless: pattern of the paths whose answers never end; trickles: they come one byte at a time.

    lost: what happens once a batch is made, in the place of its answer: the function is called, which may kill the
    client, and the connection is cut. lost_before: the same before the batch is made. twice: each batch is made twice, as
    behind a proxy that repeats requests.
    """

    def __init__(self, script: Script, key: str = "secret-key-of-the-test", leaves_out: int = 0) -> None:
        self.script, self.key, self.leaves_out = script, key, leaves_out
        self.refuses = ""
        self.refuses_metadata = False
        self.lists: Lists = "all"
        self.redirects_to = ""
        self.endless = ""
        self.trickles = False
        self.lost: Callable[[], None] | None = None
        self.lost_before: Callable[[], None] | None = None
        self.twice = False
        self.leads_to_batch = False
        """A new batch is answered with a redirect to it."""
        self.names_files_after = 0
        """How often a completed batch is looked at before it names its files."""
        self.newest_only = False
        """The list has one page, of the newest, and does not say that there are more."""
        self.files: dict[str, bytes] = {}
        self.names: list[str] = []
        """Names of the uploaded files."""
        self.batches: dict[str, dict[str, Any]] = {}
        self.looks = 0
        self.asked: list[tuple[str, dict[str, str]]] = []
        """Method with address, and headers in lower case, of every request."""
        self.n_received = 0
        """Bytes in the bodies of all requests."""
        self.n_sent = 0
        """Bytes of answers that never end."""

    def __enter__(self) -> Self:
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                service.answer(self, self.rfile.read(int(self.headers["content-length"] or 0)))

            def do_GET(self) -> None:
                service.answer(self, b"")

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    @property
    def paid(self) -> list[str]:
        """Ids of the batches that were not cancelled."""
        return [name for name, one in self.batches.items() if one["status"] != "cancelled"]

    def requests_to(self, beginning: str) -> list[tuple[str, dict[str, str]]]:
        """The requests whose method and address begin so."""
        return [one for one in self.asked if one[0].startswith(beginning)]

    def answer(self, to: BaseHTTPRequestHandler, body: bytes) -> None:
        headers = {name.lower(): value for name, value in to.headers.items()}
        self.asked.append((f"{to.command} {to.path.removeprefix('/v1')}", headers))
        self.n_received += len(body)
        if self.redirects_to:
            to.send_response(307)
            to.send_header("location", self.redirects_to + to.path)
            to.send_header("content-length", "0")
            to.end_headers()
            return
        if self.endless and re.search(self.endless, to.path):
            self._never_end(to)
            return
        said = self._said(to, body)
        if said is None:
            to.close_connection = True
            return
        data = said[1] if isinstance(said[1], bytes) else json.dumps(said[1]).encode()
        to.send_response(said[0])
        to.send_header("content-type", "application/json")
        to.send_header("content-length", str(len(data)))
        to.end_headers()
        to.wfile.write(data)

    def _never_end(self, to: BaseHTTPRequestHandler) -> None:
        to.send_response(200)
        to.send_header("content-type", "application/json")
        to.end_headers()
        piece = b" " * (1 if self.trickles else 65_536)
        try:
            while self.n_sent < 300_000_000:
                to.wfile.write(piece)
                self.n_sent += len(piece)
                if self.trickles:
                    time.sleep(0.02)
        except OSError:
            pass

    def _said(self, to: BaseHTTPRequestHandler, body: bytes) -> tuple[int, Any] | None:
        """Status and answer; None: the connection is cut."""
        given = to.headers["authorization"]
        if given != f"Bearer {self.key}":
            return 401, {"error": {"message": f"Incorrect API key provided: {given}"}}
        parts = urlsplit(to.path.removeprefix("/v1"))
        path = parts.path
        if path == "/files":
            return 200, {"id": self._keep(self._file_in(to.headers["content-type"], body)), "object": "file"}
        if path == "/batches" and to.command == "GET":
            return self._listed(parse_qs(parts.query))
        if path == "/batches":
            asked = json.loads(body)
            assert asked["endpoint"] == "/v1/chat/completions"
            if self.refuses_metadata and "metadata" in asked:
                return 400, {"error": {"message": "Unknown parameter: 'metadata'.", "param": "metadata"}}
            if self.lost_before is not None:
                self.lost_before()
                return None
            number = self._make(asked)
            if self.twice:
                number = self._make(asked)
            if self.lost is not None:
                self.lost()
                return None
            if self.leads_to_batch:
                return 303, b""
            return 200, self.batches[number]
        if found := re.fullmatch(r"/batches/(\w+)", path):
            batch = self._looked_at(self.batches[found[1]])
            if batch["status"] == "completed" and self.names_files_after > 0:
                self.names_files_after -= 1
                return 200, {**batch, "output_file_id": None}
            return 200, batch
        if found := re.fullmatch(r"/batches/(\w+)/cancel", path):
            self.batches[found[1]]["status"] = "cancelled"
            return 200, self.batches[found[1]]
        if found := re.fullmatch(r"/files/(\w+)/content", path):
            return 200, self.files[found[1]]
        return 404, {"error": {"message": "no such page"}}

    def _make(self, asked: dict[str, Any]) -> str:
        number = f"batch_{len(self.batches)}"
        self.batches[number] = {
            "id": number,
            "object": "batch",
            "status": "in_progress",
            "input_file_id": asked["input_file_id"],
            "metadata": asked.get("metadata"),
            "created_at": MADE + len(self.batches),
        }
        return number

    def _listed(self, query: dict[str, list[str]]) -> tuple[int, Any]:
        """A page of the batches, the newest first."""
        if self.lists == "no list":
            return 404, {"error": {"message": "no such page"}}
        left_out = {"without metadata": {"metadata"}, "without either name": {"metadata", "input_file_id"}}
        names = [] if self.lists == "nothing" else list(self.batches)[::-1]
        if self.newest_only:
            return 200, {"object": "list", "data": [self.batches[one] for one in names[:PAGE]]}
        begin = names.index(query["after"][0]) + 1 if "after" in query else 0
        hidden = left_out.get(self.lists, set())
        page = [
            {name: value for name, value in self.batches[one].items() if name not in hidden}
            for one in names[begin : begin + PAGE]
        ]
        return 200, {"object": "list", "data": page, "has_more": begin + PAGE < len(names)}

    def _looked_at(self, batch: dict[str, Any]) -> dict[str, Any]:
        self.looks += 1
        if batch["status"] == "in_progress" and batch.get("seen") and self.refuses:
            batch |= {"status": "failed", "errors": {"data": [{"message": self.refuses}]}}
            self.refuses = ""
        elif batch["status"] == "in_progress" and batch.get("seen"):
            requests = [json.loads(line) for line in self.files[batch["input_file_id"]].splitlines()]
            lines = answered(requests, self.script)
            late, self.leaves_out = lines[: self.leaves_out], 0
            for line in late:
                line |= {"response": None, "error": {"code": "batch_expired", "message": "Not in time."}}
            batch |= {"status": "expired" if late else "completed"}
            batch["output_file_id"] = self._keep(_as_lines(lines[len(late) :]))
            batch["error_file_id"] = self._keep(_as_lines(late)) if late else None
        batch["seen"] = True
        return batch

    def _keep(self, data: bytes) -> str:
        name = f"file_{len(self.files)}"
        self.files[name] = data
        return name

    def _file_in(self, content_type: str, body: bytes) -> bytes:
        """The file among the parts of a form."""
        boundary = content_type.partition("boundary=")[2].encode()
        parts = [part.partition(b"\r\n\r\n") for part in body.split(b"--" + boundary)]
        head, data = next((head, data) for head, _, data in parts if b"filename=" in head)
        named = re.search(rb'filename="([^"]*)"', head)
        self.names.append(named[1].decode() if named else "")
        return data.removesuffix(b"\r\n")


def _as_lines(values: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(value) + "\n" for value in values).encode()
