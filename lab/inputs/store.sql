-- An object store as vortex has one: parts, people, links; filled, looked up, joined, changed.
CREATE TABLE part(id INTEGER PRIMARY KEY, name TEXT, kind INT, weight REAL);
CREATE TABLE link(a INT, b INT, length INT);
CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT, boss INT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
    INSERT INTO part SELECT i, 'part' || (i * 7919 % 10007), i * 31 % 17, i * 0.25 FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
    INSERT INTO link SELECT i % 20000 + 1, i * 7 % 20000 + 1, i % 13 FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000)
    INSERT INTO person SELECT i, 'person' || (i * 271 % 1009), i / 7 FROM n;
CREATE INDEX link_a ON link(a);
CREATE INDEX part_name ON part(name);
SELECT count(*), sum(length) FROM link JOIN part ON link.b = part.id WHERE part.kind = 5;
SELECT kind, count(*), avg(weight) FROM part GROUP BY kind ORDER BY 2 DESC LIMIT 5;
WITH RECURSIVE reach(id, depth) AS (
    SELECT 1, 0 UNION SELECT link.b, depth + 1 FROM reach JOIN link ON link.a = reach.id WHERE depth < 5)
    SELECT count(DISTINCT id), max(depth) FROM reach;
WITH RECURSIVE up(id, top) AS (
    SELECT id, boss FROM person UNION SELECT up.id, person.boss FROM up JOIN person ON up.top = person.id)
    SELECT count(*) FROM up;
UPDATE part SET weight = weight * 1.5 WHERE name LIKE 'part1%';
DELETE FROM link WHERE length = 3;
SELECT p.name, q.name FROM part p JOIN link ON link.a = p.id JOIN part q ON q.id = link.b
    WHERE p.weight > q.weight ORDER BY p.weight - q.weight LIMIT 10;
SELECT count(*) FROM part WHERE name IN (SELECT replace(name, 'person', 'part') FROM person);
