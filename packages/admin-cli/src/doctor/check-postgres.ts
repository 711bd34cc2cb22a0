import { type Deployment, fault, type Finding, isLocal, ok, warning } from './finding.ts';

const versionMin = 150_000;

export function checkPostgres(deployment: Deployment): Finding[] {
  return [
    version(deployment),
    role(deployment),
    durability(deployment),
    encryption(deployment),
    partitions(deployment),
    replication(deployment),
  ];
}

function version({ database, build }: Deployment): Finding {
  const name = `Postgres ${Math.floor(database.version / 10_000)}.${database.version % 10_000}`;
  if (database.version >= versionMin) {
    return ok(
      'postgres',
      `${name}; svc knows migrations up to ${build.schema}; no extension is needed`,
    );
  }
  return fault('postgres', name, `Upgrade Postgres to ${versionMin / 10_000} or later.`);
}

function role({ database, environment }: Deployment): Finding {
  const { excess, missing } = database;
  if (missing.length > 0) {
    return fault(
      'role',
      `the role of DATABASE_URL lacks ${missing.join(', ')}`,
      'Set MIGRATION_DATABASE_URL to a URL with the role that owns the tables. Run `svc migrate`.',
    );
  }
  if (excess.length === 0)
    return ok(
      'role',
      'the role of DATABASE_URL has the privileges that svc checks, and no dangerous ones',
    );
  return (environment === 'production' ? fault : warning)(
    'role',
    `the role of DATABASE_URL ${excess.join(' and ')}`,
    'In DATABASE_URL, use a role without such rights. For `svc migrate`, set MIGRATION_DATABASE_URL to a database URL of the role that owns the tables.',
  );
}

function durability({ database: { settings } }: Deployment): Finding {
  const off = ['fsync', 'full_page_writes'].filter((name) => settings[name] === 'off');
  if (off.length > 0) {
    return fault(
      'durability',
      `without ${off.join(' and ')}, a crash of the machine may destroy the ledger`,
      'Switch on fsync and full_page_writes in postgresql.conf, and reload Postgres.',
    );
  }
  if (settings['data_checksums'] === 'off') {
    return warning(
      'durability',
      'data_checksums is off, so Postgres does not detect damaged pages',
      'Stop Postgres, then enable data checksums with pg_checksums.',
    );
  }
  return ok('durability', 'commits reach the disk, and pages have checksums');
}

function encryption({ database, databaseUrl, environment }: Deployment): Finding {
  if (database.isEncrypted) return ok('postgres tls', 'the connection is encrypted');
  if (isLocal(databaseUrl)) return ok('postgres tls', 'the connection stays on this machine');
  return (environment === 'production' ? fault : warning)(
    'postgres tls',
    'the connection crosses a network and is not encrypted',
    'Enable ssl in Postgres and add sslmode=verify-full to DATABASE_URL.',
  );
}

function partitions({ partitionsMissing, database }: Deployment): Finding {
  if (partitionsMissing.length > 0) {
    return fault(
      'partitions',
      `these partitions are missing: ${partitionsMissing.join(', ')}`,
      'Find `partitions are missing` in the log of settlement. The warnings before it give the reason. A long dump of the database can delay new partitions.',
    );
  }
  const { defaultPartitions } = database;
  if (defaultPartitions.length === 0)
    return ok('partitions', 'all partitions of the next three months exist');
  return warning(
    'partitions',
    `these default partitions take space, because they got rows of months without a partition: ${defaultPartitions.join(', ')}`,
    'The clock of a service may be wrong: check the clocks. Settlement moves these rows when it creates the partition of their month. If no rows are left, run VACUUM on these partitions, and the warning ends.',
  );
}

function replication({ database, environment }: Deployment): Finding {
  const { standbys, idleSlots, settings } = database;
  if (idleSlots.length > 0) {
    return fault(
      'replication',
      `nothing reads the replication slots ${idleSlots.join(', ')}, so WAL may fill the disk`,
      'Start the standby or reader of each slot, or drop the slot with pg_drop_replication_slot.',
    );
  }
  const synchronous = settings['synchronous_standby_names'] ?? '';
  if (synchronous !== '' && standbys === 0) {
    return fault(
      'replication',
      `synchronous_standby_names is ${synchronous}, but no standby is connected, so commits wait`,
      'Start the standby, or remove it from synchronous_standby_names.',
    );
  }
  if (synchronous === '' && standbys > 0 && environment === 'production') {
    return warning(
      'replication',
      `no standby is synchronous (connected: ${standbys}), so a failover may lose the last commits`,
      'Name the standbys in synchronous_standby_names.',
    );
  }
  const isArchived = settings['archive_mode'] !== 'off';
  const found = `${standbys} standbys${synchronous === '' ? '' : ' (synchronous)'}, WAL archive ${isArchived ? 'on' : 'off'}`;
  if (standbys > 0 || isArchived || environment === 'sandbox') return ok('replication', found);
  return warning(
    'replication',
    found,
    'Archive the WAL or run a standby. Without either, you lose everything since the last backup if the disk fails.',
  );
}
