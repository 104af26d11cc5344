"""Partitions of points by their coordinates; :mod:`copart.partitioner.multijagged` and `methods` are the ways in.

============  ===========================================================================
`points`      points, weights and targets, checked and as whole numbers
`tree`        into how many sections every box is cut
`cutting`     the cuts of all boxes of a level by selection, on any number of threads
`search`      1DPART: cuts by trial and correction, as published, also of distributed points
`pooled`      cuts of all boxes of a level by selection, on many processes together
`levels`      boxes cut level by level, the frame that the methods share
`methods`     Multi-Jagged, recursive bisection and space-filling curves under one call
`result`      parts, boxes and counters
`boxes`       the graph of parts that are boxes, and its messages
`migration`   CHECKANDMIGRATE: when and where to points move between processes
============  ===========================================================================
"""
