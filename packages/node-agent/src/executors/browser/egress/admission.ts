import { admittanceOf, type Passage, type Seal, type SealedTo } from './seal.ts';

export type Entry =
  | { readonly kind: 'pass' }
  /**
   * The one connection that may carry the application (`Seal`). Call `ended` when the connection
   * fails, its tunnel ends, or `forwardPlain` resolves with false.
   */
  | { readonly kind: 'slot'; ended(): void }
  | { readonly kind: 'refused' };

export interface Admission {
  /** Decides on one connection. The promise stays pending while the connection has to wait. */
  enter(passage: Passage): Promise<Entry>;
  seal(to: SealedTo): void;
  /** If the proxy is sealed, ends the seal: waiting and new connections pass. */
  release(): void;
  shut(): void;
}

interface Held {
  readonly passage: Passage;
  readonly resolve: (entry: Entry) => void;
}

const refused: Entry = { kind: 'refused' };

/** Lets up to `heldMax` connections wait, and refuses further ones that would have to wait. */
export function createAdmission({ heldMax }: { readonly heldMax: number }): Admission {
  let seal: Seal = { kind: 'open' };
  let held: Held[] = [];

  const settleHeld = (): void => {
    const waiting = held;
    held = [];
    for (const one of waiting) admit(one);
  };
  const takeSlot = (sealed: Seal & { kind: 'sealed' }): Entry => {
    const used: Seal = { ...sealed, slot: 'used' };
    seal = used;
    const ended = (): void => {
      if (seal !== used) return;
      seal = { ...used, slot: 'ended' };
      settleHeld();
    };
    return { kind: 'slot', ended };
  };
  const admit = (one: Held): void => {
    const admittance = admittanceOf(seal, one.passage);
    if (admittance === 'hold' && held.length < heldMax) held.push(one);
    else if (admittance === 'pass') one.resolve({ kind: 'pass' });
    else if (admittance === 'take_slot' && seal.kind === 'sealed') one.resolve(takeSlot(seal));
    else one.resolve(refused);
  };
  const refuseHeld = (): void => {
    for (const { resolve } of held.splice(0)) resolve(refused);
  };

  return {
    enter: (passage) => new Promise((resolve) => admit({ passage, resolve })),
    seal(to) {
      refuseHeld();
      seal = { kind: 'sealed', to, slot: 'free' };
    },
    release() {
      if (seal.kind !== 'sealed') return;
      seal = { kind: 'open' };
      settleHeld();
    },
    shut() {
      refuseHeld();
      seal = { kind: 'shut' };
    },
  };
}
