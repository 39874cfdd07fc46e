-- A small shop, for the suite, the tests and the bench.
CREATE TABLE customers (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    email TEXT UNIQUE,
    photo BLOB
);
CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    customer INTEGER NOT NULL REFERENCES customers (id) ON DELETE CASCADE,
    placed TEXT NOT NULL DEFAULT CURRENT_DATE,
    cents INTEGER NOT NULL CHECK (cents >= 0),
    euros REAL GENERATED ALWAYS AS (cents / 100.0)
);
CREATE INDEX orders_by_customer ON orders (customer, placed);
CREATE VIEW totals AS
    SELECT name, count(orders.id) AS orders, coalesce(sum(cents), 0) AS cents
    FROM customers LEFT JOIN orders ON orders.customer = customers.id
    GROUP BY customers.id;
INSERT INTO customers VALUES
    (1, 'Ada', 'ada@example.com', x'89504e47'),
    (2, 'Grace', NULL, NULL),
    (3, 'Edsger', 'edsger@example.com', NULL);
INSERT INTO orders (customer, placed, cents) VALUES
    (1, '2026-01-05', 1250), (1, '2026-02-11', 300), (2, '2026-02-12', 9900);
