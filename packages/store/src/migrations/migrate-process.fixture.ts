import { migrate } from '../schema/migrate.ts';

/**
 * Migrates in a process that a test can kill. The arguments are `OWNER_URL SERVICE_URL DIRECTORY`.
 */
const [ownerUrl = '', serviceUrl = '', directory = ''] = process.argv.slice(2);
await migrate(ownerUrl, serviceUrl, { directory });
