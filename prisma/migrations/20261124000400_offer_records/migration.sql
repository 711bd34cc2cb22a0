-- The record of the offers moves behind the columns that change later, and becomes shorter. The log has
-- every byte between the first and the last one that an update changes, so each later update repeated the
-- record. It is a JSON array: for each offer its id, the node, the answer, the time of the offer in
-- milliseconds since 1970, the milliseconds until the answer, and the reason if a node gave one. Rows from
-- before keep it in `offers`. Builds before this one do not show the new column.
ALTER TABLE "submissions" ADD COLUMN "offer_records" TEXT;
