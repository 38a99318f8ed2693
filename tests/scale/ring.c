/* An MPI program whose counts are known: rank r calls step() (r + 1) * 1000 times, and all learn the sum. */
#include <mpi.h>

enum { ROUNDS = 1000 };

__attribute__((noinline)) int step(int x);
int step(int x)
{
    __asm__ volatile("" : "+r"(x));
    return x + 1;
}

int main(int argc, char **argv)
{
    int rank, size, sum = 0;
    volatile int x = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < (rank + 1) * ROUNDS; i++)
        x = step(x);
    int mine = x;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return sum == ROUNDS * size * (size + 1) / 2 ? 0 : 1;
}
