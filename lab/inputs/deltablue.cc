// deltablue.cc - an incremental solver of constraints between variables: C++ with a virtual call at almost every step.
//
//     deltablue ROUNDS
//
// The algorithm is that of Freeman-Benson, Maloney and Borning, "An Incremental Constraint Solver" (1990). A constraint
// has a strength and methods that make it true; the planner keeps, for each variable, the constraint that decides it and
// how hard that is to overrule ("walkabout strength"). Two problems, as usual with this program: a chain of equalities
// between two variables, and a projection of many variables by scale and offset.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

enum Strength { REQUIRED, STRONG, PREFERRED, NORMAL, WEAK, WEAKEST };

static bool stronger(int a, int b) { return a < b; }

class Constraint;

struct Variable {
    long value;
    std::vector<Constraint *> constraints;
    Constraint *decided_by = nullptr;
    int mark = 0;
    int walk = WEAKEST;
    bool stay = true;

    explicit Variable(long v) : value(v) {}
};

class Constraint {
  public:
    explicit Constraint(int s) : strength(s) {}
    virtual ~Constraint() = default;
    virtual bool is_input() const { return false; }
    virtual bool satisfied() const = 0;
    virtual void join() = 0;
    virtual void part() = 0;
    virtual void choose(int mark) = 0;
    virtual void clear() = 0;
    virtual void mark_inputs(int mark) = 0;
    virtual bool inputs_known(int mark) const = 0;
    virtual Variable *output() const = 0;
    virtual void recalculate() = 0;
    virtual void execute() = 0;
    const int strength;
};

class Unary : public Constraint {
  public:
    Unary(Variable *v, int s) : Constraint(s), my_output(v) {}
    bool satisfied() const override { return on; }
    void join() override { my_output->constraints.push_back(this); }
    void part() override { std::erase(my_output->constraints, this); }
    void choose(int mark) override { on = my_output->mark != mark && stronger(strength, my_output->walk); }
    void clear() override { on = false; }
    void mark_inputs(int) override {}
    bool inputs_known(int) const override { return true; }
    Variable *output() const override { return my_output; }
    void recalculate() override
    {
        my_output->walk = strength;
        my_output->stay = !is_input();
        if (my_output->stay)
            execute();
    }

  protected:
    Variable *my_output;
    bool on = false;
};

class Stay : public Unary {
  public:
    using Unary::Unary;
    void execute() override {}
};

class Edit : public Unary {
  public:
    using Unary::Unary;
    bool is_input() const override { return true; }
    void execute() override {}
};

class Binary : public Constraint {
  public:
    Binary(Variable *a, Variable *b, int s) : Constraint(s), first(a), second(b) {}
    bool satisfied() const override { return direction != NONE; }
    void join() override
    {
        first->constraints.push_back(this);
        second->constraints.push_back(this);
    }
    void part() override
    {
        std::erase(first->constraints, this);
        std::erase(second->constraints, this);
    }
    void choose(int mark) override
    {
        direction = NONE;
        if (first->mark == mark)
            direction = second->mark != mark && stronger(strength, second->walk) ? FORWARD : NONE;
        else if (second->mark == mark)
            direction = stronger(strength, first->walk) ? BACKWARD : NONE;
        else if (stronger(second->walk, first->walk))
            direction = stronger(strength, first->walk) ? BACKWARD : NONE;
        else
            direction = stronger(strength, second->walk) ? FORWARD : NONE;
    }
    void clear() override { direction = NONE; }
    void mark_inputs(int mark) override { input()->mark = mark; }
    bool inputs_known(int mark) const override
    {
        return input()->mark == mark || input()->stay || input()->decided_by == nullptr;
    }
    Variable *output() const override { return direction == FORWARD ? second : first; }
    void recalculate() override
    {
        output()->walk = strength > input()->walk ? strength : input()->walk;
        output()->stay = input()->stay;
        if (output()->stay)
            execute();
    }

  protected:
    enum { NONE, FORWARD, BACKWARD } direction = NONE;
    Variable *first, *second;
    Variable *input() const { return direction == FORWARD ? first : second; }
};

class Equality : public Binary {
  public:
    using Binary::Binary;
    void execute() override { output()->value = input()->value; }
};

class Scaling : public Binary {
  public:
    Scaling(Variable *a, Variable *by, Variable *plus, Variable *b, int s) : Binary(a, b, s), scale(by), offset(plus) {}
    void join() override
    {
        Binary::join();
        scale->constraints.push_back(this);
        offset->constraints.push_back(this);
    }
    void part() override
    {
        Binary::part();
        std::erase(scale->constraints, this);
        std::erase(offset->constraints, this);
    }
    void mark_inputs(int mark) override
    {
        Binary::mark_inputs(mark);
        scale->mark = offset->mark = mark;
    }
    void recalculate() override
    {
        output()->walk = strength > input()->walk ? strength : input()->walk;
        output()->stay = input()->stay && scale->stay && offset->stay;
        if (output()->stay)
            execute();
    }
    void execute() override
    {
        if (direction == FORWARD)
            second->value = first->value * scale->value + offset->value;
        else
            first->value = (second->value - offset->value) / scale->value;
    }

