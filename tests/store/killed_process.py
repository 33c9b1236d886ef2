"""A process that is killed while it works, and all that it had said by then."""

import signal
import subprocess


def said_until_killed(process: "subprocess.Popen[str]", n_lines: int) -> str:
    """What a process has printed when it is killed after so many lines; it may have been faster than this reader.

    Not Popen.communicate: it leaves out what readline has taken in beyond its own line.
    """
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(n_lines)]
    process.send_signal(signal.SIGKILL)
    said = "".join(lines) + process.stdout.read()
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    return said
