-- The number within the tenant is the primary key. It replaces two indexes: that of the ids and that of
-- the numbers. Builds before this one find the start of a later page of the statement by its id. Without
-- the index of the ids they read the tenant's entries for it.
ALTER TABLE "ledger_entries" DROP CONSTRAINT "ledger_entries_pkey";
ALTER TABLE "ledger_entries" ADD CONSTRAINT "ledger_entries_pkey" PRIMARY KEY USING INDEX "ledger_entries_numbering";
DROP INDEX "ledger_entries_tenant_id_sequence_idx";
