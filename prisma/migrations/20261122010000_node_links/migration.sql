-- A node's links are numbered. `link_epoch` counts up at each accepted upgrade, so the highest number
-- is the node's current link. `greeted_epoch` is the number of the last link that said hello.
ALTER TABLE "nodes"
  ADD COLUMN "link_epoch" BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN "greeted_epoch" BIGINT NOT NULL DEFAULT 0;

-- During a rollout, dispatchers of the version before this one take links without a number. They
-- write `agent_version` at hello and leave `greeted_epoch` alone. Their hello ends every numbered
-- link before it, as an upgrade would.
CREATE FUNCTION svc_number_hello() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.link_epoch := OLD.link_epoch + 1;
  RETURN NEW;
END $$;
CREATE TRIGGER "nodes_number_hello" BEFORE UPDATE OF "agent_version" ON "nodes"
  FOR EACH ROW WHEN (NEW.greeted_epoch = OLD.greeted_epoch) EXECUTE FUNCTION svc_number_hello();

-- The process of the node agent that was told to begin. Null: not begun, or begun by an agent that
-- sends no instance id.
ALTER TABLE "submissions" ADD COLUMN "begun_instance" TEXT;
-- Not validated: every row has null in the new column.
ALTER TABLE "submissions" ADD CONSTRAINT "submissions_begun_instance" CHECK (
  begun_instance IS NULL OR (started_at IS NOT NULL AND begun_instance ~ '^[A-Za-z0-9_-]{1,64}$')) NOT VALID;
