"""What runs on MPI: the only importer of mpi4py."""
