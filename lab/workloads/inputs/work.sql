-- A shop in memory: rows made by a recursive query, an index, joins, groups, a window, a trigger.
CREATE TABLE customer(id INTEGER PRIMARY KEY, town TEXT, since INT);
CREATE TABLE sale(id INTEGER PRIMARY KEY, customer INT, cents INT, note TEXT);
CREATE TABLE turnover(town TEXT PRIMARY KEY, cents INT DEFAULT 0);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
INSERT INTO customer SELECT i, 'town' || (i * 7919 % 23), 1970 + i * 31 % 50 FROM n;
INSERT INTO turnover(town) SELECT DISTINCT town FROM customer;
CREATE TRIGGER sold AFTER INSERT ON sale BEGIN
    UPDATE turnover SET cents = cents + new.cents
    WHERE town = (SELECT town FROM customer WHERE id = new.customer);
END;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000)
INSERT INTO sale SELECT i, 1 + i * i % 300, i * 7907 % 10007, printf('%x', i * 2654435761 % 4294967296) FROM n;
CREATE INDEX by_customer ON sale(customer, cents);
SELECT town, cents FROM turnover ORDER BY cents DESC LIMIT 5;
SELECT since, count(*), sum(cents), round(avg(length(note)), 4) FROM customer JOIN sale ON sale.customer = customer.id
    WHERE note LIKE '%a%b%' GROUP BY since HAVING count(*) > 5 ORDER BY 3 DESC LIMIT 5;
SELECT id, cents, sum(cents) OVER (ORDER BY id) AS running FROM sale WHERE customer = 41 LIMIT 5;
DELETE FROM sale WHERE cents % 3 = 0;
SELECT count(*), total(cents), max(note) FROM sale;
PRAGMA integrity_check;
