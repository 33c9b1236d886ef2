"""Fixtures of this package that stand in modules of their own."""

from helpers.models.vllm_environment import real_model as real_model
from helpers.models.vllm_environment import tiny_model as tiny_model
from helpers.models.vllm_environment import vllm_python as vllm_python
from helpers.models.vllm_environment import vllm_server as vllm_server
from helpers.processes.ray_workers import ray_python as ray_python
