-- What became of each submission that a node reported, for each node by itself: what one node reports
-- never replaces what another has reported. Earlier builds write `recovery_reports` instead.
CREATE TABLE "recovery_findings" (
    "incarnation" INTEGER NOT NULL,
    "submission_id" UUID NOT NULL,
    "node_id" UUID NOT NULL,
    "tenant_id" UUID,
    "finding" TEXT NOT NULL,
    "quoted" JSONB,
    "reported_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "recovery_findings_pkey" PRIMARY KEY ("incarnation", "submission_id", "node_id")
);

-- How many reports of a node could not be read. Their submissions are not stored.
CREATE TABLE "recovery_unreadable" (
    "incarnation" INTEGER NOT NULL,
    "node_id" UUID NOT NULL,
    "reports" INTEGER NOT NULL,

    CONSTRAINT "recovery_unreadable_pkey" PRIMARY KEY ("incarnation", "node_id")
);
