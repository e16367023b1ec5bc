"""What a run tells TensorBoard, without TensorFlow or torch, which the usual writers need."""

from __future__ import annotations

import struct
import time
import zlib
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

try:
    from tensorboard.compat.proto.event_pb2 import Event, SessionLog
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.plugins.histogram.summary_v2 import histogram_pb
    from tensorboard.plugins.hparams import summary_v2 as hparams
    from tensorboard.plugins.scalar.summary_v2 import scalar_pb
    from tensorboard.summary.writer.event_file_writer import EventFileWriter
except ImportError as missing:
    raise ImportError(
        "learning writes for TensorBoard, which is not installed: pip install 'crush-gym[learn]'"
    ) from missing

__all__ = ["Board"]


class Board:
    """A folder of events. Steps are moves played."""

    def __init__(self, folder: Path, resumed: int | None = None) -> None:
        """resumed: the step from which on what was written before does not count."""
        self._writer: Any = EventFileWriter(str(folder))
        if resumed is not None:
            log = SessionLog(status=SessionLog.START)
            self._writer.add_event(Event(wall_time=time.time(), step=resumed, session_log=log))

    def scalars(self, step: int, values: Mapping[str, float]) -> None:
        """Numbers by name."""
        for name, value in values.items():
            self._add(step, scalar_pb(name, float(value)))

    def histograms(self, step: int, values: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Arrays of numbers by name."""
        for name, array in values.items():
            self._add(step, histogram_pb(name, np.asarray(array, np.float64).ravel(), buckets=30))

    def picture(self, step: int, name: str, pixels: np.ndarray[Any, Any]) -> None:
        """A picture, uint8[H, W, 3]."""
        height, width = pixels.shape[:2]
        image = Summary.Image(height=height, width=width, colorspace=3, encoded_image_string=png(pixels))
        self._add(step, Summary(value=[Summary.Value(tag=name, image=image)]))

    def settings(self, values: Mapping[str, Any], metric: str) -> None:
        """What is compared between runs, and by which number."""
        plain = {k: v if isinstance(v, bool | int | float | str) else str(v) for k, v in values.items()}
        self._add(0, hparams.hparams_config_pb([hparams.HParam(key) for key in plain], [hparams.Metric(metric)]))
        self._add(0, hparams.hparams_pb(plain))

    def _add(self, step: int, summary: Any) -> None:
        self._writer.add_event(Event(wall_time=time.time(), step=step, summary=summary))

    def __enter__(self) -> Board:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._writer.close()


def png(pixels: np.ndarray[Any, Any]) -> bytes:
    """A picture uint8[H, W, 3] as a file: each row after a byte that says that it is not filtered."""
    height, width = pixels.shape[:2]
    rows = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, -1)], axis=1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes())), (b"IEND", b""))
    chunks = [
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in parts
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)
