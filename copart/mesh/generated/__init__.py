"""Generated meshes: cubes, tubes and cylinders."""
