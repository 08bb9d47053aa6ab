"""What packets say of themselves, on units written by hand."""

from types import SimpleNamespace

import pytest

from egomem.media.bitstream import (
    Restart,
    UnsafeToPrune,
    header_reader,
    split_lengths,
    split_start_codes,
)


def stream(codec, extradata=b"", field_order=1):
    context = SimpleNamespace(
        codec=SimpleNamespace(canonical_name=codec), extradata=extradata, field_order=field_order
    )
    return SimpleNamespace(codec_context=context)


def unit(*data):
    return b"\0\0\0\1" + bytes(data)


def hevc(kind, layer=0):
    """A slice of a picture in a temporal sub-layer, after its two header bytes."""
    return unit(kind << 1, layer + 1, 0x80, 0x11)


def hevc_stream(sublayers):
    return stream("hevc", unit(33 << 1, 1, (sublayers - 1) << 1, 0x55))


@pytest.mark.parametrize(
    ("kind", "layer", "sublayers", "disposable"),
    [
        (0, 0, 1, True),  # TRAIL_N where there is one sub-layer
        (1, 0, 1, False),  # TRAIL_R
        (0, 0, 3, False),  # TRAIL_N that a higher sub-layer may refer to
        (2, 1, 3, False),  # TSA_N in the middle
        (2, 2, 3, True),  # TSA_N in the highest
        (3, 2, 3, False),
        (8, 0, 1, True),  # RASL_N
        (9, 0, 1, False),
    ],
)
def test_hevc_pictures_that_none_refers_to(kind, layer, sublayers, disposable):
    header = header_reader(hevc_stream(sublayers))(hevc(kind, layer), False)
    assert (header.restart, header.disposable) == (Restart.NO, disposable)


@pytest.mark.parametrize(
    ("kind", "restart"),
    [(19, Restart.OPEN), (20, Restart.CLOSED), (21, Restart.OPEN), (16, Restart.OPEN)],
)
def test_hevc_restarts(kind, restart):
    assert header_reader(hevc_stream(1))(hevc(kind), True).restart is restart


def test_without_a_sequence_header_no_hevc_picture_is_disposable():
    assert not header_reader(stream("hevc"))(hevc(0), False).disposable


def test_a_second_view_is_not_the_picture():
    """MV-HEVC: units of another layer say nothing of the base view."""
    read = header_reader(hevc_stream(1))
    assert read(hevc(1) + unit(0, 0b1001, 0x80), False).disposable is False


@pytest.mark.parametrize(
    ("data", "restart", "disposable"),
    [
        (unit(0x65, 1), Restart.CLOSED, False),
        (unit(0x06, 1) + unit(0x65, 1) + unit(0x65, 1), Restart.CLOSED, False),
        (unit(0x41, 1), Restart.NO, False),
        (unit(0x01, 1), Restart.NO, True),
        (unit(0x01, 1) + unit(0x41, 1), Restart.NO, False),
    ],
)
@pytest.mark.parametrize("key", [True, False])
def test_h264(data, restart, disposable, key):
    """An I-frame that its container calls a key frame is no restart unless it is an IDR."""
    header = header_reader(stream("h264"))(data, key)
    assert (header.restart, header.disposable) == (restart, disposable)


def test_what_is_not_plainly_safe_is_unsafe():
    for codec, field_order in (("h264", 0), ("h264", 2), ("vc1", 1)):
        with pytest.raises(UnsafeToPrune):
            header_reader(stream(codec, field_order=field_order))
    for data in (unit(0x42, 1), unit(0x06, 1), b""):
        with pytest.raises(UnsafeToPrune):
            header_reader(stream("h264"))(data, False)


def test_new_parameter_sets_are_unsafe_and_repeated_ones_are_not():
    parameters = unit(0x67, 1, 2, 3)
    read = header_reader(stream("h264", parameters))
    read(parameters + unit(0x65, 1), True)
    read(parameters + unit(0x65, 1), True)
    with pytest.raises(UnsafeToPrune, match="parameter sets change"):
        read(unit(0x67, 1, 2, 4) + unit(0x65, 1), True)


def test_units_are_split():
    assert list(split_lengths(b"\0\2ab\0\1c", 2)) == [b"ab", b"c"]
    assert list(split_start_codes(b"\0\0\0\1ab\0\0\1c")) == [b"ab", b"c"]
    for wrong in (b"\0\5ab", b"\0\0", b"\0"):
        with pytest.raises(UnsafeToPrune):
            list(split_lengths(wrong, 2))


def test_a_vp8_frame_may_not_be_shown():
    read = header_reader(stream("vp8"))
    assert read(b"\x10", True).restart is Restart.CLOSED
    assert read(b"\x11\0", False).shown
    assert not read(b"\x01\0", False).shown
