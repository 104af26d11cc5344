"""The processes of a coupled run on a machine.

============  ==========================================================================
`processes`   their graph: what they send one another in either phase
`placed`      what a placement costs: what leaves hosts, hops and congestion by phase
`placements`  ways to place them: in order, codes apart, all together
`methods`     all together by the methods for the nodes of a job, and the best of several
============  ==========================================================================
"""
