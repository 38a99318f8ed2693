// burg.cc - a generator of tree parsers: from a grammar of trees with costs to the tables of a bottom-up automaton.
//
//     burg GRAMMAR ROUNDS
//
// The algorithm is that of Proebsting, "Simple and Efficient BURS Table Generation" (1992). A state says of each
// nonterminal by which rule a tree derives from it, and how much dearer that is than the cheapest nonterminal. States
// differ for an operator only in the nonterminals that it takes there: projected to these they are its representatives,
// and tables are over representatives. Each round gives the rules other costs, as another machine would have.
//
// A line of GRAMMAR is "nonterminal: pattern (cost)", a pattern a nonterminal or Operator(pattern, ...) of at most two.
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int NEVER = 30000; // the cost of what cannot be derived
constexpr int DEAREST = 40;  // beyond the cheapest: rules that only lead there are as good as none

struct Rule {
    int left, cost;
    int operator_, children[2]; // of a chain rule the operator is -1
};

struct Operator {
    std::string name;
    int arity = 0;
    std::vector<int> rules;
    std::vector<bool> takes[2];                      // nonterminals, by child
    std::map<std::vector<int>, int> known[2];        // projected costs -> representative
    std::vector<std::vector<int>> representatives[2];
    std::map<std::pair<int, int>, int> table;        // representatives -> state
};

struct State {
    std::vector<int> costs, rules;
};

class Grammar {
  public:
    std::vector<Rule> rules;
    std::vector<Operator> operators;
    std::vector<int> chains;
    std::vector<std::string> names; // of nonterminals

    void line(const std::string &text)
    {
        rest = text.c_str();
        std::string left = word();
        expect(':');
        int from = pattern();
        add_chain_or_rename(nonterminal(left), from, cost());
    }

  private:
    const char *rest = nullptr;
    std::map<std::string, int> nonterminals, operator_of;

    void skip()
    {
        while (std::isspace(static_cast<unsigned char>(*rest)))
            rest++;
    }

    void expect(char c)
    {
        skip();
        if (*rest != c)
            throw std::runtime_error(std::string("expected '") + c + "' at '" + rest + "'");
        rest++;
    }

    std::string word()
    {
        skip();
        std::string found;
        while (std::isalnum(static_cast<unsigned char>(*rest)))
            found += *rest++;
        return found;
    }

    int cost()
    {
        expect('(');
        int found = std::atoi(word().c_str());
        expect(')');
        return found;
    }

    int nonterminal(const std::string &name)
    {
        auto [at, fresh] = nonterminals.try_emplace(name, int(names.size()));
        if (fresh)
            names.push_back(name);
        return at->second;
    }

    // A pattern below another one gets a nonterminal of its own, so that each rule has one operator.
    int pattern()
    {
        std::string name = word();
        if (std::islower(static_cast<unsigned char>(name[0])))
            return nonterminal(name);
        Rule rule = {0, 0, operator_named(name), {-1, -1}};
        skip();
        int arity = 0;
        if (*rest == '(' && !std::isdigit(static_cast<unsigned char>(rest[1]))) {
            do {
                rest++;
                rule.children[arity++] = pattern();
                skip();
            } while (*rest == ',');
            expect(')');
        }
        operators[rule.operator_].arity = arity;
        rule.left = nonterminal("of" + std::to_string(names.size()));
        operators[rule.operator_].rules.push_back(int(rules.size()));
        rules.push_back(rule);
        return rule.left;
    }

    int operator_named(const std::string &name)
    {
        auto [at, fresh] = operator_of.try_emplace(name, int(operators.size()));
        if (fresh)
            operators.emplace_back().name = name;
        return at->second;
    }

    // The outermost pattern of a line belongs to the line's own nonterminal.
    void add_chain_or_rename(int left, int from, int price)
    {
        if (!rules.empty() && rules.back().operator_ >= 0 && rules.back().left == from && names[from].starts_with("of")) {
            rules.back().left = left;
            rules.back().cost = price;
            return;
        }
        chains.push_back(int(rules.size()));
        rules.push_back({left, price, -1, {from, -1}});
    }
};

class Automaton {
  public:
    explicit Automaton(Grammar &g) : grammar(g) { clear(); }

    void make()
    {
        for (Operator &op : grammar.operators)
            if (op.arity == 0)
                enter(op, 0, 0);
        for (size_t next = 0; next < states.size(); next++)
            for (Operator &op : grammar.operators)
                for (int child = 0; child < op.arity; child++)
                    project(op, child, int(next));
    }

