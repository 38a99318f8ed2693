/* tokens.cc - the C++ program of examples/pgo: reads expressions, builds trees of virtual nodes, evaluates them again and
 * again. Which operator is frequent, and which branch of the reader is rare, no compiler can see in the source. */
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

struct Node {
    virtual ~Node() = default;
    virtual uint64_t value(const uint64_t *variables) const = 0;
};
using Tree = std::unique_ptr<Node>;

struct Number : Node {
    explicit Number(uint64_t n) : number(n) {}
    uint64_t value(const uint64_t *) const override { return number; }
    uint64_t number;
};
struct Variable : Node {
    explicit Variable(unsigned i) : index(i) {}
    uint64_t value(const uint64_t *variables) const override { return variables[index]; }
    unsigned index;
};
template <char Operator> struct Binary : Node {
    Binary(Tree l, Tree r) : left(std::move(l)), right(std::move(r)) {}
    uint64_t value(const uint64_t *variables) const override
    {
        uint64_t l = left->value(variables), r = right->value(variables);
        switch (Operator) {
        case '+': return l + r;
        case '-': return l - r;
        case '*': return l * r;
        default: return r == 0 ? 0 : l / r;
        }
    }
    Tree left, right;
};

class Reader {
  public:
    explicit Reader(const std::string &text) : at(text.c_str()) {}
    Tree sum()
    {
        Tree tree = product();
        for (;;) {
            skip();
            if (*at == '+')
                at++, tree = std::make_unique<Binary<'+'>>(std::move(tree), product());
            else if (*at == '-')
                at++, tree = std::make_unique<Binary<'-'>>(std::move(tree), product());
            else
                return tree;
        }
    }

  private:
    Tree product()
    {
        Tree tree = factor();
        for (;;) {
            skip();
            if (*at == '/')
                at++, tree = std::make_unique<Binary<'/'>>(std::move(tree), factor());
            else if (*at == '*')
                at++, tree = std::make_unique<Binary<'*'>>(std::move(tree), factor());
            else
                return tree;
        }
    }
    Tree factor()
    {
        skip();
        if (*at == '(') {
            at++;
            Tree tree = sum();
            at += *at == ')';
            return tree;
        }
        if (std::isalpha(static_cast<unsigned char>(*at))) {
            std::string name;
            while (std::isalnum(static_cast<unsigned char>(*at)))
                name += *at++;
            auto found = names.emplace(name, names.size() % 16);
            return std::make_unique<Variable>(static_cast<unsigned>(found.first->second));
        }
        uint64_t number = 0;
        while (*at >= '0' && *at <= '9')
            number = 10 * number + static_cast<uint64_t>(*at++ - '0');
        return std::make_unique<Number>(number);
    }
    void skip()
    {
        while (*at == ' ' || *at == '\t')
            at++;
    }
    const char *at;
    std::map<std::string, size_t> names;
};

static std::string make_text(uint64_t &state, unsigned depth)
{
    static const char *const leaves[] = {"x", "y", "zebra", "17", "4", "count"};
    state = state * 6364136223846793005u + 1442695040888963407u;
    unsigned choice = static_cast<unsigned>(state >> 40);
    if (depth == 0)
        return leaves[choice % 6];
    const char *op = choice % 100 < 80 ? " + " : choice % 100 < 95 ? "*" : choice % 100 < 99 ? " - " : "/";
    std::string left = make_text(state, depth - 1), right = make_text(state, depth - 1);
    return choice % 3 == 0 ? "(" + left + op + right + ")" : left + op + right;
}

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 20;
    uint64_t state = 42, sum = 0;
    for (unsigned i = 0; i < rounds; i++) {
        const std::string text = make_text(state, 9);
        Reader reader(text);
        Tree tree = reader.sum();
        uint64_t variables[16];
        for (unsigned k = 0; k < 200; k++) {
            for (unsigned v = 0; v < 16; v++)
                variables[v] = (k + v) % 7;
            sum = sum * 31 + tree->value(variables);
        }
    }
    std::printf("%llu\n", static_cast<unsigned long long>(sum));
}
