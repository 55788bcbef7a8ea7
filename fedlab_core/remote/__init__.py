"""Clients elsewhere: any algorithm of this library on clients that are reached by messages.

``RemoteSimulation`` is the simulation's own loop. Its engine asks ``Clients``, which a transport
implements: ``fedlab_core.flower`` asks SuperNodes, ``fedlab_course.classroom`` asks phones.
``Client`` answers with samples that it has.
"""

from fedlab_core.remote.answers import Client
from fedlab_core.remote.elsewhere import RemoteEngine, RemoteFederation, RemoteSimulation
from fedlab_core.remote.messages import Answer, Values, Vectors
from fedlab_core.remote.transport import ClientFailed, Clients

__all__ = [
    "Answer",
    "Client",
    "ClientFailed",
    "Clients",
    "RemoteEngine",
    "RemoteFederation",
    "RemoteSimulation",
    "Values",
    "Vectors",
]
