"""Meshes out: VTU and what meshio writes (`vtu`), `pieces` of a mesh, gmsh with partition tags (`gmsh_parts`)."""
