import numpy as np
from tests.test_repart import *
for m,n in [(12, 12), (12, 16), (16, 12), (6, 18)]:
    rows={x:[] for x in METHODS}
    for seed in (1,2,3,4):
        graph = grid(50, 50)
        former = partition(graph, m, seed=seed)
        if m == n: graph = graph.replace(vwgt=np.where(np.arange(2500) < 750, 3, 1))
        for method in METHODS:
            new = repartition(graph, former, m, n, method=method, seed=seed)
            rows[method].append((*moved(graph, former, new, m, n), edge_cut(graph, new)))
    print(m,n,{k:np.mean(v,axis=0).tolist() for k,v in rows.items()})
graph = grid(10, 10)
i, j = np.divmod(np.arange(100), 10)
for former in (np.where(i >= 8, 4, 2 * (i // 4) + j // 5) , i // 2):
    r=[]
    for seed in range(1,9):
        new = repartition(graph, former, 5, 7, seed=seed); c = migration_matrix(former, new, 5, 7)
        remap = repartition(graph, former, 5, 7, seed=seed, method="scratch-remap"); o=migration_matrix(former, remap, 5, 7)
        r.append((c.nnz, migration_volume(c), edge_cut(graph,new), o.nnz, migration_volume(o), edge_cut(graph, remap)))
    print(np.mean(r,axis=0))
