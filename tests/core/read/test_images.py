"""Folders of images: their classes and users, sizes and channels, and what is refused."""

from pathlib import Path

import numpy as np
import pytest
import torch

import fedlab_core as fl

Image = pytest.importorskip("PIL.Image")


def save(path: Path, value: int | tuple[int, int, int], mode: str = "RGB", size: tuple[int, int] = (6, 4)) -> None:
    """A flat image of (width, height) ``size``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new(mode, size, value).save(path)


def folder(root: Path) -> Path:
    """Three users; three classes, of which one has two."""
    for user, holdings in {"10": {"owl": 3, "bat": 2}, "9": {"owl": 4}, "2": {"bat": 1, "eel": 2}}.items():
        for name, count in holdings.items():
            for i in range(count):
                save(root / user / name / f"{i}.png", (int(user), 51 * i, 255))
    return root


def test_with_users_it_is_a_federation(tmp_path: Path) -> None:
    fed = fl.read.image_folder(folder(tmp_path / "birds"), users=True, test=0.0)
    assert fed.names == ("2", "9", "10") and fed.sizes.tolist() == [3, 4, 5]
    assert fed.dataset.classes == ("bat", "eel", "owl") and fed.dataset.name == "birds"
    assert fed.x.dtype == torch.float32 and fed.x.shape == (12, 3, 4, 6)
    for k, name in enumerate(fed.names):
        x, _ = fed.client(k)
        assert torch.allclose(x[:, 0], torch.tensor(int(name) / 255)) and torch.equal(x[:, 2], torch.ones(len(x), 4, 6))
    x, y = fed.client(0)
    assert y.tolist() == [0, 1, 1]
    assert x[:, 1, 0, 0].tolist() == pytest.approx([0, 0, 0.2])


def test_without_users_it_is_a_data_set(tmp_path: Path) -> None:
    for i in range(4):
        save(tmp_path / "data" / "even" / f"{2 * i}.png", i, "L")
        save(tmp_path / "data" / "odd" / f"{2 * i + 1}.jpg", i, "L")
    (tmp_path / "data" / "odd" / "notes.txt").write_text("no image")
    (tmp_path / "data" / "odd" / ".hidden.png").write_bytes(b"")
    dataset = fl.read.image_folder(tmp_path / "data", test=0.25)
    assert isinstance(dataset, fl.Dataset) and dataset.classes == ("even", "odd")
    assert dataset.train.x.shape == (6, 1, 4, 6) and len(dataset.test) == 2


def test_rows_are_rows_and_channels_come_first(tmp_path: Path) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (2, 4, 6, 3), dtype=np.uint8)
    for i, array in enumerate(pixels):
        (tmp_path / f"{i}").mkdir()
        Image.fromarray(array).save(tmp_path / f"{i}" / "image.png")
    dataset = fl.read.image_folder(tmp_path, test=0.0)
    expected = torch.from_numpy(pixels).permute(0, 3, 1, 2) / 255
    torch.testing.assert_close(dataset.train.x, expected, rtol=0, atol=1e-7)


def test_images_are_stretched_and_their_channels_chosen(tmp_path: Path) -> None:
    save(tmp_path / "a" / "one.png", (255, 255, 255), size=(9, 3))
    save(tmp_path / "a" / "two.png", 102, "L", size=(2, 8))
    save(tmp_path / "b" / "three.png", (51, 51, 51, 7), "RGBA", size=(5, 5))
    for channels in (1, 3):
        x = fl.read.image_folder(tmp_path, size=(4, 6), channels=channels, test=0.0).train.x
        assert x.shape == (3, channels, 4, 6)
        assert [(float(image.min()), float(image.max())) for image in x] == [
            (pytest.approx(v), pytest.approx(v)) for v in (1.0, 0.4, 0.2)
        ]
    assert fl.read.image_folder(tmp_path, size=5, channels=1, test=0.0).train.x.shape == (3, 1, 5, 5)
    with pytest.raises(ValueError, match=r"two\.png: is 2 × 8 pixels, but .*one\.png is 9 × 3; size="):
        fl.read.image_folder(tmp_path, channels=1)
    with pytest.raises(ValueError, match=r"two\.png: is grey, but .*one\.png is colour; channels=1 or 3"):
        fl.read.image_folder(tmp_path, size=5)


def test_a_test_folder_of_its_own(tmp_path: Path) -> None:
    train = folder(tmp_path / "train")
    save(tmp_path / "test" / "77" / "owl" / "0.png", (0, 0, 255))
    fed = fl.read.image_folder(train, users=True, test=tmp_path / "test")
    assert fed.test.y.tolist() == [2] and len(fed.x) == 12
    save(tmp_path / "test" / "77" / "yak" / "0.png", (0, 0, 255))
    with pytest.raises(ValueError, match=r"class of the test data: 1 of 2 labels are not among the 3 classes.*'yak'"):
        fl.read.image_folder(train, users=True, test=tmp_path / "test")
    fed = fl.read.image_folder(train, users=True, test=tmp_path / "test", classes=["owl", "yak", "bat", "eel"])
    assert fed.test.y.tolist() == [0, 1] and fed.num_classes == 4


def test_users_split_and_left_out(tmp_path: Path) -> None:
    fed = fl.read.image_folder(folder(tmp_path), users=True, test=0.5, min_samples=4)
    assert fed.names == ("9", "10") and fed.sizes.tolist() == [2, 3] and len(fed.test) == 4


def test_what_is_no_such_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nowhere: is no folder"):
        fl.read.image_folder(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="no images in its folders"):
        fl.read.image_folder(tmp_path / "empty")
    with pytest.raises(ValueError, match="holds no user's folder"):
        fl.read.image_folder(tmp_path / "empty", users=True)
    with pytest.raises(ValueError, match=r"with users=True, path/user/class/image\.png"):
        fl.read.image_folder(folder(tmp_path / "users"))
    save(tmp_path / "flat" / "owl" / "0.png", (0, 0, 0))
    with pytest.raises(ValueError, match=r"with users=False, path/class/image\.png"):
        fl.read.image_folder(tmp_path / "flat", users=True)
    for options, words in (
        ({"size": 0}, "size=0"),
        ({"size": (1, 2, 3)}, r"size=\(1, 2, 3\): must be \(height, width\)"),
        ({"channels": 2}, "channels=2: must be one of 1, 3"),
        ({"test": -0.1}, "test=-0.1"),
    ):
        with pytest.raises(ValueError, match=words):
            fl.read.image_folder(tmp_path / "flat", **options)


def test_damaged_and_unusual_files_are_named(tmp_path: Path) -> None:
    save(tmp_path / "a" / "0.png", (0, 0, 0))
    (tmp_path / "a" / "1.png").write_bytes(b"no image")
    with pytest.raises(ValueError, match=r"1\.png: cannot be read as an image"):
        fl.read.image_folder(tmp_path)
    noise = np.random.default_rng(0).integers(0, 256, (4, 6, 3), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / "a" / "1.png")
    whole = (tmp_path / "a" / "1.png").read_bytes()
    (tmp_path / "a" / "1.png").write_bytes(whole[:60])
    with pytest.raises(ValueError, match=r"1\.png: cannot be read as an image"):
        fl.read.image_folder(tmp_path)
    save(tmp_path / "a" / "1.png", 40_000, "I;16")
    with pytest.raises(ValueError, match=r"1\.png: its pixels are of Pillow's mode 'I;16', which has no 8 bits"):
        fl.read.image_folder(tmp_path, size=4)
    with pytest.raises(ValueError, match=r"Pillow's mode"):
        fl.read.image_folder(tmp_path, size=4, channels=1)


def test_pillow_is_asked_for_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "PIL", None)
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(ImportError, match="pip install pillow"):
        fl.read.image_folder(tmp_path)
