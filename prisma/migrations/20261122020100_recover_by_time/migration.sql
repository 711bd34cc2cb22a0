-- What a recovery looks for, by the database's time of the event: an id carries the time of a host.
CREATE INDEX "deliveries_recoverable_idx" ON "deliveries" (created_at, id)
  WHERE status IN ('exhausted', 'dropped');
