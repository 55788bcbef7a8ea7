"""A kernel as hosts have it: its shell is a subclass of that of ipykernel, with a name of its own."""

from ipykernel.ipkernel import IPythonKernel
from ipykernel.zmqshell import ZMQInteractiveShell
from traitlets import Type


class Shell(ZMQInteractiveShell):
    """As ``google.colab._shell.Shell``."""


class Kernel(IPythonKernel):
    """As ``google.colab._kernel.Kernel``."""

    shell_class = Type(Shell)
