"""The data sets that come as files: what belongs to each, where it is published, on what terms."""

from typing import NamedTuple

from fedlab_core.validation import choice

MOST_BYTES = 1 << 29  # that a file of unknown size may have


class Member(NamedTuple):
    """One file of a data set: its name, size in bytes and MD5 sum, all of the uncompressed file.

    What is not published is ``MOST_BYTES``, which no such file exceeds, or an empty ``md5``.
    """

    name: str
    size: int
    md5: str


class Download(NamedTuple):
    """One published file, its MD5 sum as published, and the addresses to try in turn."""

    filename: str
    md5: str
    urls: tuple[str, ...]


class Source(NamedTuple):
    """One data set.

    ``folders``: where it may lie below the data folder; the first is where ``fetch`` puts it. ``members``: its files,
    each of which may also be there as ``.gz`` or ``.xz``. ``archive``: name of a published tar file that holds the
    members. ``others``: other files that may be there in the place of ``members``, the whole set in another form, or a
    part of it.
    """

    name: str
    folders: tuple[str, ...]
    members: tuple[Member, ...]
    terms: str
    citation: str
    downloads: tuple[Download, ...]
    archive: str | None = None
    others: tuple[tuple[Member, ...], ...] = ()


def _idx_source(
    name: str, folder: str, terms: str, citation: str, mirrors: tuple[str, ...], sums: tuple[tuple[str, str], ...]
) -> Source:
    """Four idx files, with the MD5 ``sums`` of each, plain and packed as all ``mirrors`` publish them.

    16 bytes before the images, 8 before the labels, then one byte per pixel and per label.
    """
    names = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")
    sizes = (16 + 60_000 * 28 * 28, 8 + 60_000, 16 + 10_000 * 28 * 28, 8 + 10_000)
    plain, packed = zip(*sums, strict=True)
    files = [f"{file}.gz" for file in names]
    downloads = [
        Download(file, md5, tuple(url + file for url in mirrors)) for file, md5 in zip(files, packed, strict=True)
    ]
    return Source(name, (name, folder), tuple(map(Member, names, sizes, plain)), terms, citation, tuple(downloads))


MNIST = _idx_source(
    "mnist",
    "MNIST/raw",
    terms="CC BY-SA 3.0, Y. LeCun and C. Cortes",
    citation="Y. LeCun, L. Bottou, Y. Bengio, P. Haffner: Gradient-based learning applied to document recognition. "
    "Proceedings of the IEEE 86 (1998)",
    mirrors=("https://ossci-datasets.s3.amazonaws.com/mnist/", "http://yann.lecun.com/exdb/mnist/"),
    sums=(
        ("6bbc9ace898e44ae57da46a324031adb", "f68b3c2dcbeaaa9fbdd348bbdeb94873"),
        ("a25bea736e30d166cdddb491f175f624", "d53e105ee54ea40749a09fcbcd1e9432"),
        ("2646ac647ad5339dbf082846283269ea", "9fb629c4189551a2d022fa330f9573f3"),
        ("27ae3e4e09519cfbb04c329615203637", "ec29112dd5afa0611ce80d1b7f02629c"),
    ),
)
FASHION_MNIST = _idx_source(
    "fashion-mnist",
    "FashionMNIST/raw",
    terms="MIT licence, Zalando SE",
    citation="H. Xiao, K. Rasul, R. Vollgraf: Fashion-MNIST: a novel image dataset for benchmarking machine learning "
    "algorithms. arXiv:1708.07747 (2017)",
    mirrors=("http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",),
    sums=(
        ("f4a8712d7a061bf5bd6d2ca38dc4d50a", "8d4fb7e6c68d591d4c3dfef9ec88bf0d"),
        ("9018921c3c673c538a1fc5bad174d6f9", "25c81989df183df01b3e8a0aad5dffbe"),
        ("8181f5470baa50b63fa0f6fddb340f0a", "bef4ecab320f06d8554ea6380940ec79"),
        ("15d484375f8d13e6eb1aabb0c3f46965", "bb300cfdad3c16e7a12a480ee83cd310"),
    ),
)
_CIFAR10_ARCHIVE, _CIFAR10_FOLDER = "cifar-10-binary.tar.gz", "https://www.cs.toronto.edu/~kriz"
_BATCH_SIZE = 10_000 * (1 + 3 * 32 * 32)
CIFAR10 = Source(
    "cifar10",
    folders=("cifar-10-batches-bin",),
    members=(
        Member("data_batch_1.bin", _BATCH_SIZE, "5dd7e06a14cb22eb9f671a540d1b7c25"),
        Member("data_batch_2.bin", _BATCH_SIZE, "5ea93a67294ea407fff1d09f752e9692"),
        Member("data_batch_3.bin", _BATCH_SIZE, "942cd6a4bcdd0dd3c604fbe906cb4421"),
        Member("data_batch_4.bin", _BATCH_SIZE, "ae636b3ba5c66a11e91e8cb52e771fcb"),
        Member("data_batch_5.bin", _BATCH_SIZE, "53f37980c15c3d472c316c40844f3f0d"),
        Member("test_batch.bin", _BATCH_SIZE, "803d5f7f4d78ea53de84dbe85f74fb6d"),
    ),
    terms="no explicit licence; cite the report",
    citation="A. Krizhevsky: Learning multiple layers of features from tiny images. Technical report (2009)",
    downloads=(
        Download(_CIFAR10_ARCHIVE, "c32a1d4ab5d03f1284b67883e8d87530", (f"{_CIFAR10_FOLDER}/{_CIFAR10_ARCHIVE}",)),
    ),
    archive=_CIFAR10_ARCHIVE,
)
SENTIMENT140_FILES = ("training.1600000.processed.noemoticon.csv", "testdata.manual.2009.06.14.csv")
_ZIP, _ZIP_MD5 = "trainingandtestdata.zip", "1647eb110dd2492512e27b9a70d5d1bc"
SENTIMENT140 = Source(
    "sentiment140",
    folders=("sentiment140", "trainingandtestdata"),
    members=(Member(_ZIP, MOST_BYTES, _ZIP_MD5),),  # stays packed: no checksums of what is in it are published
    terms="no explicit licence; cite the report",
    citation="A. Go, R. Bhayani, L. Huang: Twitter sentiment classification using distant supervision. CS224N project "
    "report, Stanford (2009)",
    downloads=(Download(_ZIP, _ZIP_MD5, (f"http://cs.stanford.edu/people/alecmgo/{_ZIP}",)),),
    others=(
        tuple(Member(name, MOST_BYTES, "") for name in SENTIMENT140_FILES),
        (  # a part of the set: 22,483 tweets of 2,622 accounts, and the test tweets, with names and links masked
            Member("training.subset.noemoticon.csv", 2_555_273, "93346666405d47a0204cd073c446f8a9"),
            Member("testdata.manual.2009.06.14.csv", 70_079, "661971fd86557cfab2acd64ff9c83fc9"),
        ),
    ),
)

SOURCES = {source.name: source for source in (MNIST, FASHION_MNIST, CIFAR10, SENTIMENT140)}
# Sets that need no files, and why.
BUILT_IN = {"digits": "comes with scikit-learn", "synthetic": "is computed when it is loaded"}
DATASETS = ("digits", "mnist", "fashion-mnist", "cifar10", "sentiment140", "synthetic")


def find_source(name: str) -> Source:
    """The :class:`Source` called ``name``. Raises ``ValueError`` for any other name, naming the nearest."""
    return SOURCES[choice("name", name, SOURCES)]
