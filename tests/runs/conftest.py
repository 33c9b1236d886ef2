"""Fixtures of this package that stand in modules of their own."""

from vllm_environment import tiny_model as tiny_model
from vllm_environment import vllm_python as vllm_python
from vllm_environment import vllm_server as vllm_server
