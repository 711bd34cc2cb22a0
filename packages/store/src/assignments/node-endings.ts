import { errorsBeforeQuarantine, quarantineMs, unfinishedBeforeQuarantine } from '@svc/domain';

/** The lengths of successive quarantines, in milliseconds. The last length repeats. */
const stepsSql = `ARRAY[${quarantineMs.join(', ')}]`;

/**
 * CTEs that quarantine failing nodes (CONTRACT 7, "Quarantine"). The CTEs read ended assignments
 * from the CTE `ended`, and lock nodes after submissions (decision 19).
 */
export const nodeEndingsSql = `
  tally AS (
    SELECT node_id, count(*) FILTER (WHERE failure_code IN ('not_started', 'node_lost'))::int AS unfinished,
      count(*) FILTER (WHERE failure_code = 'node_error')::int AS errors,
      max(dispatched_at) FILTER (WHERE failure_code IN ('not_started', 'node_lost', 'node_error')) AS failed_at,
      bool_or(outcome_by = 'node' AND failure_code IS DISTINCT FROM 'node_error') AS is_cleared
    FROM ended GROUP BY node_id
  ), counted AS (
    SELECT n.id, n.quarantined_until, t.failed_at, t.is_cleared,
      CASE WHEN t.is_cleared THEN 0 ELSE n.unfinished_count + t.unfinished END AS unfinished,
      CASE WHEN t.is_cleared THEN 0 ELSE n.error_count + t.errors END AS errors
    FROM tally t JOIN nodes n ON n.id = t.node_id
    WHERE t.failed_at IS NOT NULL OR n.unfinished_count > 0 OR n.error_count > 0
    ORDER BY n.id FOR NO KEY UPDATE OF n
  ), judged AS (
    SELECT c.*, COALESCE(c.failed_at >= COALESCE(c.quarantined_until, '-infinity'), false)
      AND (c.unfinished >= ${unfinishedBeforeQuarantine} OR c.errors >= ${errorsBeforeQuarantine}) AS is_failing
    FROM counted c
  ), noted AS (
    UPDATE nodes n SET unfinished_count = c.unfinished, error_count = c.errors,
      quarantine_count = CASE WHEN c.is_cleared THEN 0 ELSE n.quarantine_count + c.is_failing::int END,
      quarantined_until = CASE WHEN c.is_failing
        THEN svc_now() + interval '1 millisecond' * (${stepsSql})[LEAST(n.quarantine_count + 1, ${quarantineMs.length})]
        ELSE n.quarantined_until END,
      quarantine_reason = CASE WHEN NOT c.is_failing THEN n.quarantine_reason
        WHEN c.unfinished >= ${unfinishedBeforeQuarantine} THEN 'unfinished' ELSE 'node_error' END,
      changed_at = CASE WHEN c.is_failing THEN svc_now() ELSE n.changed_at END
    FROM judged c WHERE n.id = c.id
    RETURNING n.id, c.is_failing
  ), quarantined AS (
    SELECT id FROM noted WHERE is_failing
  )`;
