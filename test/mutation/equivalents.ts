/** A mutant that no test can kill, because it does what the original does. */
export interface Equivalent {
  readonly id: string;
  readonly file: string;
  /** The change, for the reader. */
  readonly change: string;
  readonly reason: string;
}

export const equivalents: readonly Equivalent[] = [
  {
    id: '5ec93d20d594',
    file: 'packages/domain/src/ledger.ts',
    change: '`movements.push(movement)` and `after = movement.after` in the other order',
    reason: 'Neither reads what the other writes.',
  },
  {
    id: '9175be03162e',
    file: 'packages/domain/src/pricing.ts',
    change: 'no invariant that an estimate is never over the worst case',
    reason: '`charge` clamps to what `maxCharge` prices, so the invariant always holds.',
  },
  {
    id: '291f3189fabc',
    file: 'packages/signing/src/sealing.ts',
    change: '`setAAD` and `setAuthTag` of a decipher in the other order',
    reason: 'Both only set what `final` checks.',
  },
  {
    id: 'b1cd9a61e40b',
    file: 'packages/signing/src/sealing.ts',
    change: 'a text goes to the cipher as it is, and bytes are copied',
    reason: 'A cipher reads a text as UTF-8, as `Buffer.from` does.',
  },
];
