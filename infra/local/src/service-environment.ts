export interface StackAddresses {
  /** For the services' role. */
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly masterKey: string;
}

/**
 * What every service and the admin CLI are given in a stack on this machine, before what the
 * caller sets beside it (CONTRACT 9). Webhooks may go to this machine: the receivers
 * of the demo and of the tests are on it.
 */
export function serviceEnvironment(addresses: StackAddresses) {
  return {
    SVC_ENVIRONMENT: 'sandbox',
    DATABASE_URL: addresses.databaseUrl,
    REDIS_URL: addresses.redisUrl,
    SVC_MASTER_KEY: addresses.masterKey,
    WEBHOOK_ALLOW_PRIVATE_NETWORKS: '1',
    BIND_HOST: '127.0.0.1',
  };
}
