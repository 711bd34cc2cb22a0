import { isCertificateRefused } from '@svc/domain';

/**
 * A sentence about what to correct in REDIS_URL. Undefined if `error` does not show that the URL is
 * wrong, for example because Redis is down (CONTRACT 9).
 */
export function wrongRedisUrl(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { message } = error;
  const code = 'code' in error ? String(error.code) : '';
  if (/WRONGPASS|ERR invalid password/.test(message))
    return 'Redis refuses the user name or the password in REDIS_URL. Set REDIS_URL to a URL with the right ones.';
  if (/NOAUTH/.test(message))
    return 'Redis asks for a password, but REDIS_URL has none. Add the password to REDIS_URL.';
  if (isCertificateRefused(code))
    return `The certificate of Redis is not trusted (${code}). Set NODE_EXTRA_CA_CERTS to the file of its authority, and use the host name that the certificate has in REDIS_URL.`;
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_'))
    return 'Redis offers no TLS, but REDIS_URL asks for it. Switch TLS on at Redis, or write redis instead of rediss in REDIS_URL if nobody else can read the connection.';
  if (/Protocol error, got /.test(message))
    return 'The server at REDIS_URL does not speak the protocol of Redis. If it expects TLS, write rediss instead of redis in REDIS_URL.';
  return undefined;
}
