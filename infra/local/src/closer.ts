export interface Closer {
  /**
   * Adds the close function of a resource that was just opened. If this closer is closing or closed
   * already, closes the resource at once and throws.
   */
  add(close: () => Promise<void>): Promise<void>;
  /** Closes everything, then throws the first error, if any. Later calls get the same promise. */
  close(): Promise<void>;
  readonly isClosing: boolean;
}

export function createCloser(): Closer {
  const opened: (() => Promise<void>)[] = [];
  let closing: Promise<void> | undefined;

  async function closeAll(): Promise<void> {
    const errors: unknown[] = [];
    for (let close = opened.pop(); close !== undefined; close = opened.pop()) {
      try {
        await close();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }

  return {
    async add(close) {
      if (closing === undefined) {
        opened.push(close);
        return;
      }
      await close();
      throw new Error('the stack is shutting down');
    },
    close() {
      closing ??= closeAll();
      return closing;
    },
    get isClosing() {
      return closing !== undefined;
    },
  };
}
