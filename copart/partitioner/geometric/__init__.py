"""Partitions of points by their coordinates; :mod:`copart.partitioner.multijagged` and `methods` are the ways in.

============  ===========================================================================
`points`      points, weights and targets, checked and as whole numbers
`tree`        into how many sections every box is cut
`cutting`     the cuts of all boxes of a level by selection, on any number of threads
`levels`      boxes cut level by level, the frame that the methods share
`result`      parts, boxes and counters
============  ===========================================================================
"""
