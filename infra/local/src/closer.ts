/** What has been opened, in order, and is closed in reverse. */
export interface Closer {
  /**
   * Remembers how to close what was just opened. Where everything is being closed already, closes
   * it at once and throws: whoever opened it must not go on.
   */
  add(close: () => Promise<void>): Promise<void>;
  /** Closes everything; the same promise to whoever asks again. Throws the first error, at the end. */
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
      throw new Error('the stack is being ended');
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
