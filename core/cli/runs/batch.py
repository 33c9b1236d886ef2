"""`runs answers` and `runs submit`: the answers to a run's batch files."""

import argparse
from contextlib import ExitStack
from pathlib import Path

from core.cli.runs.verbs import run_verb
from core.cli.shared.options import Commands, check_options, existing_store
from core.cli.shared.running import (
    check_folder,
    exec_in_environment,
    finish_in_folder,
    finish_without_files,
    telling,
    work_here,
)
from core.errors import AssayError, InputError
from core.installation import COMMAND
from core.runs.asked import OPENAI_KEY, OPENAI_URL
from core.runs.jobs import RunAtHand
from core.runs.path import resume, saved_run
from core.runs.working.batch.answers import opened, read_answers


def add_to(verbs: Commands) -> None:
    """Register `answers` and `submit`."""
    command = run_verb(verbs, "answers", "read the answers to a run's batch files, and continue the run")
    command.add_argument(
        "files",
        type=Path,
        nargs="*",
        metavar="FILE",
        help="answers, and failures if they are in another file",
    )
    command.add_argument("--out", type=Path, metavar="DIR", help="folder for the results")
    command.add_argument(
        "--ask-again",
        action="store_true",
        help="ask requests whose answers are missing again in the next round; without it they keep waiting",
    )
    command.set_defaults(run=_answers)
    command = run_verb(
        verbs, "submit", "have a run's batch files answered by its server's batch service, round after round"
    )
    command.add_argument(
        "--key-variable",
        metavar="NAME",
        help=f"environment variable with the server's key (default for OpenAI's own server: {OPENAI_KEY})",
    )
    command.add_argument(
        "--every",
        type=float,
        default=60.0,
        metavar="SECONDS",
        help="time between two questions about the batches (default 60)",
    )
    command.add_argument(
        "--again",
        action="store_true",
        help="submit a file again although the answer to its submission was lost and the service cannot tell whether it "
        "has it; if it has, both are paid",
    )
    command.add_argument("--out", type=Path, metavar="DIR", help="folder for the results")
    command.set_defaults(run=_submit)


def _answers(options: argparse.Namespace) -> None:
    check_options(
        [] if options.files or options.ask_again else ["name a file of answers, or use --ask-again"]
    )
    with existing_store(options.db) as store, ExitStack() as files:
        run = saved_run(store, options.number)
        if options.out is not None:
            check_folder(options.out, run.run)
        exec_in_environment(run.request.environment)
        answers = opened(options.files)
        for _, file in answers:
            files.enter_context(file)
        print("\n".join(read_answers(store, options.number, answers, give_up=options.ask_again).said))
        work_here(resume(run, None, run.run.limit))
        _finish(run, options.out)


def _submit(options: argparse.Namespace) -> None:
    from core.runs.working.batch.service import (  # imported lazily: rarely needed
        SubmissionLost,
        answers_of_service,
        has_waiting,
        service_of,
    )

    check_options([] if options.every > 0 else [f"--every is {options.every}, expected more than 0"])
    with existing_store(options.db) as store:
        number = options.number
        run = saved_run(store, number)
        if options.out is not None:
            check_folder(options.out, run.run)
        if run.request.model.backend != "batch":
            raise InputError(f"Run {number} does not use batch files.")
        exec_in_environment(run.request.environment)
        usual = OPENAI_KEY if run.request.model.base_url == OPENAI_URL else None
        service = service_of(store, number, options.key_variable or usual)
        while run.now().run.state != "done":
            if run.run.state == "awaiting" and has_waiting(store, number):
                try:
                    with telling(f"run {number}: submitting") as tell:
                        read = answers_of_service(
                            store, number, service, every=options.every, again=options.again, tell=tell
                        )
                except SubmissionLost as lost:
                    then = (
                        f"If there is none, submit it again: {COMMAND} runs submit {number} --again. "
                        "If it arrives after all, both are paid."
                    )
                    raise InputError(lost.what, [*lost.problems, then]) from None
                print("\n".join(read.said), flush=True)
                if not read.n_answered and not read.n_changed:
                    raise AssayError(
                        f"No request of this round was answered. Try again with `runs submit {number}`."
                    )
            work_here(resume(run, None, run.run.limit))
            if run.now().run.state not in ("done", "awaiting"):
                break
        _finish(run, options.out)


def _finish(run: RunAtHand, folder: Path | None) -> None:
    if folder is not None:
        finish_in_folder(run, folder)
    else:
        finish_without_files(run)
