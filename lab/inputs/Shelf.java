/* What javac compiles when it is recorded (lab/record java): generics, lambdas, a hierarchy of classes, a switch over them. */
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

public class Shelf {
    interface Item {
        double weight();

        default String label() {
            return getClass().getSimpleName() + " of " + weight();
        }
    }

    record Book(String title, int pages) implements Item {
        public double weight() {
            return pages * 0.004;
        }
    }

    record Jar(double content, double glass) implements Item {
        public double weight() {
            return content + glass;
        }
    }

    static abstract class Box implements Item {
        private final List<Item> inside = new ArrayList<>();

        Box put(Item item) {
            if (item.weight() > limit())
                throw new IllegalArgumentException(item.label());
            inside.add(item);
            return this;
        }

        abstract double limit();

        public double weight() {
            return inside.stream().mapToDouble(Item::weight).sum();
        }
    }

    static class Crate extends Box {
        double limit() {
            return 20;
        }
    }

    static class Tray extends Box {
        double limit() {
            return 2;
        }
    }

    private final Map<String, List<Item>> places = new HashMap<>();

    void keep(String place, Item item) {
        places.computeIfAbsent(place, unused -> new ArrayList<>()).add(item);
    }

    <K extends Comparable<K>> Map<K, List<String>> by(Function<? super Item, ? extends K> key) {
        return places.values().stream().flatMap(List::stream)
            .collect(Collectors.groupingBy(key, Collectors.mapping(Item::label, Collectors.toList())));
    }

    static String kind(Object item) {
        if (item instanceof Book book && book.pages() > 500)
            return "thick";
        switch (item.getClass().getSimpleName()) {
        case "Book":
            return "thin";
        case "Jar":
            return "fragile";
        default:
            return item instanceof Box ? "container" : "other";
        }
    }

    public static void main(String[] arguments) {
        Shelf shelf = new Shelf();
        for (int i = 0; i < 100; i++) {
            shelf.keep("row " + i % 7, new Book("volume " + i, 100 + i * 9));
            shelf.keep("row " + i % 5, new Crate().put(new Jar(i * 0.1, 0.2)).put(new Tray().put(new Jar(0.5, 0.1))));
        }
        Map<String, List<String>> found = shelf.by(Shelf::kind);
        List<String> kinds = new ArrayList<>(found.keySet());
        Collections.sort(kinds, Comparator.comparing((String k) -> found.get(k).size()).reversed());
        kinds.forEach(k -> System.out.println(k + ": " + found.get(k).size()));
    }
}
