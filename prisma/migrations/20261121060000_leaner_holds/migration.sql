-- Only grants and reversals have a purchase: holds and what ends them need no place in its index.
DROP INDEX "ledger_entries_purchase_id_type_key";
CREATE UNIQUE INDEX "ledger_entries_purchase_id_type_key" ON "ledger_entries" (purchase_id, type)
  WHERE purchase_id IS NOT NULL;
