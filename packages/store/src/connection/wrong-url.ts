import { isCertificateRefused } from '@svc/domain';
import { sqlState } from './errors.ts';

/**
 * A sentence about what to correct in the URL of Postgres in the variable `name` (CONTRACT 9).
 * Undefined if `error` does not show that the URL is wrong.
 */
export function wrongUrl(error: unknown, name: string): string | undefined {
  if (error instanceof AggregateError)
    return error.errors.map((one) => wrongUrl(one, name)).find((found) => found !== undefined);
  if (!(error instanceof Error)) return undefined;
  return byState(sqlState(error), error.message, name) ?? ofClient(error, name) ?? ofCause();

  function ofCause(): string | undefined {
    return error instanceof Error ? wrongUrl(error.cause, name) : undefined;
  }
}

function byState(state: string | undefined, message: string, name: string): string | undefined {
  // A pooler answers `08P01` to all faults of a login.
  if (state === '28P01' || /(password|SASL) authentication failed|no such user/.test(message))
    return `Postgres refuses the user name or the password in ${name}. Set ${name} to a URL with the right ones.`;
  if (state === '28000' && /no encryption|SSL off/.test(message))
    return `Postgres refuses a connection without TLS. Add sslmode=verify-full to the URL in ${name}.`;
  if (state === '28000')
    return `Postgres does not let the user in ${name} connect from here. Correct the user name in ${name}, or allow the connection in pg_hba.conf.`;
  if (state === '3D000' || /no such database/.test(message))
    return `The database that ${name} names does not exist. Create it, or correct its name in ${name}.`;
  if (state === '42501' && message.startsWith('permission denied for database'))
    return `The user in ${name} may not connect to its database. Grant it CONNECT, or set ${name} to a URL with another user.`;
  return undefined;
}

function ofClient(error: Error, name: string): string | undefined {
  const code = 'code' in error ? String(error.code) : '';
  if (/client password must be a/.test(error.message))
    return `Postgres asks for a password, but the URL in ${name} has none. Add the password to ${name}.`;
  if (/does not support SSL/.test(error.message))
    return `Postgres offers no TLS, but the URL in ${name} asks for it. Switch TLS on at the server, or remove sslmode from ${name} if nobody else can read the connection.`;
  if (isCertificateRefused(code))
    return `The certificate of Postgres is not trusted (${code}). Add sslrootcert with the file of its authority to the URL in ${name}, and use the host name that the certificate has.`;
  if ('syscall' in error && error.syscall === 'open' && 'path' in error)
    return `${name} names the file ${String(error.path)}, which cannot be read. Correct its path or its permissions.`;
  if (code.startsWith('ERR_OSSL'))
    return `A file that ${name} names with sslcert, sslkey or sslrootcert is no PEM file. Set ${name} to a URL with the right files.`;
  if (code === 'ERR_INVALID_URL' || error instanceof URIError)
    return `The URL in ${name} cannot be read. Write postgresql://user:password@host:port/database, with special characters percent-encoded.`;
  return undefined;
}
