"""A machine as a tree of any arities: what multisection works along."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

from .architectures.architecture import Architecture, Domain
from .evaluation import architecture_of
from .machine import Machine


@dataclass(frozen=True)
class HostTree:
    """A machine as a tree: sons are equally far from one another; leaves are processors.

    Attributes
    ----------
    processors : tuple of int
        Those below this node, in order.
    sons : tuple of HostTree
        Empty for a processor.
    """

    processors: tuple[int, ...]
    sons: tuple[HostTree, ...] = ()

    def groups(self) -> list[list[int]]:
        """The processors below each lowest inner node, in order."""
        if all(not s.sons for s in self.sons):
            return [list(self.processors)]
        return [group for s in self.sons for group in s.groups()]

    def height(self) -> int:
        """Levels below this node."""
        return 1 + max(s.height() for s in self.sons) if self.sons else 0

    def binary(self) -> bool:
        """Whether no node has more than two sons."""
        return len(self.sons) <= 2 and all(s.binary() for s in self.sons)

    def arities(self) -> list[int] | None:
        """Number of sons at each level, root first; None where nodes of a level differ."""
        out, level = [], [self]
        while level[0].sons:
            if len({len(node.sons) for node in level}) > 1:
                return None
            out.append(len(level[0].sons))
            level = [s for node in level for s in node.sons]
        return out if all(not node.sons for node in level) else None


def host_tree(machine: Machine | Architecture) -> HostTree:
    """The tree of a machine's domains, halves of one level joined: a grid gives a binary tree, a tree itself.

    It is kept as long as the machine lives.
    """
    target = architecture_of(machine)
    if target in _TREES:
        return _TREES[target]

    def grown(domain: Domain) -> HostTree:
        if target.size(domain) == 1:
            return HostTree((target.processor(domain),))
        left, right = target.sons(domain)
        apart = float(target.domain_distances(left, [right])[0])
        sons = []
        waiting = [(right, left), (left, right)]
        while waiting:
            one, other = waiting.pop()
            if target.size(one) > 1:
                a, b = target.sons(one)
                if (target.domain_distances(a, [b, other]) == apart).all() and float(
                        target.domain_distances(b, [other])[0]) == apart:
                    waiting += [(b, other), (a, other)]
                    continue
            sons.append(grown(one))
        return HostTree(tuple(p for s in sons for p in s.processors), tuple(sons))

    found = _TREES[target] = grown(target.root)
    return found


_TREES: WeakKeyDictionary[Architecture, HostTree] = WeakKeyDictionary()
