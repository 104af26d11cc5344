"""Routes of messages through a network, and how many share a link.

==========  =======================================================================================
`networks`  tori, meshes, fat trees and dragonflies: points, links, bandwidths, one static route per pair
`figures`   hops, congestion and traffic of nodes of a placement (`evaluate_congestion`), and the load of every link
==========  =======================================================================================
"""

from .figures import CongestionFigures, LinkLoads, evaluate_congestion, link_loads
from .networks import Dragonfly, FatTree, MeshNetwork, Network, TorusNetwork, network_of

__all__ = ["CongestionFigures", "Dragonfly", "FatTree", "LinkLoads", "MeshNetwork", "Network", "TorusNetwork",
           "evaluate_congestion", "link_loads", "network_of"]
