"""What a download button gives: CSV begins with a byte order mark, so that Excel reads it as UTF-8."""

from collections.abc import Callable

from core.tables.writer import excel_csv


def spreadsheet_file(file_name: str, make: Callable[[], bytes]) -> Callable[[], bytes]:
    """Return what makes the file for a download; other files than CSV stay as they are."""
    return (lambda: excel_csv(make())) if file_name.endswith(".csv") else make
