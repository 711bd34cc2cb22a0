export interface StackAddresses {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly masterKey: string;
}

/** The environment of every service and of `svc` in a stack on this machine (CONTRACT 9). */
export function serviceEnvironment(addresses: StackAddresses) {
  return {
    SVC_ENVIRONMENT: 'sandbox',
    DATABASE_URL: addresses.databaseUrl,
    REDIS_URL: addresses.redisUrl,
    SVC_MASTER_KEY: addresses.masterKey,
    // The webhook receivers of the demo and of the tests are on this machine.
    WEBHOOK_ALLOW_PRIVATE_NETWORKS: '1',
    BIND_HOST: '127.0.0.1',
  };
}
