/* raytrace.cc - a ray tracer of solids and materials: C++ whose inner loops are virtual calls.
 *
 *     Scene -> Solid: Sphere, Plane, Box, Union, Without         virtual: hit, normal
 *           -> Material: Matte, Checkered, Mirror                virtual: colour
 *
 * Every ray asks every solid of the scene, and solids made of others ask those, so that a call site sees several
 * method tables, some of them much more often than others. The size is the side of the picture in steps of 24. */
#include "workload.h"
#include <math.h>
#include <memory>
#include <vector>

namespace {

constexpr double FAR = 1e9, NEAR = 1e-6;
constexpr int BOUNCES = 3;

struct Vector {
    double x, y, z;
};

Vector operator+(Vector a, Vector b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
Vector operator-(Vector a, Vector b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
Vector operator*(Vector a, double k) { return {a.x * k, a.y * k, a.z * k}; }
double dot(Vector a, Vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
Vector unit(Vector a) { return a * (1 / sqrt(dot(a, a))); }

struct Ray {
    Vector from, along;
    Vector at(double t) const { return from + along * t; }
};

class Scene;

class Material {
public:
    virtual ~Material() = default;
    virtual double colour(const Scene &scene, const Ray &ray, Vector place, Vector normal, int bounces) const = 0;
};

class Solid {
public:
    explicit Solid(const Material *material) : material(material) {}
    virtual ~Solid() = default;
    virtual double hit(const Ray &ray) const = 0; /* the nearest distance, FAR: none */
    virtual Vector normal(Vector place) const = 0;
    virtual bool holds(Vector place) const = 0;
    const Material *material;
};

class Sphere : public Solid {
public:
    Sphere(const Material *material, Vector centre, double radius) : Solid(material), centre(centre), radius(radius) {}
    double hit(const Ray &ray) const override
    {
        Vector to = centre - ray.from;
        double middle = dot(to, ray.along), rest = middle * middle - dot(to, to) + radius * radius;
        if (rest < 0)
            return FAR;
        double half = sqrt(rest);
        return middle - half > NEAR ? middle - half : middle + half > NEAR ? middle + half : FAR;
    }
    Vector normal(Vector place) const override { return unit(place - centre); }
    bool holds(Vector place) const override
    {
        Vector to = place - centre;
        return dot(to, to) <= radius * radius + NEAR;
    }

private:
    Vector centre;
    double radius;
};

class Plane : public Solid {
public:
    Plane(const Material *material, Vector up, double height) : Solid(material), up(up), height(height) {}
    double hit(const Ray &ray) const override
    {
        double slope = dot(ray.along, up);
        double t = slope > -NEAR && slope < NEAR ? FAR : (height - dot(ray.from, up)) / slope;
        return t > NEAR ? t : FAR;
    }
    Vector normal(Vector) const override { return up; }
    bool holds(Vector place) const override { return dot(place, up) <= height + NEAR; }

private:
    Vector up;
    double height;
};

class Box : public Solid {
public:
    Box(const Material *material, Vector low, Vector high) : Solid(material), low(low), high(high) {}
    double hit(const Ray &ray) const override
    {
        double in = -FAR, out = FAR;
        cut(ray.from.x, ray.along.x, low.x, high.x, in, out);
        cut(ray.from.y, ray.along.y, low.y, high.y, in, out);
        cut(ray.from.z, ray.along.z, low.z, high.z, in, out);
        if (in > out)
            return FAR;
        return in > NEAR ? in : out > NEAR ? out : FAR;
    }
    Vector normal(Vector p) const override
    {
        if (fabs(p.x - low.x) < 1e-4) return {-1, 0, 0};
        if (fabs(p.x - high.x) < 1e-4) return {1, 0, 0};
        if (fabs(p.y - low.y) < 1e-4) return {0, -1, 0};
        if (fabs(p.y - high.y) < 1e-4) return {0, 1, 0};
        return {0, 0, fabs(p.z - low.z) < 1e-4 ? -1.0 : 1.0};
    }
    bool holds(Vector p) const override
    {
        return p.x >= low.x - NEAR && p.x <= high.x + NEAR && p.y >= low.y - NEAR && p.y <= high.y + NEAR &&
               p.z >= low.z - NEAR && p.z <= high.z + NEAR;
    }

private:
    static void cut(double from, double along, double low, double high, double &in, double &out)
    {
        if (fabs(along) < NEAR) {
            if (from < low || from > high)
                in = FAR, out = -FAR;
            return;
        }
        double a = (low - from) / along, b = (high - from) / along;
        in = fmax(in, fmin(a, b));
        out = fmin(out, fmax(a, b));
    }
    Vector low, high;
};

/* Two solids as one; `without`: the first less the second. */
class Pair : public Solid {
public:
    Pair(const Material *material, const Solid *first, const Solid *second)
        : Solid(material), first(first), second(second) {}
    Vector normal(Vector place) const override
    {
        Vector out = first->normal(place);
        return first->holds(place) && !second->holds(place) ? out : second->normal(place);
    }

protected:
    const Solid *first, *second;
};

class Union : public Pair {
public:
    using Pair::Pair;
    double hit(const Ray &ray) const override { return fmin(first->hit(ray), second->hit(ray)); }
    bool holds(Vector place) const override { return first->holds(place) || second->holds(place); }
};

class Without : public Pair {
public:
    using Pair::Pair;
    double hit(const Ray &ray) const override
    {
        double t = first->hit(ray);
        if (t < FAR && !second->holds(ray.at(t)))
            return t;
        t = second->hit(ray);
        return t < FAR && first->holds(ray.at(t)) ? t : FAR;
    }
    bool holds(Vector place) const override { return first->holds(place) && !second->holds(place); }
};

class Scene {
public:
    std::vector<std::unique_ptr<Material>> materials;
    std::vector<std::unique_ptr<Solid>> parts; /* of others; not asked themselves */
    std::vector<std::unique_ptr<Solid>> solids;
    Vector light = unit({-2, 5, -4});

    const Solid *nearest(const Ray &ray, double &distance) const
    {
        const Solid *found = nullptr;
        distance = FAR;
        for (const auto &solid : solids) {
            double t = solid->hit(ray);
            if (t < distance) {
                distance = t;
                found = solid.get();
            }
        }
        return found;
    }
    double trace(const Ray &ray, int bounces) const
    {
        double distance;
        const Solid *solid = nearest(ray, distance);
        if (solid == nullptr)
            return 0.2 + 0.1 * ray.along.y;
        Vector place = ray.at(distance), normal = solid->normal(place);
        return solid->material->colour(*this, ray, place, dot(normal, ray.along) > 0 ? normal * -1 : normal, bounces);
    }
    double lit(Vector place, Vector normal) const
    {
        double distance, angle = dot(normal, light);
        if (angle <= 0 || nearest({place + normal * 1e-4, light}, distance) != nullptr)
            return 0.1;
        return 0.1 + 0.9 * angle;
    }
};

class Matte : public Material {
public:
    explicit Matte(double shade) : shade(shade) {}
    double colour(const Scene &scene, const Ray &, Vector place, Vector normal, int) const override
    {
        return shade * scene.lit(place, normal);
    }

private:
    double shade;
};

class Checkered : public Material {
public:
    double colour(const Scene &scene, const Ray &, Vector place, Vector normal, int) const override
    {
        long fields = (long)floor(place.x) + (long)floor(place.z);
        return (fields & 1 ? 0.9 : 0.3) * scene.lit(place, normal);
    }
};

class Mirror : public Material {
public:
    double colour(const Scene &scene, const Ray &ray, Vector place, Vector normal, int bounces) const override
    {
        if (bounces == 0)
            return 0;
        Vector back = ray.along - normal * (2 * dot(ray.along, normal));
        return 0.8 * scene.trace({place + normal * 1e-4, unit(back)}, bounces - 1);
    }
};

void fill(Scene &scene)
{
    uint64_t random = 88172645463325252u;
    scene.materials.emplace_back(new Matte(0.8));
    scene.materials.emplace_back(new Checkered);
    scene.materials.emplace_back(new Mirror);
    const Material *matte = scene.materials[0].get(), *mirror = scene.materials[2].get();
    scene.solids.emplace_back(new Plane(scene.materials[1].get(), {0, 1, 0}, 0));
    for (int i = 0; i < 12; i++) {
        Vector at = {workload_below(&random, 80) / 10.0 - 4, 0.6 + workload_below(&random, 20) / 10.0,
                     workload_below(&random, 80) / 10.0};
        scene.solids.emplace_back(new Sphere(i % 4 == 0 ? mirror : matte, at, 0.6));
    }
    for (int i = 0; i < 4; i++) {
        Vector low = {i * 2.0 - 4, 0, 8}, high = {i * 2.0 - 3, 1.5 + i * 0.3, 9};
        scene.solids.emplace_back(new Box(i == 2 ? mirror : matte, low, high));
    }
    for (int i = 0; i < 2; i++) {
        Vector at = {i * 4.0 - 2, 1, 5};
        scene.parts.emplace_back(new Box(matte, at - Vector{0.8, 0.8, 0.8}, at + Vector{0.8, 0.8, 0.8}));
        scene.parts.emplace_back(new Sphere(matte, at, 1));
        const Solid *box = scene.parts[2 * i].get(), *ball = scene.parts[2 * i + 1].get();
        if (i == 0)
            scene.solids.emplace_back(new Without(matte, box, ball));
        else
            scene.solids.emplace_back(new Union(matte, box, ball));
    }
}

} // namespace

int main(int argc, char **argv)
{
    int side = 24 * (int)workload_size(argc, argv);
    Scene scene;
    fill(scene);
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    long bright = 0;
    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++) {
            Ray ray = {{0, 2, -6}, unit({2.0 * x / side - 1, 1 - 2.0 * y / side, 1.6})};
            uint8_t shade = (uint8_t)(255 * fmin(1, scene.trace(ray, BOUNCES)));
            bright += shade > 127;
            sum = workload_checksum(sum, &shade, 1);
        }
    printf("%d by %d, %ld bright, checksum %016llx\n", side, side, bright, (unsigned long long)sum);
    return 0;
}
