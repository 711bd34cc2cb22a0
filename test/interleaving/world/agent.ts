import { toWireId } from '@svc/domain';
import {
  DirectoryInUse,
  JobFailed,
  openJournal,
  startAgent,
  type ExecutionContext,
  type Executor,
  type Journal,
} from '@svc/node-agent';
import { dialers } from '../host/ws.ts';
import { gatedOutsider } from '../schedule/outsider.ts';
import { SimulatedProcess } from '../schedule/process.ts';
import { start, type Ground } from './ground.ts';
import { nodeSecret } from './rig.ts';

export interface Acts {
  began(key: string, agent: SimulatedAgent): void;
  ended(key: string, agent: SimulatedAgent): void;
  /** Called when the agent has written an assignment to its disk, before it asks to begin. */
  assigned(agent: SimulatedAgent): void;
}

export interface AgentPlace {
  readonly nodeId: string;
  readonly stateDir: string;
  /**
   * The temporary directory of the process. Processes that run at the same time have different
   * ones, as they do under a service manager or in containers.
   */
  readonly tmpDir: string;
  readonly slots: number;
}

const stepsMax = 8;
const stepMs = 700;

/**
 * An agent process. It runs the product's `startAgent` with a real journal, a WebSocket in memory
 * and an executor of the test.
 */
export class SimulatedAgent {
  readonly process: SimulatedProcess;
  readonly place: AgentPlace;
  readonly #ground: Ground;
  readonly #acts: Acts;
  #journal: Journal | undefined;
  /** True if another process had the lock of the state directory when this agent started. */
  isRefused = false;

  constructor(ground: Ground, acts: Acts, name: string, place: AgentPlace) {
    this.#ground = ground;
    this.#acts = acts;
    this.place = place;
    this.process = new SimulatedProcess(ground.scheduler, name, 0);
    dialers.set(this.process, ground.network.dialerOf(this.process));
    start(ground, this.process, () => this.#begin());
  }

  async #begin(): Promise<void> {
    const { scheduler } = this.#ground;
    const { nodeId, slots } = this.place;
    await scheduler.hold(this.process, 'starts', { canFail: false });
    const journal = await scheduler.quiet.during({ isStatement: false }, () => this.#open());
    if (journal === undefined) {
      this.isRefused = true;
      this.process.kill();
      return;
    }
    this.#journal = journal;
    if (this.process.isDead) {
      await this.#letGo();
      return;
    }
    const { random } = scheduler;
    startAgent({
      link: 'ws://127.0.0.1:1',
      nodeId: toWireId('nod', nodeId),
      secret: nodeSecret,
      slots,
      executors: [this.#executor()],
      journal: gatedOutsider(this.#watched(journal), {
        scheduler,
        process: this.process,
        name: 'journal',
      }),
      log() {},
      random: () => random.nat(4) / 4,
    });
  }

  #watched(journal: Journal): Journal {
    return {
      ...journal,
      write: async (entry) => {
        await journal.write(entry);
        if (entry.phase === 'assigned') this.#acts.assigned(this);
      },
    };
  }

  async #open(): Promise<Journal | undefined> {
    const { TMPDIR } = process.env;
    process.env['TMPDIR'] = this.place.tmpDir;
    try {
      return await openJournal(this.place.stateDir);
    } catch (error) {
      if (error instanceof DirectoryInUse) return undefined;
      throw error;
    } finally {
      if (TMPDIR === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = TMPDIR;
    }
  }

  #executor(): Executor {
    return {
      jobType: 'ats.application',
      name: 'interleaving',
      version: '1',
      run: async ({ payloadText }, context) => {
        const key = keyOf(payloadText);
        this.#acts.began(key, this);
        try {
          return await this.#work(context);
        } finally {
          this.#acts.ended(key, this);
        }
      },
    };
  }

  async #work({ signal, meter }: ExecutionContext) {
    const { random } = this.#ground.scheduler;
    const steps = random.nat(stepsMax);
    const fails = random.chance(0.2);
    for (let step = 1; step <= steps; step += 1) {
      await this.#pause(stepMs, signal);
      meter.record({ actions: step });
    }
    if (fails) throw new JobFailed('ats_rejected', 'no');
    return { confirmationId: 'done' };
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const stop = (): void => {
        clear();
        reject(new Error('stopped'));
      };
      const clear = this.process.after(ms, () => {
        signal.removeEventListener('abort', stop);
        resolve();
      });
      if (signal.aborted) stop();
      else signal.addEventListener('abort', stop, { once: true });
    });
  }

  /** Ends the process at once. Releases the lock of its state directory, as the kernel would. */
  kill(): void {
    this.process.kill();
    this.#ground.network.killed(this.process);
    void this.#ground.scheduler.quiet.during({ isStatement: false }, () => this.#letGo());
  }

  async #letGo(): Promise<void> {
    const journal = this.#journal;
    this.#journal = undefined;
    await journal?.close();
  }
}

/** The idempotency key of a submission, which is the last part of its `applicationUrl`. */
function keyOf(payloadText: string): string {
  const { applicationUrl }: { applicationUrl?: unknown } = JSON.parse(payloadText);
  return String(applicationUrl).split('/').at(-1) ?? '';
}
