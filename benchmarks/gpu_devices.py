"""The GPUs that programs are compiled for without having one: what XLA asks a driver, as text.

The numbers are those of the makers' data sheets, under the names of XLA's `GpuTargetConfigProto`, except the bytes of
shared memory and the registers, which follow from the compute capability.
"""

from __future__ import annotations

from typing import NamedTuple

TARGET = """
gpu_device_info {{
  threads_per_block_limit: 1024 threads_per_warp: 32 shared_memory_per_block: 49152
  shared_memory_per_core: {shared} threads_per_core_limit: 2048 core_count: {cores} fpus_per_core: {units}
  block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535
  memory_bandwidth: {bandwidth} l2_cache_size: {cache} clock_rate_ghz: {clock} device_memory_size: {memory}
  shared_memory_per_block_optin: {block} cuda_compute_capability {{ major: {major} minor: 0 }}
  registers_per_core_limit: 65536 registers_per_block_limit: 65536
}}
platform_name: "CUDA" dnn_version_info {{ major: 9 minor: 1 patch: 0 }}
device_description_str: "{name}"
"""


class Device(NamedTuple):
    """A described GPU. bandwidth: bytes a second between its memory and its cores; target: for XLA."""

    name: str
    bandwidth: int
    target: str


def _device(name: str, bandwidth: int, **numbers: float) -> Device:
    return Device(name, bandwidth, TARGET.format(name=name, bandwidth=bandwidth, **numbers))


DEVICES = {
    "a100": _device(
        "NVIDIA A100-SXM4-40GB", 1_555_000_000_000, cores=108, units=64, cache=41943040, clock=1.41,
        memory=42481549312, shared=167936, block=166912, major=8,
    ),
    "h100": _device(
        "NVIDIA H100-SXM5-80GB", 3_352_000_000_000, cores=132, units=128, cache=52428800, clock=1.98,
        memory=85024112640, shared=233472, block=232448, major=9,
    ),
}  # fmt: skip
"""By the names that `make gpu-plan` knows."""
