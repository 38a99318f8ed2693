/* library.c - what a program loads while it runs. */
long late_work(const long *list, int n);

long late_work(const long *list, int n)
{
    long sum = 0;
    for (int i = 0; i < n; i++)
        sum += list[i] * 7;
    return sum;
}
