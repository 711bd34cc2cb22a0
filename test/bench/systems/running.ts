import type { System } from './system.ts';

export class RunningSystems {
  readonly #running = new Map<string, System>();

  async get(name: string, start: () => Promise<System>): Promise<System> {
    const running = this.#running.get(name);
    if (running !== undefined) return running;
    const system = await start();
    this.#running.set(name, system);
    await system.world.ask({ kind: 'connect', nodes: system.links });
    return system;
  }

  async close(name: string): Promise<void> {
    const system = this.#running.get(name);
    this.#running.delete(name);
    await system?.close();
  }

  async closeAll(): Promise<void> {
    for (const name of this.#running.keys()) await this.close(name);
  }
}
