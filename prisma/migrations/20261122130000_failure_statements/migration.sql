-- Whether a failure is retriable, if its node's statement decides that instead of the code. True: a
-- `node_error` whose node proved that it sent nothing. False: a `site_unreachable` that would happen again.
ALTER TABLE "submissions" ADD COLUMN "stated_retriable" BOOLEAN;
-- Not validated: every row has null in the new column.
ALTER TABLE "submissions" ADD CONSTRAINT "submissions_stated_retriable" CHECK (
  stated_retriable IS NULL
  OR (outcome_by IS NOT DISTINCT FROM 'node'
    AND failure_code IS NOT DISTINCT FROM CASE WHEN stated_retriable THEN 'node_error' ELSE 'site_unreachable' END)) NOT VALID;
