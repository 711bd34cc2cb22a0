/**
 * True if a code is the one of an error of Node about the certificate of a server: no known
 * authority signed it, or it has expired, or it belongs to another name.
 */
export function isCertificateRefused(code: string): boolean {
  return certificateCodes.test(code);
}

const certificateCodes =
  /^(CERT_|DEPTH_ZERO_SELF_SIGNED_CERT|ERR_TLS_CERT|HOSTNAME_MISMATCH|SELF_SIGNED_CERT|UNABLE_TO_)/;
