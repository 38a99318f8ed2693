// rivals.cc - counting with std::unordered_map and, where it is installed, absl::flat_hash_map.
#include "rivals.h"
#include <cstdint>
#include <unordered_map>
#include <riffle/event.h>
#ifdef HAVE_ABSL
#include <absl/container/flat_hash_map.h>
#endif

// Laid out as in bench.h, which is C.
struct bench_engine {
    const char *text;
    const rf_tuple *tuples;
    size_t n;
    size_t memory;
};

namespace
{
struct Key {
    uint64_t a, b;
    bool operator==(const Key &other) const
    {
        return a == other.a && b == other.b;
    }
    template <typename H> friend H AbslHashValue(H h, const Key &k)
    {
        return H::combine(std::move(h), k.a, k.b);
    }
};

struct StdHash {
    size_t operator()(const Key &k) const
    {
        return std::hash<uint64_t>()(k.a * 0x9e3779b97f4a7c15u ^ k.b);
    }
};

template <typename Map> void count(void *context)
{
    auto *run = static_cast<bench_engine *>(context);
    Map map;
    for (size_t i = 0; i < run->n; i++)
        map[Key{run->tuples[i].a, run->tuples[i].b}]++;
    run->memory = map.size();
}
} // namespace

void rival_unordered_map(void *context)
{
    count<std::unordered_map<Key, uint64_t, StdHash>>(context);
}

#ifdef HAVE_ABSL
void rival_absl_flat_hash_map(void *context)
{
    count<absl::flat_hash_map<Key, uint64_t>>(context);
}
#endif
