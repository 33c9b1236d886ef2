"""Logs of evaluation tools: texts, judges' scores and human labels."""
