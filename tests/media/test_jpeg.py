"""JPEGs and identities of files."""

import av
import numpy as np
import pytest

from egomem.errors import MediaError, UsageError
from egomem.media import content_hash, frames, jpeg, thumbnail


def decoded(data):
    assert data[:2] == b"\xff\xd8"
    assert data[-2:] == b"\xff\xd9"
    decoder = av.CodecContext.create("mjpeg", "r")
    (frame,) = [*decoder.decode(av.Packet(data)), *decoder.decode(None)]
    return frame.to_ndarray(format="rgb24")


@pytest.mark.parametrize("size", [(64, 48), (63, 47), (1, 1), (16, 200)])
def test_a_jpeg_shows_the_picture(make, size):
    image = (
        make.picture(5, 64, 64)[: size[1], : size[0]] if max(size) <= 64 else make.picture(5, *size)
    )
    again = decoded(jpeg(image, quality=95))
    assert again.shape == image.shape
    assert np.abs(again.astype(int) - image).mean() < 12


def test_colours_keep_their_range():
    image = np.zeros((32, 48, 3), np.uint8)
    image[:, :16], image[:, 16:32], image[:, 32:] = 255, (255, 0, 0), (0, 0, 255)
    again = decoded(jpeg(image, quality=100)).astype(int)
    for x, colour in ((8, (255, 255, 255)), (24, (255, 0, 0)), (40, (0, 0, 255))):
        assert np.abs(again[16, x] - colour).max() < 8


def test_quality_costs_bytes(make):
    image = make.picture(3, 128, 128)
    sizes = [len(jpeg(image, quality=q)) for q in (5, 30, 60, 85, 100)]
    assert sizes == sorted(sizes)
    assert sizes[0] * 2 < sizes[-1]
    with pytest.raises(UsageError):
        jpeg(image, quality=0)


def test_the_same_frame_gives_the_same_bytes(video_file):
    path, _ = video_file("h264_b.mp4")
    (frame,) = frames(path, [1.0], side=48)
    assert jpeg(frame) == jpeg(frame.image) == jpeg(frame)


def test_a_thumbnail_is_small_and_upright(make, tmp_path):
    path = tmp_path / "turned.mp4"
    make.video(path, count=20, size=(96, 64), rotation=90)
    assert decoded(thumbnail(path, 0.5, side=48)).shape == (48, 32, 3)
    with pytest.raises(MediaError, match="at 99 s"):
        thumbnail(path, 99.0)


def test_identity_is_the_whole_content(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"abc")
    assert content_hash(path) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    path.write_bytes(b"abcd")
    assert content_hash(path)[:8] == "88d4266f"
    with pytest.raises(MediaError):
        content_hash(tmp_path / "gone")
