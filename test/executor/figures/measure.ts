import { readdirSync, readFileSync } from 'node:fs';
import { createBrowserExecutor } from '../../../packages/node-agent/src/executors/browser/index.ts';
import { createApplicant } from '../employers/applicant.ts';
import { startEmployer } from '../employers/employer.ts';
import type { Ask } from '../employers/fields.ts';
import { payloadTextOf, runJobInAgent, withStateDir } from '../run-job.ts';

export interface Figures {
  readonly seconds: number;
  readonly cpuSeconds: number;
  /** The highest sample of `pssOfChildren`. 0 if the memory was not sampled. */
  readonly peakPssBytes: number;
  /**
   * The bytes that the agent reported, divided by the bytes that the employer's sockets counted.
   */
  readonly ratioOfBytes: number;
}

const asks: readonly Ask[] = [
  'givenName',
  'familyName',
  'email',
  'phone',
  'linkedin',
  'resume',
  'authorised',
  'source',
  'motivation',
  'consent',
];
const resumeBytes = 200_000;
const filePath = '/files/resume.pdf';
const maxNodeSeconds = 100;
const sampleIntervalMs = 100;
const bytesPerKib = 1_024;

function parents(): Map<number, number> {
  const found = new Map<number, number>();
  for (const name of readdirSync('/proc').filter((one) => /^[0-9]+$/u.test(one))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      found.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    } catch {
      // The process has ended.
    }
  }
  return found;
}

function pssOf(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
    return Number(/^Pss: +([0-9]+) kB/mu.exec(text)?.[1] ?? 0) * bytesPerKib;
  } catch {
    return 0;
  }
}

/** The proportional set size (PSS) of all descendants of this process together, in bytes. */
function pssOfChildren(): number {
  const all = parents();
  const below = new Set([process.pid]);
  for (const root of below) {
    for (const [pid, parent] of all) if (parent === root) below.add(pid);
  }
  below.delete(process.pid);
  return [...below].reduce((sum, pid) => sum + pssOf(pid), 0);
}

/**
 * An applicant whose profile gives the address of the resume, because the file is too large for a
 * payload. The employer's server offers the file at that address.
 */
function applicantWithAddress(tag: string) {
  const { profile, answers } = createApplicant(tag, resumeBytes);
  const resume = answers.get('resume');
  if (resume?.kind !== 'file') throw new Error('the applicant has no resume');
  const { name, contentType, sha256 } = resume.file;
  const url = `http://www.acme.example${filePath}`;
  const files = { resume: { name, contentType, url, sha256 } };
  return { profile: { ...profile, files }, file: resume.file };
}

/**
 * Runs one job. Throws if the job does not complete. Sampling the memory uses CPU, so ignore the
 * other figures of a job with `samplesMemory`.
 */
export async function measureJob(
  binary: string,
  tag: string,
  { samplesMemory = false }: { readonly samplesMemory?: boolean } = {},
): Promise<Figures> {
  const { profile, file } = applicantWithAddress(tag);
  const files = new Map([[filePath, file]]);
  const employer = await startEmployer({ ats: 'generic', asks, files });
  let peakPssBytes = 0;
  const timer = setInterval(() => {
    if (samplesMemory) peakPssBytes = Math.max(peakPssBytes, pssOfChildren());
  }, sampleIntervalMs);
  try {
    const startedMs = performance.now();
    const { outcome } = await withStateDir(async (stateDir) => {
      const executor = createBrowserExecutor({
        binary,
        isSandboxed: false,
        stateDir,
        hostMap: employer.hosts,
        log: () => {},
      });
      const text = payloadTextOf(employer.url, 'generic', profile);
      return await runJobInAgent(stateDir, executor, text, maxNodeSeconds);
    });
    const seconds = (performance.now() - startedMs) / 1_000;
    if (outcome.type === 'failed') throw new Error(outcome.failure.message);
    const { cpuSeconds = 0, bandwidthMb = 0 } = outcome.usage;
    const { received, sent } = employer.bytes();
    const ratioOfBytes = (bandwidthMb * 1e6) / (received + sent);
    return { seconds, cpuSeconds, peakPssBytes, ratioOfBytes };
  } finally {
    clearInterval(timer);
    await employer.close();
  }
}
