/** Lets a bounded number of pieces of work run at once; the rest waits in the order it came. */
export interface Slots {
  run<T>(work: () => Promise<T>): Promise<T>;
}

export function createSlots(slotsMax: number): Slots {
  const waiting: (() => void)[] = [];
  let taken = 0;

  async function take(): Promise<void> {
    if (taken < slotsMax) {
      taken += 1;
      return;
    }
    // Whoever gives a slot back hands it on, so that nobody can come in between.
    await new Promise<void>((resolve) => waiting.push(resolve));
  }

  function giveBack(): void {
    const next = waiting.shift();
    if (next === undefined) taken -= 1;
    else next();
  }

  return {
    async run(work) {
      await take();
      try {
        return await work();
      } finally {
        giveBack();
      }
    },
  };
}
