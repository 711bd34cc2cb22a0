-- What KEDA's role may read. Run it as the owner after the first migration.
GRANT USAGE ON SCHEMA public TO svc_scaling;
GRANT SELECT ON submissions_in_flight TO svc_scaling;
GRANT SELECT (id, state, outcome_at) ON submissions TO svc_scaling;
GRANT SELECT (status, due_at) ON deliveries TO svc_scaling;
GRANT EXECUTE ON FUNCTION svc_now() TO svc_scaling;
