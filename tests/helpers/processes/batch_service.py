"""A batch service on this machine that speaks OpenAI's Batch API: files, batches, and answers by a script."""

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from helpers.models.batch_answerer import answered
from helpers.processes.scripted_server import Script


class BatchService:
    """`with BatchService(script) as service: service.url`. A batch ends at the second look at it.

    leaves_out: the batch expires, and so many requests have no answer but an error line. refuses: message with which the
    next file is refused as a whole.
    """

    def __init__(self, script: Script, key: str = "secret-key-of-the-test", leaves_out: int = 0) -> None:
        self.script, self.key, self.leaves_out = script, key, leaves_out
        self.refuses = ""
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.looks = 0

    def __enter__(self) -> Self:
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                service.answer(self, self.rfile.read(int(self.headers["content-length"])))

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

    def answer(self, to: BaseHTTPRequestHandler, body: bytes) -> None:
        status, said = self._said(to, body)
        data = said if isinstance(said, bytes) else json.dumps(said).encode()
        to.send_response(status)
        to.send_header("content-type", "application/json")
        to.send_header("content-length", str(len(data)))
        to.end_headers()
        to.wfile.write(data)

    def _said(self, to: BaseHTTPRequestHandler, body: bytes) -> tuple[int, Any]:
        given = to.headers["authorization"]
        if given != f"Bearer {self.key}":
            return 401, {"error": {"message": f"Incorrect API key provided: {given}"}}
        path = to.path.removeprefix("/v1")
        if path == "/files":
            return 200, {"id": self._keep(self._file_in(to.headers["content-type"], body)), "object": "file"}
        if path == "/batches":
            number = f"batch_{len(self.batches)}"
            asked = json.loads(body)
            assert asked["endpoint"] == "/v1/chat/completions"
            self.batches[number] = {
                "id": number,
                "object": "batch",
                "status": "in_progress",
                "input_file_id": asked["input_file_id"],
            }
            return 200, self.batches[number]
        if found := re.fullmatch(r"/batches/(\w+)", path):
            return 200, self._looked_at(self.batches[found[1]])
        if found := re.fullmatch(r"/files/(\w+)/content", path):
            return 200, self.files[found[1]]
        return 404, {"error": {"message": "no such page"}}

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
        return next(data.removesuffix(b"\r\n") for head, _, data in parts if b"filename=" in head)


def _as_lines(values: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(value) + "\n" for value in values).encode()
