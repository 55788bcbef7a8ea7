"""The data sets that come as files: the files, their checksums, the terms, and how to download
them.
"""

from typing import NamedTuple


class Member(NamedTuple):
    """One file of a data set: name, size in bytes and MD5 sum of the uncompressed file."""

    name: str
    size: int
    md5: str


class Layout(NamedTuple):
    """One form of a data set on disk: its files, and the folders below the data folder that may
    have them.

    ``packings``: the suffixes that each file may have. The empty suffix is the plain file.
    """

    folders: tuple[str, ...]
    members: tuple[Member, ...]
    packings: tuple[str, ...] = ("", ".gz", ".xz")


class Source(NamedTuple):
    """One data set, and the ``layouts`` in which it is read.

    ``fetch`` writes the first layout, into its first folder. It downloads the set with the class
    ``torchvision`` of ``torchvision.datasets``, or else the file at ``url``.
    """

    name: str
    layouts: tuple[Layout, ...]
    terms: str
    citation: str
    torchvision: str = ""
    url: str = ""


def _idx_layouts(folders: tuple[str, ...], *md5_sums: str) -> tuple[Layout]:
    """Four idx files: a header of 16 bytes before images and 8 before labels, then one byte per
    pixel or label.
    """
    names = (
        "train-images-idx3-ubyte",
        "train-labels-idx1-ubyte",
        "t10k-images-idx3-ubyte",
        "t10k-labels-idx1-ubyte",
    )
    sizes = (16 + 60_000 * 28 * 28, 8 + 60_000, 16 + 10_000 * 28 * 28, 8 + 10_000)
    return (Layout(folders, tuple(map(Member, names, sizes, md5_sums))),)


MNIST = Source(
    "mnist",
    layouts=_idx_layouts(
        ("MNIST/raw", "mnist"),
        "6bbc9ace898e44ae57da46a324031adb",
        "a25bea736e30d166cdddb491f175f624",
        "2646ac647ad5339dbf082846283269ea",
        "27ae3e4e09519cfbb04c329615203637",
    ),
    terms="CC BY-SA 3.0, Y. LeCun and C. Cortes",
    citation="Y. LeCun, L. Bottou, Y. Bengio, P. Haffner: Gradient-based learning applied to "
    "document recognition. Proceedings of the IEEE 86 (1998)",
    torchvision="MNIST",
)
FASHION_MNIST = Source(
    "fashion-mnist",
    layouts=_idx_layouts(
        ("FashionMNIST/raw", "fashion-mnist"),
        "f4a8712d7a061bf5bd6d2ca38dc4d50a",
        "9018921c3c673c538a1fc5bad174d6f9",
        "8181f5470baa50b63fa0f6fddb340f0a",
        "15d484375f8d13e6eb1aabb0c3f46965",
    ),
    terms="MIT licence, Zalando SE",
    citation="H. Xiao, K. Rasul, R. Vollgraf: Fashion-MNIST: a novel image dataset for "
    "benchmarking machine learning algorithms. arXiv:1708.07747 (2017)",
    torchvision="FashionMNIST",
)
_CIFAR10_PICKLES = Layout(  # torchvision checks and reads these files where they are: plain
    ("cifar-10-batches-py",),
    (
        Member("data_batch_1", 31_035_704, "c99cafc152244af753f735de768cd75f"),
        Member("data_batch_2", 31_035_320, "d4bba439e000b95fd0a9bffe97cbabec"),
        Member("data_batch_3", 31_035_999, "54ebc095f3ab1f0389bbae665268c751"),
        Member("data_batch_4", 31_035_696, "634d18415352ddfa80567beed471001a"),
        Member("data_batch_5", 31_035_623, "482c414d41f54cd18b22e5b47cb7c3cb"),
        Member("test_batch", 31_035_526, "40351d587109b95175f43aff81a1287e"),
        Member("batches.meta", 158, "5ff9c542aee3614f3951f8cda6e48888"),
    ),
    packings=("",),
)
_BATCH_SIZE = 10_000 * (1 + 3 * 32 * 32)
_CIFAR10_RECORDS = Layout(
    ("cifar-10-batches-bin",),
    (
        Member("data_batch_1.bin", _BATCH_SIZE, "5dd7e06a14cb22eb9f671a540d1b7c25"),
        Member("data_batch_2.bin", _BATCH_SIZE, "5ea93a67294ea407fff1d09f752e9692"),
        Member("data_batch_3.bin", _BATCH_SIZE, "942cd6a4bcdd0dd3c604fbe906cb4421"),
        Member("data_batch_4.bin", _BATCH_SIZE, "ae636b3ba5c66a11e91e8cb52e771fcb"),
        Member("data_batch_5.bin", _BATCH_SIZE, "53f37980c15c3d472c316c40844f3f0d"),
        Member("test_batch.bin", _BATCH_SIZE, "803d5f7f4d78ea53de84dbe85f74fb6d"),
    ),
)
CIFAR10 = Source(
    "cifar10",
    layouts=(_CIFAR10_PICKLES, _CIFAR10_RECORDS),
    terms="no explicit licence; cite the report",
    citation=(
        "A. Krizhevsky: Learning multiple layers of features from tiny images. Technical "
        "report (2009)"
    ),
    torchvision="CIFAR10",
)
_TWEET_FOLDERS = ("sentiment140", "trainingandtestdata")
SENTIMENT140 = Source(
    "sentiment140",
    layouts=(
        Layout(
            _TWEET_FOLDERS,
            (Member("trainingandtestdata.zip", 81_363_704, "1647eb110dd2492512e27b9a70d5d1bc"),),
        ),
        # a part: 22,483 tweets of 2,622 accounts, and the test tweets, with masked names and links
        Layout(
            _TWEET_FOLDERS,
            (
                Member(
                    "training.subset.noemoticon.csv", 2_555_273, "93346666405d47a0204cd073c446f8a9"
                ),
                Member(
                    "testdata.manual.2009.06.14.csv", 70_079, "661971fd86557cfab2acd64ff9c83fc9"
                ),
            ),
        ),
    ),
    terms="no explicit licence; cite the report",
    citation="A. Go, R. Bhayani, L. Huang: Twitter sentiment classification using distant "
    "supervision. CS224N project report, Stanford (2009)",
    url="http://cs.stanford.edu/people/alecmgo/trainingandtestdata.zip",
)

SOURCES = {source.name: source for source in (MNIST, FASHION_MNIST, CIFAR10, SENTIMENT140)}
BUILT_IN = {"digits": "comes with scikit-learn", "synthetic": "is computed when it is loaded"}
DATASETS = ("digits", *SOURCES, "synthetic")
