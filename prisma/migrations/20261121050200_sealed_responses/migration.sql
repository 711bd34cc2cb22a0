-- What a tenant's endpoint answers is its own words, and may repeat personal data: sealed like the
-- rest. What was kept so far cannot be sealed in SQL, and is dropped.
ALTER TABLE "delivery_attempts" DROP COLUMN "response";
ALTER TABLE "delivery_attempts" ADD COLUMN "response_sealed" BYTEA;
