-- Signatures that opened a node link. Each opens one link only, on whichever dispatcher.
CREATE TABLE "node_link_signatures" (
    "signature_hash" BYTEA NOT NULL,
    "accepted_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "node_link_signatures_pkey" PRIMARY KEY ("signature_hash")
);

CREATE INDEX "node_link_signatures_accepted_at_idx" ON "node_link_signatures"("accepted_at");
