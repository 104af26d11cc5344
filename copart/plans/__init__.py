"""The whole job: components in, co-partition, figures and files out.

==============  ===========================================================================
`plan`          one scheme, with figures and files: :func:`copart.plan`
`compare`       every scheme over several seeds
`replan`        a plan's folder taken up again
`requests`      what is asked for, checked before the work
`sources`       meshes as callers name them
`components`    components and their interedges, from whatever a caller has
`allot`         processes shared out among the components
`output`        the folder a plan leaves behind
`verify`        is what a plan's folder states true; :mod:`.placements_check` on machines
`writers`       files for solvers, couplers and viewers
==============  ===========================================================================
"""