    long checksum() const
    {
        long sum = long(states.size());
        for (const Operator &op : grammar.operators)
            for (const auto &[at, state] : op.table)
                sum = sum * 31 + at.first * 7 + at.second * 3 + state;
        return sum;
    }

    size_t size() const { return states.size(); }

  private:
    Grammar &grammar;
    std::vector<State> states;
    std::map<std::vector<int>, int> known; // costs and rules -> state

    void clear()
    {
        for (Operator &op : grammar.operators)
            for (int child = 0; child < 2; child++) {
                op.known[child].clear();
                op.representatives[child].clear();
                op.table.clear();
                op.takes[child].assign(grammar.names.size(), false);
                for (int rule : op.rules)
                    if (child < op.arity)
                        op.takes[child][grammar.rules[rule].children[child]] = true;
            }
    }

    static void settle(std::vector<int> &costs)
    {
        int least = NEVER;
        for (int cost : costs)
            least = cost < least ? cost : least;
        for (int &cost : costs)
            cost = cost >= NEVER || cost - least > DEAREST ? NEVER : cost - least;
    }

    // A representative that is new goes together with all that the other child has.
    void project(Operator &op, int child, int state)
    {
        std::vector<int> costs(grammar.names.size(), NEVER);
        for (size_t n = 0; n < costs.size(); n++)
            if (op.takes[child][n])
                costs[n] = states[state].costs[n];
        settle(costs);
        auto [at, fresh] = op.known[child].try_emplace(costs, int(op.representatives[child].size()));
        if (!fresh)
            return;
        op.representatives[child].push_back(costs);
        int others = op.arity == 2 ? int(op.representatives[1 - child].size()) : 1;
        for (int other = 0; other < others; other++)
            child == 0 ? enter(op, at->second, other) : enter(op, other, at->second);
    }

    int price(const Operator &op, const Rule &rule, const int *representatives) const
    {
        int sum = rule.cost;
        for (int child = 0; child < op.arity; child++)
            sum += op.representatives[child][representatives[child]][rule.children[child]];
        return sum < NEVER ? sum : NEVER;
    }

    void close(State &state) const
    {
        for (bool changed = true; changed;) {
            changed = false;
            for (int index : grammar.chains) {
                const Rule &rule = grammar.rules[index];
                int cost = state.costs[rule.children[0]] + rule.cost;
                if (cost < state.costs[rule.left]) {
                    state.costs[rule.left] = cost;
                    state.rules[rule.left] = index;
                    changed = true;
                }
            }
        }
    }

    void enter(Operator &op, int left, int right)
    {
        State state = {std::vector<int>(grammar.names.size(), NEVER), std::vector<int>(grammar.names.size(), -1)};
        const int representatives[2] = {left, right};
        for (int index : op.rules) {
            const Rule &rule = grammar.rules[index];
            int cost = price(op, rule, representatives);
            if (cost < state.costs[rule.left]) {
                state.costs[rule.left] = cost;
                state.rules[rule.left] = index;
            }
        }
        close(state);
        settle(state.costs);
        op.table[{left, right}] = number_of(state);
    }

    int number_of(const State &state)
    {
        std::vector<int> key = state.costs;
        key.insert(key.end(), state.rules.begin(), state.rules.end());
        auto [at, fresh] = known.try_emplace(key, int(states.size()));
        if (fresh)
            states.push_back(state);
        return at->second;
    }
};

static void other_costs(Grammar &grammar, const std::vector<Rule> &usual, long round)
{
    unsigned random = unsigned(round) * 2654435761u + 1;
    for (size_t i = 0; i < usual.size(); i++) {
        random = random * 1664525u + 1013904223u;
        grammar.rules[i].cost = usual[i].cost + (usual[i].cost > 0 ? int(random >> 30) : 0);
    }
}

int main(int argc, char **argv)
{
    std::ifstream file(argc > 1 ? argv[1] : "");
    long sum = 0, states = 0, rounds = argc > 2 ? std::atol(argv[2]) : 1;
    Grammar grammar;
    for (std::string line; std::getline(file, line);)
        if (!line.empty() && line[0] != '#')
            grammar.line(line);
    if (grammar.rules.empty())
        return std::fprintf(stderr, "burg GRAMMAR ROUNDS\n"), 1;
    const std::vector<Rule> usual = grammar.rules;
    for (long round = 0; round < rounds; round++) {
        other_costs(grammar, usual, round);
        Automaton automaton(grammar);
        automaton.make();
        states += long(automaton.size());
        sum = sum * 17 + automaton.checksum();
    }
    std::printf("%zu rules, %ld states, %lx\n", grammar.rules.size(), states, (unsigned long)sum);
}
