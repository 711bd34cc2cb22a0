-- A recovery from a backup. It begins and ends by a command of an operator. Its number is the
-- incarnation of the database.
CREATE TABLE "recoveries" (
    "incarnation" INTEGER NOT NULL,
    "began_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "recoveries_pkey" PRIMARY KEY ("incarnation")
);

-- At most one is in force.
CREATE UNIQUE INDEX "recoveries_in_force_idx" ON "recoveries" ((true)) WHERE "ended_at" IS NULL;

-- The nodes that have reported everything that their journals have, in each recovery.
CREATE TABLE "recovery_nodes" (
    "incarnation" INTEGER NOT NULL,
    "node_id" UUID NOT NULL,
    "reported_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "recovery_nodes_pkey" PRIMARY KEY ("incarnation", "node_id")
);

-- What became of each submission that a node reported.
CREATE TABLE "recovery_reports" (
    "incarnation" INTEGER NOT NULL,
    "submission_id" UUID NOT NULL,
    "node_id" UUID NOT NULL,
    "tenant_id" UUID,
    "finding" TEXT NOT NULL,
    "reported_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "recovery_reports_pkey" PRIMARY KEY ("incarnation", "submission_id")
);

-- While a recovery is in force no submission is created. Those that a node proves are inserted as
-- dispatched or running. The SQLSTATE is one that the gateway answers with 503.
CREATE OR REPLACE FUNCTION svc_track_in_flight() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF EXISTS (SELECT FROM recoveries WHERE ended_at IS NULL)
      AND EXISTS (SELECT FROM added WHERE state = 'pending') THEN
      RAISE EXCEPTION 'a recovery is in force: no submission is created' USING ERRCODE = '55P03';
    END IF;
    INSERT INTO submissions_in_flight (submission_id, tenant_id)
    SELECT id, tenant_id FROM added WHERE finished_at IS NULL;
  ELSIF TG_OP = 'DELETE' OR NEW.finished_at IS NOT NULL THEN
    DELETE FROM submissions_in_flight WHERE submission_id = OLD.id;
  ELSE
    INSERT INTO submissions_in_flight (submission_id, tenant_id) VALUES (NEW.id, NEW.tenant_id);
  END IF;
  RETURN NULL;
END $$;
