-- The next migration makes this index the primary key.
CREATE UNIQUE INDEX CONCURRENTLY "ledger_entries_numbering" ON "ledger_entries" (tenant_id, sequence);
