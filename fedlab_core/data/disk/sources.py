"""The data sets that come as files: the files, the addresses, the checksums, the terms."""

from typing import NamedTuple


class Member(NamedTuple):
    """One file of a data set: name, size in bytes and MD5 sum of the uncompressed file."""

    name: str
    size: int
    md5: str


class Source(NamedTuple):
    """One data set: its possible ``folders`` below the data folder, of which ``fetch`` writes the first, and its files.

    ``mirrors`` publish one tar file ``archive``, or else the ``members`` with the suffix ``packing``. ``subset``: files
    of a part of the set, which is read if ``members`` are not there.
    """

    name: str
    folders: tuple[str, ...]
    members: tuple[Member, ...]
    terms: str
    citation: str
    mirrors: tuple[str, ...]
    packing: str = ""
    archive: Member | None = None
    subset: tuple[Member, ...] = ()


def _idx_members(*md5_sums: str) -> tuple[Member, ...]:
    """The four idx files: a header of 16 bytes before images and 8 before labels, then one byte per pixel or label."""
    names = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")
    sizes = (16 + 60_000 * 28 * 28, 8 + 60_000, 16 + 10_000 * 28 * 28, 8 + 10_000)
    return tuple(map(Member, names, sizes, md5_sums))


MNIST = Source(
    "mnist",
    folders=("mnist", "MNIST/raw"),
    members=_idx_members(
        "6bbc9ace898e44ae57da46a324031adb",
        "a25bea736e30d166cdddb491f175f624",
        "2646ac647ad5339dbf082846283269ea",
        "27ae3e4e09519cfbb04c329615203637",
    ),
    terms="CC BY-SA 3.0, Y. LeCun and C. Cortes",
    citation="Y. LeCun, L. Bottou, Y. Bengio, P. Haffner: Gradient-based learning applied to document recognition. "
    "Proceedings of the IEEE 86 (1998)",
    mirrors=("https://ossci-datasets.s3.amazonaws.com/mnist/", "http://yann.lecun.com/exdb/mnist/"),
    packing=".gz",
)
FASHION_MNIST = Source(
    "fashion-mnist",
    folders=("fashion-mnist", "FashionMNIST/raw"),
    members=_idx_members(
        "f4a8712d7a061bf5bd6d2ca38dc4d50a",
        "9018921c3c673c538a1fc5bad174d6f9",
        "8181f5470baa50b63fa0f6fddb340f0a",
        "15d484375f8d13e6eb1aabb0c3f46965",
    ),
    terms="MIT licence, Zalando SE",
    citation="H. Xiao, K. Rasul, R. Vollgraf: Fashion-MNIST: a novel image dataset for benchmarking machine learning "
    "algorithms. arXiv:1708.07747 (2017)",
    mirrors=("http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",),
    packing=".gz",
)
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
    mirrors=("https://www.cs.toronto.edu/~kriz/",),
    archive=Member("cifar-10-binary.tar.gz", 170_052_171, "c32a1d4ab5d03f1284b67883e8d87530"),
)
SENTIMENT140 = Source(
    "sentiment140",
    folders=("sentiment140", "trainingandtestdata"),
    members=(Member("trainingandtestdata.zip", 81_363_704, "1647eb110dd2492512e27b9a70d5d1bc"),),
    terms="no explicit licence; cite the report",
    citation="A. Go, R. Bhayani, L. Huang: Twitter sentiment classification using distant supervision. CS224N project "
    "report, Stanford (2009)",
    mirrors=("http://cs.stanford.edu/people/alecmgo/",),
    subset=(  # 22,483 tweets of 2,622 accounts, and the test tweets, with masked names and links
        Member("training.subset.noemoticon.csv", 2_555_273, "93346666405d47a0204cd073c446f8a9"),
        Member("testdata.manual.2009.06.14.csv", 70_079, "661971fd86557cfab2acd64ff9c83fc9"),
    ),
)

SOURCES = {source.name: source for source in (MNIST, FASHION_MNIST, CIFAR10, SENTIMENT140)}
BUILT_IN = {"digits": "comes with scikit-learn", "synthetic": "is computed when it is loaded"}
DATASETS = ("digits", *SOURCES, "synthetic")
