import { JobFailed } from '../../../executor.ts';
import type { EgressProxy } from '../egress/proxy.ts';
import type { FileBytes } from '../page/index.ts';
import { type ApplicantProfile, fileMessage, type ProfileFileName } from '../planner/index.ts';

const fileBytesMax = 25 * 1024 * 1024;
const names = ['resume', 'coverLetter'] as const;

/**
 * If a file cannot be used, throws a `JobFailed` that names the member, such as `files.resume`. If
 * `signal` is aborted during a fetch, throws the reason of `signal`.
 */
export async function loadFiles(
  profile: ApplicantProfile,
  proxy: EgressProxy,
  signal: AbortSignal,
): Promise<ReadonlyMap<ProfileFileName, FileBytes>> {
  const files = new Map<ProfileFileName, FileBytes>();
  for (const member of names) {
    const file = profile.files[member];
    if (file === undefined) continue;
    const { name, contentType, source } = file;
    const bytes =
      source.kind === 'inline' ? source.bytes : await fetched(member, source, proxy, signal);
    if (bytes.length > fileBytesMax) fail(member, 'too_large');
    files.set(member, { name, contentType, bytes: Buffer.from(bytes) });
  }
  return files;
}

async function fetched(
  member: ProfileFileName,
  { url, sha256 }: { readonly url: string; readonly sha256: string },
  proxy: EgressProxy,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const result = await proxy.fetchFile({ url, sha256, signal });
  signal.throwIfAborted();
  if (result.kind === 'fetched') return result.bytes;
  switch (result.reason) {
    case 'too_large':
      return fail(member, 'too_large');
    case 'hash_mismatch':
      return fail(member, 'wrong_hash');
    case 'refused':
    case 'unreachable':
    case 'bad_status':
    case 'too_many_redirects':
      return fail(member, 'unreachable');
  }
}

function fail(member: ProfileFileName, fault: 'too_large' | 'wrong_hash' | 'unreachable'): never {
  throw new JobFailed('invalid_payload', fileMessage(member, fault));
}