  private:
    Variable *scale, *offset;
};

using Plan = std::vector<Constraint *>;

class Planner {
  public:
    void add(Constraint *c)
    {
        c->join();
        for (Constraint *overruled = satisfy(c, ++mark); overruled != nullptr;)
            overruled = satisfy(overruled, mark);
    }

    void remove(Constraint *c)
    {
        if (!c->satisfied()) {
            c->part();
            return;
        }
        Variable *out = c->output();
        c->clear();
        c->part();
        const std::vector<Constraint *> open = unsatisfied_behind(out);
        for (int strength = REQUIRED; strength <= WEAKEST; strength++)
            for (Constraint *u : open)
                if (u->strength == strength && !u->satisfied())
                    for (Constraint *over = satisfy(u, ++mark); over != nullptr;)
                        over = satisfy(over, mark);
    }

    Plan plan(const std::vector<Constraint *> &sources)
    {
        Plan made;
        std::vector<Constraint *> todo;
        for (Constraint *c : sources)
            if (c->is_input() && c->satisfied())
                todo.push_back(c);
        for (mark++; !todo.empty();) {
            Constraint *c = todo.back();
            todo.pop_back();
            if (c->output()->mark == mark || !c->inputs_known(mark))
                continue;
            made.push_back(c);
            c->output()->mark = mark;
            consumers(c->output(), todo);
        }
        return made;
    }

  private:
    int mark = 0;

    static void consumers(const Variable *v, std::vector<Constraint *> &into)
    {
        for (Constraint *c : v->constraints)
            if (c != v->decided_by && c->satisfied())
                into.push_back(c);
    }

    Constraint *satisfy(Constraint *c, int now)
    {
        c->choose(now);
        if (!c->satisfied())
            return nullptr;
        c->mark_inputs(now);
        Variable *out = c->output();
        Constraint *overruled = out->decided_by;
        if (overruled != nullptr)
            overruled->clear();
        out->decided_by = c;
        if (!propagate(c, now)) {
            std::fprintf(stderr, "deltablue: a cycle\n");
            std::exit(1);
        }
        out->mark = now;
        return overruled;
    }

    bool propagate(Constraint *c, int now)
    {
        std::vector<Constraint *> todo{c};
        while (!todo.empty()) {
            Constraint *next = todo.back();
            todo.pop_back();
            if (next->output()->mark == now)
                return false;
            next->recalculate();
            consumers(next->output(), todo);
        }
        return true;
    }

    std::vector<Constraint *> unsatisfied_behind(Variable *out)
    {
        std::vector<Constraint *> found, next;
        std::vector<Variable *> todo{out};
        out->decided_by = nullptr;
        out->walk = WEAKEST;
        out->stay = true;
        while (!todo.empty()) {
            Variable *v = todo.back();
            todo.pop_back();
            for (Constraint *c : v->constraints)
                if (!c->satisfied())
                    found.push_back(c);
            next.clear();
            consumers(v, next);
            for (Constraint *c : next) {
                c->recalculate();
                todo.push_back(c->output());
            }
        }
        return found;
    }
};

// All variables and constraints of one problem.
struct Problem {
    Planner planner;
    std::vector<std::unique_ptr<Variable>> variables;
    std::vector<std::unique_ptr<Constraint>> constraints;

    Variable *variable(long value)
    {
        variables.push_back(std::make_unique<Variable>(value));
        return variables.back().get();
    }

    template <class C, class... Arguments> void constrain(Arguments... arguments)
    {
        constraints.push_back(std::make_unique<C>(arguments...));
        planner.add(constraints.back().get());
    }

    void change(Variable *v, long value)
    {
        Edit edit(v, PREFERRED);
        planner.add(&edit);
        Plan plan = planner.plan({&edit});
        for (long i = 0; i < 10; i++) {
            v->value = value + i;
            for (Constraint *c : plan)
                c->execute();
        }
        planner.remove(&edit);
    }
};

static long chain(int n)
{
    Problem p;
    Variable *first = p.variable(0), *last = first;
    for (int i = 0; i < n; i++) {
        Variable *next = p.variable(0);
        p.constrain<Equality>(last, next, REQUIRED);
        last = next;
    }
    p.constrain<Stay>(last, NORMAL);
    p.change(first, 100);
    return last->value;
}

static long projection(int n)
{
    Problem p;
    Variable *scale = p.variable(10), *offset = p.variable(1000), *from = nullptr, *to = nullptr;
    for (int i = 0; i < n; i++) {
        from = p.variable(i);
        to = p.variable(i);
        p.constrain<Stay>(from, NORMAL);
        p.constrain<Scaling>(from, scale, offset, to, REQUIRED);
    }
    p.change(from, 17);
    long sum = to->value;
    p.change(to, 1050);
    sum += from->value;
    p.change(scale, 5);
    p.change(offset, 2000);
    for (const auto &v : p.variables)
        sum += v->value;
    return sum;
}

int main(int argc, char **argv)
{
    long sum = 0, rounds = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 1;
    for (long i = 0; i < rounds; i++)
        sum += chain(int(200 + 37 * i % 300)) + projection(int(100 + 53 * i % 200));
    std::printf("%ld\n", sum);
}
