-- How many submissions of a tenant are in flight, moved by the statements that move what it holds,
-- and how many may be (null: any number), so that one that signed up by itself cannot take every node.
ALTER TABLE "credit_accounts" ADD COLUMN "in_flight" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "credit_accounts" ADD COLUMN "in_flight_max" INTEGER;
UPDATE "credit_accounts" a SET in_flight = s.count
FROM (SELECT tenant_id, count(*) FROM "submissions"
  WHERE state IN ('pending', 'dispatched', 'running', 'settling') GROUP BY tenant_id) s
WHERE s.tenant_id = a.tenant_id;
ALTER TABLE "credit_accounts"
  ADD CONSTRAINT "credit_accounts_in_flight" CHECK (in_flight >= 0 AND in_flight_max > 0);
