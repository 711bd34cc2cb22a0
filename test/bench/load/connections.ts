import { type Connection, connectTo } from './connection.ts';

/**
 * A connection that was idle for this time or longer is not used again. The gateway could otherwise
 * close it while a request is sent.
 */
const idleMsMax = 2_000;

/** One open loop's connections to a gateway. If `connectionsMax` are in use, `take` waits. */
export class Connections {
  readonly #gatewayUrl: string;
  readonly #free: { connection: Connection; sinceMs: number }[] = [];
  readonly #waiting: ((connection: Connection | undefined) => void)[] = [];
  #left: number;

  constructor(gatewayUrl: string, connectionsMax: number) {
    this.#gatewayUrl = gatewayUrl;
    this.#left = connectionsMax;
  }

  /** Throws if it tries to open a new connection and fails. */
  async take(): Promise<Connection> {
    for (let last = this.#free.pop(); last !== undefined; last = this.#free.pop()) {
      const isFresh = performance.now() - last.sinceMs < idleMsMax;
      if (isFresh && last.connection.isOpen()) return last.connection;
      last.connection.close();
      this.#left += 1;
    }
    if (this.#left === 0) {
      const given = await new Promise<Connection | undefined>((resolve) => {
        this.#waiting.push(resolve);
      });
      if (given !== undefined) return given;
    }
    this.#left -= 1;
    try {
      return await connectTo(this.#gatewayUrl);
    } catch (error) {
      this.#left += 1;
      this.#waiting.shift()?.(undefined);
      throw error;
    }
  }

  give(connection: Connection): void {
    const isOpen = connection.isOpen();
    const next = this.#waiting.shift();
    if (!isOpen) this.#left += 1;
    if (next !== undefined) next(isOpen ? connection : undefined);
    else if (isOpen) this.#free.push({ connection, sinceMs: performance.now() });
  }

  close(): void {
    for (const { connection } of this.#free) connection.close();
  }
}
