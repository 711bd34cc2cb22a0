import { execFile } from 'node:child_process';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { adminCliEntry } from '@svc/local';
import { entryUnderTest } from './stack-processes.ts';
import { testServers } from './test-environment.ts';

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const outputBytesMax = 64 * 1024 * 1024;

export function runSvcProcess(words: readonly string[], env: NodeJS.ProcessEnv): Promise<Ran> {
  const command = [entryUnderTest(adminCliEntry), ...words];
  return new Promise((resolve) => {
    const options = { env, maxBuffer: outputBytesMax };
    execFile(process.execPath, command, options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

/**
 * Runs `svc` in a process that runs many commands, because each start takes CPU (see svc-hosts.ts).
 * Without such a process, calls `runSvcProcess`.
 */
export async function runSvc(words: readonly string[], env: NodeJS.ProcessEnv): Promise<Ran> {
  const { svcSocket } = testServers();
  if (svcSocket === undefined) return runSvcProcess(words, env);
  const printed = await posted(svcSocket, JSON.stringify({ words, env }));
  return JSON.parse(printed);
}

function posted(socketPath: string, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, method: 'POST', agent: false }, (response) => {
      const answer = text(response);
      if (response.statusCode === 200) return resolve(answer);
      answer.then((why) => reject(new Error(`svc gave no answer: ${why}`)), reject);
    });
    asked.on('error', reject);
    asked.end(body);
  });
}

/** Resolves with the parsed output of `svc … --json`. If `svc` fails, throws with its stderr. */
export async function svcJson(words: readonly string[], env: NodeJS.ProcessEnv): Promise<unknown> {
  const { code, stdout, stderr } = await runSvc([...words, '--json'], env);
  if (code !== 0) throw new Error(`svc ${words.join(' ')} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout);
}
