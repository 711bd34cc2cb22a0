-- What has ended and still has its payload, oldest first: what a round of purging looks at. An
-- entry comes with the end of a submission and goes with its payload.
CREATE INDEX "submissions_unpurged_idx" ON "submissions" (finished_at)
  WHERE finished_at IS NOT NULL AND payload_sealed IS NOT NULL;

-- Nothing may lose its payload while a node may yet be sent it.
ALTER TABLE "submissions"
  ADD CONSTRAINT "submissions_purged_when_ended" CHECK (payload_sealed IS NOT NULL OR finished_at IS NOT NULL);

-- Which environment a database belongs to is said once.
CREATE FUNCTION svc_refuse_other_environment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a database belongs to one environment for good' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER "environment_for_good" BEFORE UPDATE OF id, name OR DELETE OR TRUNCATE ON "environment"
  FOR EACH STATEMENT EXECUTE FUNCTION svc_refuse_other_environment();
