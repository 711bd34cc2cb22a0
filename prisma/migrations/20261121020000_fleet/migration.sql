-- Which nodes a submission was offered to, and what each of them answered: for `svc trace`. Written
-- in the statement that ends the offering; null where nobody was asked.
ALTER TABLE "submissions" ADD COLUMN "offers" JSONB;

-- A node's secret while a rotation overlaps: a link that was opened with an older version is closed
-- when that version ends.
ALTER TABLE "nodes"
  ADD COLUMN "secret_version" INTEGER NOT NULL DEFAULT 1,
  ADD COLUMN "previous_secret_sealed" BYTEA,
  ADD COLUMN "previous_secret_expires_at" TIMESTAMPTZ(3),
-- When an operator last changed it: dispatchers look for what changed since they last looked.
  ADD COLUMN "changed_at" TIMESTAMPTZ(3);
UPDATE "nodes" SET "changed_at" = "created_at";
ALTER TABLE "nodes" ALTER COLUMN "changed_at" SET NOT NULL;

-- CreateIndex
CREATE INDEX "nodes_changed_at_idx" ON "nodes"("changed_at");

-- One row, and only once an operator has pinned the multiplier; null: it follows the fleet again.
CREATE TABLE "surge_pin" (
    "id" SMALLINT NOT NULL,
    "pinned_micros" BIGINT,
    "changed_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "surge_pin_pkey" PRIMARY KEY ("id")
);

ALTER TABLE "surge_pin"
  ADD CONSTRAINT "surge_pin_one_row" CHECK (id = 1),
  ADD CONSTRAINT "surge_pin_range" CHECK (pinned_micros BETWEEN 1000000 AND 3000000);

ALTER TABLE "nodes"
  ADD CONSTRAINT "nodes_previous_secret" CHECK ((previous_secret_sealed IS NULL) = (previous_secret_expires_at IS NULL));
